"""Compute bytes and display texts of tokens, and convert the tokenizer's panics to errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from ...decoding.errors import PromptError
from ...decoding.validation import shortened
from ...language import Message

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

_BYTE_PIECE = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")
# Ordinary token before or after the token whose text is computed.
_OTHER = "a"
_MOST_TRIED = 5_000


def display_text(raw: bytes) -> str:
    """Return the bytes as text; bytes that form no whole character appear as `<E2><98>`."""
    text = raw.decode("utf-8", errors="surrogateescape")
    return "".join(
        f"<{ord(char) - 0xDC00:02X}>" if "\udc80" <= char <= "\udcff" else char for char in text
    )


@cache
def unicode_to_byte() -> dict[str, int]:
    """Return the inverse of GPT-2's map from bytes to printable characters (`bytes_to_unicode`)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {
        chr(256 + place): byte for place, byte in enumerate(others)
    }


def _decoder_types(decoder: Any) -> set[str]:
    """Return the names of the steps of a decoder from the `tokenizers` library."""
    if decoder is None:
        return set()
    state: dict[str, Any] = json.loads(decoder.__getstate__())
    steps: list[dict[str, Any]] = state.get("decoders", [state])
    return {str(step["type"]) for step in steps}


class TokenTexts:
    """Cache of the bytes and the display text of each token of one tokenizer.

    A token's bytes are those that the tokenizer's decoder adds for it after another token. So the
    space before a word belongs to the word, and the first word of a text may begin with a space.
    Special tokens add no bytes and show their name; an id without a token shows `<unused 4097>`.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self._tokenizer = tokenizer
        backend = getattr(tokenizer, "backend_tokenizer", None)
        self._decoder = None if backend is None else backend.decoder
        self._joins_by_spaces = backend is not None and self._decoder is None
        self._steps = _decoder_types(self._decoder)
        if hasattr(tokenizer, "sp_model"):
            self._steps = {"ByteFallback"}
        added = tokenizer.added_tokens_decoder
        self._special = set(tokenizer.all_special_ids) | {
            token_id for token_id, token in added.items() if token.special
        }
        self._bytes: dict[int, bytes] = {}
        self._texts: dict[int, str] = {}

    def bytes_of(self, token_id: int) -> bytes:
        """Return the bytes that the token adds to a text; none for special and unknown tokens."""
        if token_id not in self._bytes:
            piece = self._piece(token_id)
            plain = piece is not None and token_id not in self._special
            self._bytes[token_id] = self._spell(piece) if piece and plain else b""
        return self._bytes[token_id]

    def text_of(self, token_id: int) -> str:
        """Return the display text; bytes of an incomplete character appear as `<E2><98>`."""
        if token_id not in self._texts:
            piece = self._piece(token_id)
            if piece is None:
                self._texts[token_id] = f"<unused {token_id}>"
            elif token_id in self._special:
                self._texts[token_id] = piece
            else:
                self._texts[token_id] = display_text(self.bytes_of(token_id))
        return self._texts[token_id]

    def _piece(self, token_id: int) -> str | None:
        if token_id < 0:
            return None
        try:
            piece = self._tokenizer.convert_ids_to_tokens(token_id)
        except (IndexError, KeyError, OverflowError, ValueError):
            return None
        return piece if isinstance(piece, str) else None

    def _spell(self, piece: str) -> bytes:
        if "ByteLevel" in self._steps and unicode_to_byte().keys() >= set(piece):
            return bytes(unicode_to_byte()[char] for char in piece)
        if "ByteFallback" in self._steps and (byte := _BYTE_PIECE.match(piece)):
            return int(byte[1], 16).to_bytes()
        alone = self._join([_OTHER])
        if self._marks_ends:
            return self._join([piece, _OTHER]).removesuffix(alone).encode()
        both = self._join([_OTHER, piece])
        return (both.removeprefix(alone) if both.startswith(alone) else piece).encode()

    @cached_property
    def _marks_ends(self) -> bool:
        """True if pieces mark the end of a word (`e</w>`, `wor@@`) instead of its beginning."""
        if self._decoder is not None or self._joins_by_spaces:
            return "BPEDecoder" in self._steps
        after = self._join([_OTHER, _OTHER]).removeprefix(self._join([_OTHER]))
        pieces = islice(self._tokenizer.get_vocab(), _MOST_TRIED)
        return any(self._join([piece, _OTHER]) != self._join([piece]) + after for piece in pieces)

    def _join(self, pieces: list[str]) -> str:
        """Return the token pieces joined to text as the tokenizer joins them."""
        text: str
        if self._decoder is not None:
            text = self._decoder.decode(pieces)
        elif self._joins_by_spaces:
            text = " ".join(pieces)
        elif hasattr(self._tokenizer, "sp_model"):
            text = "".join(pieces).replace("▁", " ")
        else:
            text = self._tokenizer.convert_tokens_to_string(pieces)
        return text

    def decode(self, token_ids: Sequence[int], before: Sequence[int] = ()) -> str:
        """Return the text that `token_ids` add after the tokens `before`.

        The library decodes both together, without special tokens. If `before` has no text, or ends
        within a character, an ordinary token replaces it.
        """
        head = self._decode(before)
        if not head or head.endswith("\ufffd"):
            before = self._ordinary
            head = self._decode(before)
        whole = self._decode([*before, *token_ids])
        return whole[len(head) :] if whole.startswith(head) else self._decode(token_ids)

    @cached_property
    def _ordinary(self) -> list[int]:
        """One token id of a word or a part of one, as a list; empty if there is none."""
        words = (at for at in range(len(self._tokenizer)) if self.bytes_of(at).strip().isalnum())
        return list(islice(words, 1))

    def _decode(self, token_ids: Sequence[int]) -> str:
        ids, text = list(token_ids), ""
        if self._marks_ends:  # The decoder drops the end mark of the last word.
            pieces = self._tokenizer.convert_ids_to_tokens(ids, skip_special_tokens=True)
            text = self._join([*pieces, _OTHER])[: -len(_OTHER)]
        else:
            text = self._tokenizer.decode(
                ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        return text


@contextmanager
def panics_told(model_id: str) -> Iterator[None]:
    """Convert a panic of the tokenizer, such as a regular expression timeout, to a `PromptError`.

    Raises:
        PromptError: the tokenizer panicked; a panic of the Rust library is no `Exception`.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        reason = shortened(" ".join(str(error).split()), 200)
        raise PromptError(
            Message(
                "The tokenizer of {model} can't read this prompt ({reason}); use "
                "another model, or a shorter prompt.",
                model=model_id,
                reason=reason,
            )
        ) from None
