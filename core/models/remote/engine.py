"""Base class of the clients in `completions` and `llamacpp`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from threading import local
from typing import Any, NamedTuple

from ...decoding.by_engine.config import ByEngine
from ...decoding.errors import LostModelError
from ...language import Message
from .address import Address
from .http import Client
from .rows import Said, list_in, part_of

Prompts = Sequence[Sequence[int]]
Bias = Mapping[int, float] | None


class Facts(NamedTuple):
    """Properties of a server and its model.

    Args:
        software: name of the server software.
        version: version of the software; empty if unknown.
        most: largest number of candidates for each token; None for the whole vocabulary.
        vocab_size: number of tokens; None if the server gives only some candidates.
        window: context window, in tokens; None if unknown.
        slots: number of requests that the server handles at once; None if unknown.
    """

    software: str
    version: str
    most: int | None
    vocab_size: int | None
    window: int | None
    slots: int | None = None


class Forced(NamedTuple):
    """Text of a token that the server was made to emit, and whether the token ends the run."""

    text: str
    ends: bool


class Engine(ABC):
    """A model on a server; every method may raise LostModelError."""

    def __init__(self, address: Address, client: Client) -> None:
        self._address, self._client = address, client
        self._last = local()

    @property
    def last_speculation(self) -> Any:
        """The server's report on speculation in the last run of this thread, unchanged."""
        return getattr(self._last, "speculation", None)

    @last_speculation.setter
    def last_speculation(self, report: Any) -> None:
        self._last.speculation = report

    @property
    def label(self) -> str:
        """Name of the model in messages."""
        return self._client.label

    @abstractmethod
    def connect(self) -> Facts:
        """Check that the server has the model, and return its properties."""

    @abstractmethod
    def next_tokens(self, prompts: Prompts, count: int, bias: Bias = None) -> list[Said]:
        """Return the `count` likeliest tokens after each prompt, with their log-probabilities.

        Args:
            bias: numbers that are added to the tokens' logits before a token is picked.
        """

    @abstractmethod
    def sampled(
        self, ids: Sequence[int], config: ByEngine, limit: int, count: int
    ) -> Iterator[Said]:
        """Yield the tokens of a run by the server, each with `count` candidates, the token first.

        Raises:
            ConfigError: the server lacks a setting.
        """

    @abstractmethod
    def forced(self, token_id: int, count: int) -> Forced:
        """Make the server emit a token, and return its effect.

        No endpoint of a server tells which tokens are special or end a run.
        """

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text, from the server's tokenizer."""

    @abstractmethod
    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of the ids, special tokens included."""

    @abstractmethod
    def encode_chat(self, messages: Sequence[dict[str, str]], opened: bool) -> list[int]:
        """Return the token ids of a conversation, from the server's chat template."""

    @abstractmethod
    def vocabulary(self, count: int) -> list[bytes | None]:
        """Return each token's bytes: None if unknown, empty for special tokens."""

    def _listed(self) -> tuple[list[Any], str]:
        """Return the rows of the server's list of models, and their names for a message."""
        listed = list_in(self._client.ask("/v1/models"), "data")
        rows = [row for row in listed if isinstance(part_of(row, "id"), str)]
        return rows, ", ".join(row["id"][:60] for row in rows[:5]) or "none"

    def _text(self, path: str, body: object, field: str, act: str) -> str:
        """Return the text in an answer; raise LostModelError if there is none."""
        text = part_of(self._client.ask(path, body), field)
        if not isinstance(text, str):
            raise LostModelError(
                Message("The server of {label} can't {act}.", label=self.label, act=act)
            )
        return text
