"""Base class of the kinds of servers, `completions` and `llamacpp`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from core.decoding.by_engine.config import ByEngine
from core.decoding.errors import LostModelError
from core.models.remote.address import Address
from core.models.remote.http import Client
from core.models.remote.rows import Said, list_in, part_of

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


class Engine(ABC):
    """A model on a server; every method may raise LostModelError."""

    def __init__(self, address: Address, client: Client) -> None:
        self._address, self._client = address, client
        # The server's report on speculation in its last run.
        self.last_speculation: Any = None

    @property
    def label(self) -> str:
        """Name of the model in sentences."""
        return self._client.label

    @abstractmethod
    def connect(self) -> Facts:
        """See whether the model is there, and what is known of it."""

    @abstractmethod
    def next_tokens(self, prompts: Prompts, count: int, bias: Bias = None) -> list[Said]:
        """After each prompt of ids the `count` likeliest tokens with their log-probabilities.

        Args:
            bias: added to the logits of tokens before one is picked.
        """

    @abstractmethod
    def sampled(
        self, ids: Sequence[int], config: ByEngine, limit: int, count: int
    ) -> Iterator[Said]:
        """The tokens of a run that the server makes, each with `count` candidates, itself first.

        Raises:
            ConfigError: the server has no such setting.
        """

    @abstractmethod
    def forced(self, token_id: int, count: int) -> Forced:
        """Make the server emit a token: no endpoint tells which tokens are special or end a run."""

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """Token ids of a text, by the server's tokenizer."""

    @abstractmethod
    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, special tokens included."""

    @abstractmethod
    def encode_chat(self, messages: Sequence[dict[str, str]], opened: bool) -> list[int]:
        """Ids of a conversation by the server's template."""

    @abstractmethod
    def vocabulary(self, count: int) -> list[bytes | None]:
        """The bytes of every token; None where the server doesn't tell, empty of special ones."""

    def _listed(self) -> tuple[list[Any], str]:
        """Rows of the server's list of models, and their names for a sentence."""
        listed = list_in(self._client.ask("/v1/models"), "data")
        rows = [row for row in listed if isinstance(part_of(row, "id"), str)]
        return rows, ", ".join(row["id"][:60] for row in rows[:5]) or "none"

    def _text(self, path: str, body: object, field: str, act: str) -> str:
        """The text in an answer; raises LostModelError where there is none."""
        text = part_of(self._client.ask(path, body), field)
        if not isinstance(text, str):
            raise LostModelError(f"The server of {self.label} can't {act}.")
        return text
