"""The running text: bytes in, whole characters out, until something ends the run."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from core.decoding.config import Ended, MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.protocol import LanguageModel, Vocabulary
from core.decoding.validation import brief

# Texts that a continuation is encoded behind: at least one of them merges with none of its letters.
_BEFORE = ("\n", "a", "1", ".", ")")


class TextStream:
    """Joins token bytes and gives text as soon as its characters are whole."""

    def __init__(self, model: LanguageModel, stop_strings: Sequence[str] = ()) -> None:
        self._model = model
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._stop_strings = tuple(stop_strings)
        self._tail = ""
        self._tail_length = max((len(text) for text in self._stop_strings), default=1) - 1
        self.stopped = False

    def push(self, token_id: int) -> str:
        """Return the text that this token completes; a complete stop string sets `stopped`."""
        new = self._decoder.decode(self._model.token_bytes(token_id))
        seen = self._tail + new
        self.stopped = self.stopped or any(text in seen for text in self._stop_strings)
        self._tail = seen[-self._tail_length :] if self._tail_length else ""
        return new

    def watch_from_here(self) -> None:
        """Let stop strings count from the next token on."""
        self._tail, self.stopped = "", False

    def flush(self) -> str:
        """Return an incomplete character at the end as U+FFFD."""
        return self._decoder.decode(b"", final=True)


class Ending:
    """Knows when a run ends, and keeps its text."""

    def __init__(self, model: LanguageModel, config: MethodConfig, limit: int) -> None:
        self._eos_ids = model.eos_ids
        self._last_index = limit - 1
        self._stream = TextStream(model, config.stop_strings)

    def after(self, index: int, token_id: int) -> tuple[str, Ended | None]:
        """The text that a token adds, and why the run ends with it, None where it goes on."""
        text = self._stream.push(token_id)
        reason: Ended | None = None
        if token_id in self._eos_ids:
            reason = "eos"
        elif self._stream.stopped:
            reason = "stop"
        elif index == self._last_index:
            reason = "length"
        return (text + self._stream.flush() if reason else text), reason


class Cutter:
    """A running text up to the first of some strings.

    Args:
        keep: whether the string that is found is a part of the text.
    """

    def __init__(self, stops: Sequence[str], keep: bool = False) -> None:
        self._stops, self._keep = tuple(stop for stop in stops if stop), keep
        self._held, self.cut = "", False
        # Text after the string that was found.
        self.rest = ""

    def push(self, text: str) -> str:
        """The text that is certain not to belong to one of the strings."""
        if self.cut:
            return ""
        seen = self._held + text
        matches = [(at, stop) for stop in self._stops if (at := seen.find(stop)) >= 0]
        if matches:
            at, stop = min(matches)
            self.cut, self._held, self.rest = True, "", seen[at + len(stop) :]
            return seen[: at + len(stop)] if self._keep else seen[:at]
        held = max((_overlap(seen, stop) for stop in self._stops), default=0)
        self._held = seen[len(seen) - held :]
        return seen[: len(seen) - held]

    def flush(self) -> str:
        """Return the text that was held back, since it became none of the strings."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """Return the number of characters at the text's end that the string begins with."""
    most = min(len(text), len(stop) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(stop[:size])), 0)


def join_text(model: Vocabulary, token_ids: Sequence[int]) -> str:
    """Join the texts of tokens, special ones left out; bytes that are no UTF-8 give U+FFFD."""
    return b"".join(model.token_bytes(token) for token in token_ids).decode("utf-8", "replace")


def visible_bytes(model: Vocabulary, token_id: int) -> bytes:
    """Return the bytes that a token adds to a text in which special tokens are visible."""
    return model.token_bytes(token_id) or model.token_text(token_id).encode()


def encode_plain(model: LanguageModel, text: str) -> list[int]:
    """Token ids of a text without the special tokens that the tokenizer puts around a prompt."""
    ids, around = model.encode(text), model.encode("")
    for before in range(len(around), -1, -1):
        after = len(around) - before
        whole = ids[:before] == around[:before] and ids[len(ids) - after :] == around[before:]
        if whole and len(ids) > len(around):
            return ids[before : len(ids) - after]
    return ids


def encode_continuation(model: LanguageModel, text: str) -> list[int]:
    """Token ids of a text that follows other text.

    A tokenizer may begin every prompt with a space or a mark. Where the text's own ids spell that
    too, the ids are those that it has behind another text.
    """
    ids = encode_plain(model, text)
    if _spell(model, ids, text):
        return ids
    for before in _BEFORE:
        head, whole = encode_plain(model, before), encode_plain(model, before + text)
        behind = whole[len(head) :]
        if whole[: len(head)] == head and _spell(model, behind, text):
            return behind
    return ids


def single_token(model: LanguageModel, text: str, taker: str) -> int:
    """Return the one token that adds just this text, or has it as its name.

    Args:
        taker: what takes the token, in the error.

    Raises:
        ConfigError: it is several tokens, or none.
    """
    raw, ids = text.encode(), model.encode(text)

    def is_it(token: int) -> bool:
        return visible_bytes(model, token) == raw

    # A tokenizer may put a space before every text: then it never gives some tokens by themselves.
    found: int | None = next(filter(is_it, (*ids, *range(model.vocab_size))), None)
    if found is None:
        parts = " + ".join(repr(model.token_text(token)) for token in ids[:8])
        raise ConfigError(
            f"The {taker} takes single tokens, and {brief(text)} is none of this model's "
            f"({parts or 'nothing'}): give each token a line, or name it as #id."
        )
    return found


def _spell(model: Vocabulary, ids: Sequence[int], text: str) -> bool:
    return b"".join(visible_bytes(model, token) for token in ids) == text.encode()


def join_prompt(model: Vocabulary, ids: Sequence[int]) -> str:
    """Join the texts of prompt ids with their special tokens visible."""
    return b"".join(visible_bytes(model, token) for token in ids).decode("utf-8", "replace")
