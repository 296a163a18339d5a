"""A model on a server, as a `LanguageModel`: each step requests the next token's numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from ...decoding.by_engine.config import ByEngine
from ...decoding.by_engine.engine import ServerToken
from ...decoding.counting import sentences
from ...decoding.errors import LostModelError, ModelError
from ...decoding.protocol import Decodes, OnLogits, offers
from ...decoding.reasoning.types import ThinkMarks
from ...language import N_, Message
from ..running.contexts import UncachedContext
from ..running.limits import InputLimits
from ..text.tokenizing import TokenNames
from .engine import Engine, Facts
from .http import Client
from .rows import full_row, known_row, require_sum
from .sampling import tokens_of
from .tokens import Tokens

# A number in Prometheus' text format.
COUNT = r"(\d{1,20}(?:\.\d{1,20})?(?:e\+?\d{1,2})?)"
# vLLM's number of queued requests, for each of its engines.
_WAITING = re.compile(rf"^vllm:num_requests_waiting(?:\{{[^}}]{{0,500}}\}})? {COUNT}$", re.M)
# Largest number of prompts in one request, and of entries in its answer (about 40 bytes each).
# The endpoint of this project takes no more prompts in a request.
_MOST_ROWS = 16
_MOST_ENTRIES = 2**21
_CPU = torch.device("cpu")


class RemoteModel:
    """A model on a server.

    Its context holds only token ids: `extend` requests the numbers of the next token, and the
    server's prefix cache makes this cheap. Log-probabilities replace logits, from which they differ
    by the same constant for all tokens.

    Args:
        facts: properties of the server, from `connect`.
        gives_logits: the server's numbers are logits, not log-probabilities.
        processed: the server's own sampling settings change its numbers.
        dtype: guessed number type of the model.
        advice: advice for the user if the probabilities don't add up to 1.
    """

    revision = ""
    # Its numbers are computed elsewhere.
    on_server = True

    def __init__(
        self,
        engine: Engine,
        client: Client,
        tokens: Tokens,
        facts: Facts,
        vocab_size: int,
        *,
        gives_logits: bool = False,
        processed: bool = False,
        dtype: str = "float32",
        advice: str = N_("check the server"),
    ) -> None:
        self._engine, self._client, self._tokens = engine, client, tokens
        self.facts = facts
        self.vocab_size = vocab_size
        self.context_window = facts.window
        self.gives_logits, self.processed = gives_logits, processed
        if offers(tokens, Decodes):  # The tokenizer is on this machine.
            self.decode = tokens.decode
        self.dtype = dtype
        # Number of tokens that the server names for each step; None for all.
        self.known = facts.most
        self._advice = advice
        self._limits = InputLimits(vocab_size, facts.window)
        self.eos_ids = frozenset(token_id for token_id in tokens.eos_ids if token_id < vocab_size)

    @property
    def model_id(self) -> str:
        """Name of the model in traces and messages."""
        return self._client.label

    @model_id.setter
    def model_id(self, label: str) -> None:
        self._client.label = label

    @property
    def versions(self) -> dict[str, str]:
        """Version of the server's software, by its name, for a trace."""
        return {self.facts.software: self.facts.version or "unknown version"}

    @property
    def vocabulary(self) -> TokenNames:
        """Token texts and bytes, usable without the server."""
        return TokenNames(
            self.model_id, self.revision, self.dtype, self.vocab_size, self._tokens.texts
        )

    @property
    def has_chat_template(self) -> bool:
        """True if `encode_chat` can be used."""
        return self._tokens.has_chat_template

    @property
    def think_marks(self) -> ThinkMarks:
        """Marks of the model's thinking, and their source."""
        return self._tokens.think_marks

    @property
    def unknown_tokens(self) -> frozenset[int]:
        """Ids of the tokens whose bytes are unknown: parts of characters."""
        return self._tokens.unknown

    @property
    def described(self) -> str:
        """Description of the server's numbers, as a sentence."""
        of = Message("all {count:,} tokens", count=self.vocab_size)
        if self.known:
            of = Message(
                "the {known:,} likeliest of {count:,} tokens",
                known=self.known,
                count=self.vocab_size,
            )
        numbers = N_("log-probabilities of {tokens}")
        if self.processed:
            numbers = N_("log-probabilities of {tokens}, after the server's own settings")
        elif self.gives_logits:
            numbers = N_("logits of {tokens}")
        window = Message("window unknown")
        if self.context_window:
            window = Message("{count:,} tokens fit", count=self.context_window)
        sentence = Message(
            "{server}: {numbers}; {window}; numbers as of {dtype}.",
            server=" ".join(filter(None, self.facts[:2])),
            numbers=Message(numbers, tokens=of),
            window=window,
            dtype=self.dtype,
        )
        return sentences(sentence, self._tokens.caveat)

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a prompt, with the special tokens that the tokenizer adds."""
        return self._tokens.encode(text)

    def encode_chat(
        self, messages: Sequence[dict[str, str]], add_generation_prompt: bool = True
    ) -> list[int]:
        """Return the conversation's token ids."""
        return self._tokens.encode_chat(messages, add_generation_prompt)

    def token_text(self, token_id: int) -> str:
        """Return the display text of one token; bytes of a partial character appear as `<E2>`."""
        return self._tokens.texts.text_of(token_id)

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes that a token adds to the text; empty for special and unknown tokens."""
        return self._tokens.texts.bytes_of(token_id)

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,  # noqa: ARG002 - the cache is the server's
        on_logits: OnLogits | None = None,
    ) -> UncachedContext:
        """Return a context of one row with the prompt; `on_logits` gets each position's numbers.

        Raises:
            PromptError: an empty prompt, an id outside the vocabulary, or too many tokens.
            LostModelError: the server gives no answer, or no usable answer.
        """
        ids = self._limits.as_rows(prompt_ids, 1, 0)[0]
        context = UncachedContext(self._forward, self._limits, _CPU)
        piece = self._rows_at_once if on_logits else len(ids)
        for first in range(0, len(ids), piece):
            logits = context.extend(ids[first : first + piece], keep=0 if on_logits else 1)
            if on_logits:
                on_logits(first, logits[0])
        return context

    @property
    def _rows_at_once(self) -> int:
        return max(1, min(_MOST_ROWS, _MOST_ENTRIES // (self.known or self.vocab_size)))

    def sample(
        self, prompt_ids: Sequence[int], config: ByEngine, limit: int
    ) -> Iterator[ServerToken]:
        """Yield the tokens of a run that the server samples, in one request.

        Raises:
            ConfigError: the server lacks a setting.
            LostModelError: the server gives no answer, or no usable answer.
        """
        count = config.known_by(self.known) or 1
        answers = self._engine.sampled(prompt_ids, config, limit, count)
        yield from tokens_of(answers, self.vocab_size, self.model_id)

    @property
    def last_speculation(self) -> object:
        """The server's report on speculative decoding in its last run, unchanged."""
        return self._engine.last_speculation

    @property
    def slots(self) -> int | None:
        """Number of requests that the server handles at once; None if unknown."""
        return self.facts.slots

    def waiting(self) -> int | None:
        """Return the number of requests in the server's queue; None if unknown."""
        counts = _WAITING.findall(self.counters())
        return int(sum(map(float, counts))) if counts else None

    def counters(self) -> str:
        """Return the server's /metrics, in Prometheus' format; empty if there are none."""
        try:
            return self._client.text("/metrics")
        except LostModelError:
            return ""

    def _forward(
        self,
        ids: Tensor,
        cache: object,  # noqa: ARG002 - it is the server's
        keep: int,
        hidden: list[Tensor] | None = None,
    ) -> Tensor:
        """Return numbers `[rows, keep, vocab]` after the last `keep` prefixes of ids `[rows, n]`.

        The numbers are NaN for tokens that the server doesn't name.

        Raises:
            ModelError: hidden states are requested, or the server fails.
        """
        if hidden is not None:
            raise ModelError(
                Message(
                    "{model} is on a server, which gives no hidden states: use another method.",
                    model=self.model_id,
                )
            )
        length = ids.shape[1]
        ends = range(length - keep + 1, length + 1)
        prompts = [row[:end] for row in ids.tolist() for end in ends]
        read, rows = known_row if self.known else full_row, list[Tensor]()
        for first in range(0, len(prompts), self._rows_at_once):
            request = prompts[first : first + self._rows_at_once]
            answers = self._engine.next_tokens(request, self.known or self.vocab_size)
            rows += [read(answer, self.vocab_size, self.model_id) for answer in answers]
        table = torch.stack(rows)
        if not (self.gives_logits or self.known):
            require_sum(table, self.model_id, self._advice)
        return table.view(ids.shape[0], keep, self.vocab_size)
