"""Protocol of a kind of server; `completions` and `llamacpp` implement it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from core.decoding.by_engine.config import ByEngine
from core.models.remote.rows import Said

Prompts = Sequence[Sequence[int]]
Bias = Mapping[int, float] | None


class Facts(NamedTuple):
    """Facts that a server gives about itself.

    Args:
        software: its name.
        version: of the software; empty where it doesn't say.
        most: how many candidates a token it gives at most; None for its whole vocabulary.
        vocab_size: how many tokens there are; None where only some are given.
        window: tokens that fit; None where it doesn't say.
        slots: requests that it works on at once; None where it doesn't say.
    """

    software: str
    version: str
    most: int | None
    vocab_size: int | None
    window: int | None
    slots: int | None = None


class Forced(NamedTuple):
    """Effect of a token that the server was made to emit: its text, and whether it ends the run."""

    text: str
    ends: bool


class Engine(Protocol):
    """A model on a server; every method may raise LostModelError."""

    @property
    def label(self) -> str:
        """Name of the model in sentences."""
        ...

    def connect(self) -> Facts:
        """See whether the model is there, and what is known of it."""
        ...

    def next_tokens(self, prompts: Prompts, count: int, bias: Bias = None) -> list[Said]:
        """After each prompt of ids the `count` likeliest tokens with their log-probabilities.

        Args:
            bias: added to the logits of tokens before one is picked.
        """
        ...

    def sampled(
        self, ids: Sequence[int], config: ByEngine, limit: int, count: int
    ) -> Iterator[Said]:
        """The tokens of a run that the server makes, each with `count` candidates, itself first.

        Raises:
            ConfigError: the server has no such setting.
        """
        ...

    @property
    def last_speculation(self) -> Any:
        """The server's report on speculation in the last such run; None if there is none."""
        ...

    def forced(self, token_id: int, count: int) -> Forced:
        """Make the server emit a token."""
        ...

    def encode(self, text: str) -> list[int]:
        """Token ids of a text, by the server's tokenizer."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens included."""
        ...

    def encode_chat(self, messages: Sequence[dict[str, str]], opened: bool) -> list[int]:
        """Ids of a conversation by the server's template."""
        ...

    def vocabulary(self, count: int) -> list[bytes | None]:
        """The bytes of every token; None where the server doesn't tell, empty of special ones."""
        ...
