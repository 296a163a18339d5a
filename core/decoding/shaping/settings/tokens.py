"""Values of the settings that list tokens, sequences of tokens, or texts: reading, validation, and
their texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ....language import N_, Message
from ...errors import ConfigError
from ...record.bounds import MAX_COUNT
from ...validation import brief, require_whole
from .bias import first_of, token_in, unescaped

MAX_TOKENS, MAX_LENGTH = 1_000, 50
MAX_BREAKERS, MAX_BREAKER = 64, 40
# Number of items in a caption.


def read_tokens(owner: str, name: str, value: object) -> tuple[int, ...]:
    """Return distinct token ids in rising order.

    Raises:
        ConfigError: a value of another kind, or too many tokens.
    """
    tokens = _items(owner, name, value, MAX_TOKENS, "token ids")
    for token in tokens:
        require_whole(owner, f"{name}: a token id", token, 0, MAX_COUNT)
    return tuple(sorted({*tokens}))


def read_sequences(owner: str, name: str, value: object) -> tuple[tuple[int, ...], ...]:
    """Return distinct sequences of token ids, sorted.

    Raises:
        ConfigError: a value of another kind, too many sequences, or one of a wrong length.
    """
    sequences = []
    for item in _items(owner, name, value, MAX_TOKENS, "sequences of token ids"):
        tokens = _items(owner, f"{name}: a sequence", item, MAX_LENGTH, "token ids")
        if not tokens:
            raise ConfigError(
                N_("must hold sequences of at least one token, got none."), name, owner
            )
        for token in tokens:
            require_whole(owner, f"{name}: a token id", token, 0, MAX_COUNT)
        sequences.append(tuple(tokens))
    return tuple(sorted({*sequences}))


def read_breakers(owner: str, name: str, value: object) -> tuple[str, ...]:
    """Return distinct texts in their order.

    Raises:
        ConfigError: a value of another kind, too many texts, or one of a wrong length.
    """
    texts = _items(owner, name, value, MAX_BREAKERS, "texts")
    for text in texts:
        if not isinstance(text, str) or not 0 < len(text) <= MAX_BREAKER:
            raise ConfigError(
                Message(
                    "must hold texts of 1 to {max_breaker} characters, got {given}.",
                    max_breaker=MAX_BREAKER,
                    given=brief(text),
                ),
                name,
                owner,
            )
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise ConfigError(
                Message("must hold text that UTF-8 can write, got {given}.", given=brief(text)),
                name,
                owner,
            )
    return tuple(dict.fromkeys(texts))


def _items(owner: str, name: str, value: object, most: int, words: str) -> Sequence[Any]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ConfigError(
            Message("must be a list of {words}, got {given}.", words=words, given=brief(value)),
            name,
            owner,
        )
    if len(value) > most:
        raise ConfigError(
            Message(
                "must hold at most {most} {words}, got {value}.",
                most=most,
                words=words,
                value=len(value),
            ),
            name,
            owner,
        )
    return value


def tokens_in(text: str) -> list[Any]:
    """Return the token ids in a text such as `383,12`; a wrong one stays text, which `read_tokens`
    refuses.
    """
    return [_id_in(part.strip()) for part in text.split(",")]


def sequences_in(text: str) -> list[Any]:
    """Return the sequences in a text such as `383.12,7`; a wrong id stays text, which
    `read_sequences` refuses.
    """
    return [[_id_in(token.strip()) for token in part.split(".")] for part in text.split(",")]


def breakers_in(text: str) -> list[str]:
    """Return one text, with its escapes resolved; an empty one stands for no text at all."""
    return [unescaped(text)] if text else []


def _id_in(text: str) -> int | str:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else text


def token_lines(text: str, find: Callable[[str], int]) -> list[int]:
    """Return the tokens in a text with one token per line: its text, or `#id`."""
    return [token_in(line, find) for line in text.split("\n") if line.strip()]


def sequence_lines(text: str, find: Callable[[str], Sequence[int]]) -> list[tuple[int, ...]]:
    """Return the sequences in a text with one sequence per line: its text, or `#id #id`.

    Args:
        find: returns the ids for a text.
    """
    return [_sequence(line, find) for line in text.split("\n") if line.strip()]


def _sequence(line: str, find: Callable[[str], Sequence[int]]) -> tuple[int, ...]:
    if re.fullmatch(r"\s*(#[0-9]{1,9}\s*)+", line):
        return tuple(int(token) for token in re.findall(r"[0-9]+", line))
    return tuple(find(unescaped(line)))


def breaker_lines(text: str, find: object) -> list[str]:  # noqa: ARG001
    """Return the texts in a text with one per line, which name no tokens to find."""
    return [unescaped(line) for line in text.split("\n") if line]


def tokens_text(tokens: Iterable[int]) -> str:
    """Return tokens as lines."""
    return "\n".join(f"#{token}" for token in tokens)


def sequences_text(sequences: Iterable[Sequence[int]]) -> str:
    """Return sequences as lines."""
    return "\n".join(_named(sequence) for sequence in sequences)


def breakers_text(texts: Iterable[str]) -> str:
    """Return texts as lines."""
    return "\n".join(map(_escaped, texts))


def tokens_words(tokens: Sequence[int]) -> str:
    """Return tokens as captions show them: `#12, #383 and 3 more`."""
    return first_of([f"#{token}" for token in tokens])


def sequences_words(sequences: Sequence[Sequence[int]]) -> str:
    """Return sequences as captions show them: `#12 #7, #383 and 3 more`."""
    return first_of([_named(sequence) for sequence in sequences])


def breakers_words(texts: Sequence[str]) -> str:
    """Return texts as captions show them."""
    return " ".join(map(_escaped, texts)) or Message("none")


def _named(sequence: Iterable[int]) -> str:
    return " ".join(f"#{token}" for token in sequence)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
