"""Comparison of the tokens' display texts with each other and with the running text."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from ...language import Message

# Display text of a part of a character: `<E2>` (see `Vocabulary.token_text`).
_BYTE = re.compile(r"<([89A-F][0-9A-F])>")
# Name of a special token, which stands around a prompt or replaces an unknown word.
_MARK = re.compile(r"(?:<.+>|\[[A-Z]+\])\Z", re.DOTALL)
# Maximum number of special tokens before or after a text; known tokenizers add one.
_MOST_AROUND = 2
UNKNOWN = re.compile(r"<\|?unk(?:nown)?\|?>|\[UNK\]")


def display_faults(shown: Iterable[tuple[str, int, str]]) -> Iterator[str]:
    """Yield token ids that have two different display texts.

    Args:
        shown: tuples of place, token id and display text.
    """
    texts: dict[int, str] = {}
    for where, token_id, text in shown:
        if texts.setdefault(token_id, text) != text:
            yield Message(
                "{where}: token {token_id} is shown as another text than elsewhere",
                where=where,
                token_id=token_id,
            )


def added_faults(emitted: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield emitted tokens whose display text is not the text that they added to the running text.

    A token that added nothing (a special token) isn't checked: it may have any display text.

    Args:
        emitted: tuples of place, display text and added text, in the order of the text.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for where, display, added in emitted:
        before = decoder.getstate()
        # Bytes of an incomplete character: the last token emits them, even a special token.
        left = decoder.decode(b"", final=True)
        decoder.setstate(before)
        new = decoder.decode(_BYTE.sub(_as_byte, display).encode("utf-8", "surrogateescape"))
        pending = decoder.getstate()
        if added == new:
            continue
        if added == new + decoder.decode(b"", final=True):
            continue
        nothing = added in ("", display, left)
        decoder.setstate(before if nothing else pending)
        if not nothing:
            yield Message("{where}: the token is shown as another text than it added", where=where)


def _as_byte(match: re.Match[str]) -> str:
    return chr(0xDC00 + int(match[1], 16))


def bare(text: str) -> str:
    """Remove what a template or a normaliser may change: case, width and white space."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def says(shown: Sequence[str], text: str) -> bool:
    """Return whether tokens make up a text, as far as their display texts can show.

    Special tokens at both ends may be missing in the text; an unknown token matches any text.

    Args:
        shown: the tokens' display texts.
    """
    letters = bare(text)
    ends = [place for place, display in enumerate(shown) if not _MARK.match(display)]
    first, last = (ends[0], ends[-1] + 1) if ends else (0, 0)
    starts = {first, *range(min(first, _MOST_AROUND) + 1)}
    stops = {last, *range(max(last, len(shown) - _MOST_AROUND), len(shown) + 1)}
    parts = (shown[start:stop] for start in starts for stop in stops)
    return any(bare(_joined(part)) == letters for part in parts) or _says_with_gaps(shown, letters)


def _joined(shown: Sequence[str]) -> str:
    raw = b"".join(
        _BYTE.sub(_as_byte, display).encode("utf-8", "surrogateescape") for display in shown
    )
    return raw.decode("utf-8", "replace")


def _says_with_gaps(shown: Sequence[str], letters: str) -> bool:
    """Return whether the known tokens occur in the text in order, if some tokens are unknown."""
    known = [bare(display) for display in shown if not UNKNOWN.fullmatch(display)]
    at = 0
    for part in known:
        at = letters.find(part, at) + len(part)
        if at < len(part):
            return False
    return len(known) < len(shown)
