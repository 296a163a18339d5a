"""Whole characters of tokens' display texts, in which bytes of a part of one are `<E2><98>`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

# Bytes that form no character, as `surrogateescape` decodes them.
_BROKEN = re.compile("[\udc80-\udcff]")
BYTES = re.compile(r"(?:<[0-9A-F]{2}>)+")


def is_byte_part(text: str) -> bool:
    """Return whether a token's display text is a part of a character, such as `<E2><98>`."""
    return BYTES.fullmatch(text) is not None


def joined_parts(texts: Sequence[str]) -> list[str]:
    """Return tokens' display texts with neighbouring parts of characters joined; bytes that form no
    character stay bytes.
    """
    joined: list[str] = []
    for are_parts, group in groupby(texts, is_byte_part):
        tokens = list(group)
        if are_parts:
            raw = bytes.fromhex("".join(tokens).replace("<", "").replace(">", ""))
            text = raw.decode("utf-8", "surrogateescape")
            tokens = [_BROKEN.sub(lambda byte: f"<{ord(byte[0]) - 0xDC00:02X}>", text)]
        joined += tokens
    return joined


def whole_characters(text: str, texts: Sequence[str]) -> str:
    """Return a text of tokens, or their joined display texts where bytes form no character.

    Args:
        texts: the tokens' display texts; the text stays as it is without any.
    """
    return "".join(joined_parts(texts)) if texts and "\ufffd" in text else text
