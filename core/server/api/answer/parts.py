"""Parts of an answer, in the order of their emission."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from ....decoding.config import MethodConfig
from ..errors import ApiError
from .logprobs import TokenLogprobs

if TYPE_CHECKING:
    from ....decoding.protocol import Vocabulary

PartPhase: TypeAlias = Literal["prompt", "thinking", "answer"]
ApiFinishReason: TypeAlias = Literal["stop", "length", "tool_calls"]


@dataclass(frozen=True, slots=True)
class Started:
    """Start of an answer: the request is valid for the model and waits for its turn.

    Args:
        configs: the settings of each choice.
        prompts: token ids of each prompt.
        fingerprint: id of the model version, which affects the answers.
    """

    vocabulary: Vocabulary
    configs: tuple[MethodConfig, ...]
    prompts: tuple[tuple[int, ...], ...]
    fingerprint: str

    @property
    def prompt_tokens(self) -> int:
        return sum(map(len, self.prompts))


@dataclass(frozen=True, slots=True)
class Delta:
    """Tokens of a choice, with the text that they complete.

    Args:
        logprobs: log-probabilities of the tokens; empty if not requested.
    """

    choice: int
    text: str
    phase: PartPhase
    token_ids: tuple[int, ...]
    logprobs: tuple[TokenLogprobs, ...] = ()

    def then(self, more: Delta) -> Delta:
        """Return both parts as one."""
        ids, logprobs = self.token_ids + more.token_ids, self.logprobs + more.logprobs
        return Delta(self.choice, self.text + more.text, self.phase, ids, logprobs)


@dataclass(frozen=True, slots=True)
class CallDelta:
    """Next part of a call's arguments.

    Args:
        call: number of the call in its choice, from 0.
        name: name of the function.
        arguments: part of the arguments' JSON; empty where the call begins.
    """

    choice: int
    call: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class PromptScored:
    """Log-probabilities of a choice's prompt, from its second token on.

    Args:
        ranks: rank of each token at its position, 1 for the most probable one.
    """

    choice: int
    logprobs: tuple[TokenLogprobs, ...]
    ranks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChoiceEnded:
    """End of a choice.

    Args:
        notes: sentences on settings that could not act as they should.
    """

    choice: int
    finish_reason: ApiFinishReason
    tokens: int
    reasoning_tokens: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """End of the request with an error."""

    error: ApiError


@dataclass(frozen=True, slots=True)
class AllEnded:
    """End of the answer: every choice is complete."""


AnswerPart: TypeAlias = Started | PromptScored | Delta | CallDelta | ChoiceEnded | Failed | AllEnded
