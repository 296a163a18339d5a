"""Running text of a run: it decodes bytes to whole characters and detects the run's end."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from ...language import Message
from ..config import Ended, MethodConfig
from ..errors import ConfigError
from ..protocol import LanguageModel, Vocabulary
from ..validation import brief

# Texts before a continuation as it is encoded: at least one doesn't merge with its letters.
_BEFORE = ("\n", "a", "1", ".", ")")


class TextStream:
    """Decoder of token bytes that emits text as soon as its characters are complete."""

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
        """Count stop strings only from the next token on."""
        self._tail, self.stopped = "", False

    def flush(self) -> str:
        """Return an incomplete character at the end as U+FFFD."""
        return self._decoder.decode(b"", final=True)


class Ending:
    """Running text of a run, and the rule for its end."""

    def __init__(self, model: LanguageModel, config: MethodConfig, limit: int) -> None:
        self._eos_ids = model.eos_ids
        self._last_index = limit - 1
        self._stream = TextStream(model, config.stop_strings)

    def after(self, index: int, token_id: int) -> tuple[str, Ended | None]:
        """Return the text that a token adds, and the reason if the run ends with it; None if it
        goes on.
        """
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
    """Running text up to the first occurrence of one of several strings.

    Args:
        keep: whether the string that occurs is part of the text.
    """

    def __init__(self, stops: Sequence[str], keep: bool = False) -> None:
        self._stops, self._keep = tuple(stop for stop in stops if stop), keep
        self._held, self.cut = "", False
        # Text after the string that occurred.
        self.rest = ""

    def push(self, text: str) -> str:
        """Return the text that can't be part of one of the strings."""
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
        """Return the text that was held back as the possible beginning of a string."""
        held, self._held = self._held, ""
        return held


def _overlap(text: str, stop: str) -> int:
    """Return the number of characters at the text's end that begin the string."""
    most = min(len(text), len(stop) - 1)
    return next((size for size in range(most, 0, -1) if text.endswith(stop[:size])), 0)


def join_text(model: Vocabulary, token_ids: Sequence[int]) -> str:
    """Join the texts of tokens without special tokens; invalid UTF-8 gives U+FFFD."""
    return b"".join(model.token_bytes(token) for token in token_ids).decode("utf-8", "replace")


def visible_bytes(model: Vocabulary, token_id: int) -> bytes:
    """Return the bytes that a token adds to a text with visible special tokens."""
    return model.token_bytes(token_id) or model.token_text(token_id).encode()


def encode_plain(model: LanguageModel, text: str) -> list[int]:
    """Return a text's token ids without the special tokens that the tokenizer adds around a
    prompt.
    """
    ids, around = model.encode(text), model.encode("")
    for before in range(len(around), -1, -1):
        after = len(around) - before
        whole = ids[:before] == around[:before] and ids[len(ids) - after :] == around[before:]
        if whole and len(ids) > len(around):
            return ids[before : len(ids) - after]
    return ids


def encode_continuation(model: LanguageModel, text: str) -> list[int]:
    """Return the token ids of a text that follows another text.

    A tokenizer may begin every prompt with a space or a mark. If the text's own ids include it, the
    ids are taken from an encoding of the text after another text.
    """
    ids = encode_plain(model, text)
    if spells(model, ids, text):
        return ids
    for before in _BEFORE:
        head, whole = encode_plain(model, before), encode_plain(model, before + text)
        behind = whole[len(head) :]
        if whole[: len(head)] == head and spells(model, behind, text):
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
            Message(
                "The {taker} takes single tokens, and {given} is none of this model's "
                "({value}): give each token a line, or name it as #id.",
                taker=taker,
                given=brief(text),
                value=parts or "nothing",
            )
        )
    return found


def tokens_of_text(model: LanguageModel, text: str, taker: str) -> list[int]:
    """Return the tokens that add just this text.

    Args:
        taker: what takes the tokens, in the error.

    Raises:
        ConfigError: the model's tokens can't spell it.
    """
    ids = encode_continuation(model, text)
    if not ids or not spells(model, ids, text):
        raise ConfigError(
            Message(
                "This model's tokens can't spell {given} in the {taker}: name them as #id.",
                given=brief(text),
                taker=taker,
            )
        )
    return ids


def spells(model: Vocabulary, ids: Sequence[int], text: str) -> bool:
    """Return whether the tokens add just this text."""
    return b"".join(visible_bytes(model, token) for token in ids) == text.encode()


def join_prompt(model: Vocabulary, ids: Sequence[int]) -> str:
    """Join the texts of prompt ids with visible special tokens."""
    return b"".join(visible_bytes(model, token) for token in ids).decode("utf-8", "replace")
