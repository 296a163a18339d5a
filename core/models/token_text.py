"""From a token id to the bytes it adds to the text, and to what a figure shows of them."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

TokenizerKind = Literal["byte_level", "sentencepiece", "wordpiece", "suffix", "other"]

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")


def display_text(raw: bytes) -> str:
    """Bytes as text; those that are no whole character as `<E2><98>`."""
    text = raw.decode("utf-8", errors="surrogateescape")
    return "".join(
        f"<{ord(char) - 0xDC00:02X}>" if "\udc80" <= char <= "\udcff" else char for char in text
    )


@cache
def unicode_to_byte() -> dict[str, int]:
    """The inverse of GPT-2's map from bytes to printable characters (`bytes_to_unicode`)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(256 + place): byte for place, byte in enumerate(others)
    }


def tokenizer_kind(tokenizer: PreTrainedTokenizerBase) -> TokenizerKind:
    """How the tokenizer's pieces spell text, read from its own decoder."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        return "sentencepiece" if hasattr(tokenizer, "sp_model") else "other"
    steps = _decoder_steps(backend.decoder)
    names = {step["type"] for step in steps}
    if "ByteLevel" in names:
        return "byte_level"
    spells_spaces = any(
        step["type"] == "Metaspace" or (step["type"] == "Replace" and step["content"] == " ")
        for step in steps
    )
    if spells_spaces or "ByteFallback" in names:
        return "sentencepiece"
    if "WordPiece" in names:
        return "wordpiece"
    return "suffix" if "BPEDecoder" in names else "other"


def _decoder_steps(decoder: Any) -> list[dict[str, Any]]:
    if decoder is None:
        return []
    state: dict[str, Any] = json.loads(decoder.__getstate__())
    steps: list[dict[str, Any]] = state.get("decoders", [state])
    return steps


class TokenTexts:
    """Bytes and display text of every token of one tokenizer, each worked out once.

    Special tokens add no bytes and show their name; an id without a token shows `<unused 4097>`.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        self._kind = tokenizer_kind(tokenizer)
        self._added: dict[int, str] = {
            token_id: token.content for token_id, token in tokenizer.added_tokens_decoder.items()
        }
        self._special = set(tokenizer.all_special_ids) | {
            token_id for token_id, token in tokenizer.added_tokens_decoder.items() if token.special
        }
        self._bytes: dict[int, bytes] = {}
        self._texts: dict[int, str] = {}

    def bytes_of(self, token_id: int) -> bytes:
        """What the token adds to the running text; empty for special and unknown tokens."""
        if token_id not in self._bytes:
            self._bytes[token_id] = self._spell(token_id)
        return self._bytes[token_id]

    def text_of(self, token_id: int) -> str:
        """Display text; bytes of an incomplete character as `<E2><98>`."""
        if token_id not in self._texts:
            self._texts[token_id] = self._show(token_id)
        return self._texts[token_id]

    def _piece(self, token_id: int) -> str | None:
        if token_id < 0:
            return None
        try:
            piece = self._tokenizer.convert_ids_to_tokens(token_id)
        except (IndexError, KeyError, OverflowError, ValueError):
            return None
        return piece if isinstance(piece, str) else None

    def _show(self, token_id: int) -> str:
        piece = self._piece(token_id)
        if piece is None:
            return f"<unused {token_id}>"
        if token_id in self._special:
            return piece
        return display_text(self.bytes_of(token_id))

    def _spell(self, token_id: int) -> bytes:
        piece = self._piece(token_id)
        if piece is None or token_id in self._special:
            return b""
        if token_id in self._added:
            return self._added[token_id].encode()
        if self._kind == "byte_level":
            table = unicode_to_byte()
            return b"".join(
                table[char].to_bytes() if char in table else char.encode() for char in piece
            )
        return self._spell_words(token_id, piece)

    def _spell_words(self, token_id: int, piece: str) -> bytes:
        if self._kind == "sentencepiece":
            byte = _BYTE_PIECE.match(piece)
            return int(byte[1], 16).to_bytes() if byte else piece.replace("▁", " ").encode()
        if self._kind == "wordpiece":
            return (piece[2:] if piece.startswith("##") else " " + piece).encode()
        if self._kind == "suffix":
            return piece.replace("</w>", " ").encode()
        decoded: str = self._tokenizer.decode([token_id])
        return decoded.encode()
