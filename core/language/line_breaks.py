"""Places where a line may break: at spaces, and in Japanese between characters.

Korean separates words by spaces, as English does. The Japanese rules are those of JIS X 4051: no
line begins with a closing mark or a small kana, and none ends with an opening mark. None begins
with a polite ending or within one either, and none parts a number from its counter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .catalogue import current

# Han characters, kana, and full-width marks.
_JAPANESE = re.compile("[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff01-\uff60]")
# A space within a word, before and after which no line breaks.
_SPACES = " \u00a0"
_NOT_FIRST = frozenset(
    f"、。，．・：；？！）」』】〕〉》”’ーぁぃぅぇぉっゃゅょァィゥェォッャュョ々〜…%,.:;?!)]}}{_SPACES}"
)
_NOT_LAST = frozenset(f"（「『【〔〈《“‘([{{{_SPACES}")
# Polite endings: one of them, or its rest ("す。"), alone on the last line looks like a mistake.
_ENDINGS = frozenset({"です", "でした", "ます", "ました", "ません"})
# A tag, an entity, a polite ending or a character.
_ATOM = re.compile(rf"<[^<>]*>|&[#\w]+;|{'|'.join(sorted(_ENDINGS))}|.", re.DOTALL)


def breakable(text: str, words: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yield the pieces that no line may break, each with what joins it to the one before.

    Args:
        words: matches what stands between spaces.
    """
    japanese = current() == "ja"
    matches: list[str] = words.findall(text)
    for word in _with_counters(matches) if japanese else matches:
        gap = " "
        for piece in _japanese(word) if japanese else (word,):
            yield gap, piece
            gap = ""


def _with_counters(words: Iterable[str]) -> Iterator[str]:
    """Yield the words; a number and its counter ("22 件") are one word."""
    pending = ""
    for word in words:
        if pending[-1:].isdigit() and _JAPANESE.match(word):
            pending += f" {word}"
            continue
        if pending:
            yield pending
        pending = word
    if pending:
        yield pending


def _japanese(word: str) -> Iterator[str]:
    piece, depth = "", 0
    for atom in _ATOM.findall(word):
        if piece and not depth and atom[0] != "<" and _may_part(piece[-1], atom):
            yield piece
            piece = ""
        if atom[0] == "<" and atom != "<br>":
            depth += -1 if atom.startswith("</") else 1
        piece += atom
    yield piece


def _may_part(before: str, after: str) -> bool:
    """Return whether a line may end with a character and the next one begin with another."""
    if before in _NOT_LAST or after in _NOT_FIRST or after in _ENDINGS:
        return False
    return bool(_JAPANESE.match(before) or _JAPANESE.match(after))
