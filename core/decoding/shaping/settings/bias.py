"""Value of `logit_bias`: reading, validation, and its texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ....language import Message
from ...errors import ConfigError
from ...record.bounds import MAX_COUNT
from ...validation import Interval, brief, require_inside, require_whole

MAX_BIAS = 100.0
MAX_BIASES = 1_000
_BIAS = Interval(-MAX_BIAS, MAX_BIAS)
# Number of biases in a caption.
_MOST_SHOWN = 2
_ESCAPES = {"\\n": "\n", "\\t": "\t", "\\\\": "\\"}


def read_biases(owner: str, name: str, value: object) -> tuple[tuple[int, float], ...]:
    """Return pairs of a token id and the number added to its logit, by rising id, without zeros.

    Args:
        value: a mapping, or pairs (lists in JSON).

    Raises:
        ConfigError: a value of another kind, too many pairs, a number outside its interval, or a
            repeated token.
    """
    pairs = list(value.items()) if isinstance(value, Mapping) else value
    if isinstance(pairs, str) or not isinstance(pairs, Sequence):
        raise ConfigError(
            Message("must map token ids to numbers, got {given}.", given=brief(value)), name, owner
        )
    if len(pairs) > MAX_BIASES:
        raise ConfigError(
            Message(
                "must hold at most {max_biases} tokens, got {pairs}.",
                max_biases=MAX_BIASES,
                pairs=len(pairs),
            ),
            name,
            owner,
        )
    biases: dict[int, float] = {}
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise ConfigError(
                Message(
                    "must hold pairs of a token id and a number (ID=VALUE on the "
                    "command line), got {given}.",
                    given=brief(pair),
                ),
                name,
                owner,
            )
        require_whole(owner, f"{name}: a token id", pair[0], 0, MAX_COUNT)
        require_inside(owner, f"{name}: the number of token {pair[0]}", pair[1], _BIAS)
        token, bias = pair[0], float(pair[1])
        if token in biases:
            raise ConfigError(
                Message("names token {token} twice; leave one out.", token=token), name, owner
            )
        biases[token] = bias
    return tuple((token, bias) for token, bias in sorted(biases.items()) if bias)


def biases_in(text: str) -> list[Any]:
    """Return the pairs in a text such as `383=-5,12=2.5`; a wrong pair stays text, which
    `read_biases` refuses.
    """
    return [_pair_in(part.strip()) for part in text.split(",")]


def _pair_in(text: str) -> tuple[int, float] | str:
    token, _, number = text.partition("=")
    try:
        return int(token), float(number)
    except ValueError:
        return text


def bias_lines(text: str, find: Callable[[str], int]) -> list[tuple[int, float]]:
    """Return the biases in a text with one bias per line: `token text = number` or `#id = number`.

    One space before the last `=` is a separator; every other space belongs to the token.

    Args:
        find: returns the id for a token's text.

    Raises:
        ConfigError: a line has another form, or its number lies outside -100 to 100.
    """
    return [_bias_line(line, find) for line in text.split("\n") if line.strip()]


def _bias_line(line: str, find: Callable[[str], int]) -> tuple[int, float]:
    left, _, number = line.rpartition("=")
    token = left.removesuffix(" ") or left
    try:
        bias = float(number)
    except ValueError:
        bias = float("nan")
    if not token or not -MAX_BIAS <= bias <= MAX_BIAS:
        raise ConfigError(
            Message(
                "A line of the logit bias is a token, = and a number from {low:g} "
                "to {high:g}, got {given}; write it as in the help of the field.",
                low=-MAX_BIAS,
                high=MAX_BIAS,
                given=brief(line),
            )
        )
    return token_in(token, find), bias


def token_in(text: str, find: Callable[[str], int]) -> int:
    r"""Return the token of a line: `#id`, or the token's text with `\n`, `\t` and `\\` as
    escapes.
    """
    if named := re.fullmatch(r"\s*#([0-9]{1,9})\s*", text):
        return int(named[1])
    return find(unescaped(text))


def unescaped(text: str) -> str:
    r"""Return a text with `\n`, `\t` and `\\` as the characters that they stand for."""
    return re.sub(r"\\[nt\\]", lambda escape: _ESCAPES[escape[0]], text)


def bias_text(biases: Iterable[tuple[int, float]]) -> str:
    """Return biases as lines."""
    # The shortest digits that give the same number.
    return "\n".join(f"#{token} = {repr(bias).removesuffix('.0')}" for token, bias in biases)


def bias_words(biases: Iterable[tuple[int, float]]) -> str:
    """Return biases as captions show them: `#12 +2.5, #383 -5 and 3 more`."""
    return first_of([f"#{token} {bias:+g}" for token, bias in biases])


def first_of(items: Sequence[str], most: int = _MOST_SHOWN) -> str:
    """Return items of a setting as captions show them, the first ones and the number of others."""
    if len(items) > most:
        return Message(
            "{items} and {number} more", items=", ".join(items[:most]), number=len(items) - most
        )
    return ", ".join(items) or Message("none")
