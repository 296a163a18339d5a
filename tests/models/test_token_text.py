"""From ids to bytes and display text, for every kind of tokenizer."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from core.decoding.autoregressive.config import Greedy
from core.decoding.check import check as run_checks
from core.decoding.decode import collect
from core.decoding.loop.text import TextStream
from core.models.text.token_text import TokenTexts, display_text
from core.models.transformers_model import TransformersModel
from tests.depth import cases
from tests.models.builders import random_model, tiny_tokenizer


def fast(backend: Tokenizer, **special: str) -> PreTrainedTokenizerFast:
    return PreTrainedTokenizerFast(tokenizer_object=backend, **special)


def sentencepiece_tokenizer() -> PreTrainedTokenizerFast:
    """Llama's way: `▁` for a space, `<0xNN>` for the bytes of what the vocabulary lacks."""
    pieces = ["<unk>", "</s>", "▁the", "▁", "cat", *(f"<0x{byte:02X}>" for byte in range(256))]
    backend = Tokenizer(
        models.BPE(
            {piece: at for at, piece in enumerate(pieces)},
            [],
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    backend.normalizer = normalizers.Replace(" ", "▁")
    backend.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return fast(backend, unk_token="<unk>", eos_token="</s>")


@settings(deadline=None, max_examples=cases(100, 30))
@given(st.text())
@example("naïve 日本語 한국어 🙂\n\t")
def test_byte_level_tokens_join_to_the_exact_text(text: str) -> None:
    texts = TokenTexts(tiny_tokenizer())
    ids = tiny_tokenizer()(text)["input_ids"]
    assert b"".join(map(texts.bytes_of, ids)).decode() == text


@settings(deadline=None, max_examples=cases(100, 30))
@given(st.text())
def test_sentencepiece_bytes_join_to_the_exact_text(text: str) -> None:
    tokenizer = sentencepiece_tokenizer()
    ids = [tokenizer.convert_tokens_to_ids(f"<0x{byte:02X}>") for byte in text.encode()]
    assert b"".join(map(TokenTexts(tokenizer).bytes_of, ids)) == text.encode()


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b" the", " the"),
        (b"\n\t ", "\n\t "),
        ("é".encode(), "é"),
        (b"\xe2\x98", "<E2><98>"),
        (b" \xf0\x9f", " <F0><9F>"),
        (b"\x83a", "<83>a"),
        ("�".encode(), "�"),
        (b"", ""),
    ],
)
def test_display_text_marks_only_what_is_no_character(raw: bytes, shown: str) -> None:
    assert display_text(raw) == shown


@settings(deadline=None, max_examples=cases(100, 30))
@given(st.binary())
def test_display_text_is_always_encodable(raw: bytes) -> None:
    display_text(raw).encode()


def test_special_tokens_add_no_text_and_show_their_name() -> None:
    texts = TokenTexts(tiny_tokenizer(300, ("<|im_end|>",)))
    for token_id, name in ((0, "<|endoftext|>"), (1, "<|im_end|>")):
        assert texts.bytes_of(token_id) == b""
        assert texts.text_of(token_id) == name


def test_added_tokens_that_are_not_special_add_their_text() -> None:
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(tiny_tokenizer().backend_tokenizer.to_str()),
        eos_token="<|endoftext|>",
    )
    tokenizer.add_tokens([AddedToken("<think> é", special=False)])
    texts, token_id = TokenTexts(tokenizer), len(tokenizer) - 1
    assert texts.bytes_of(token_id) == "<think> é".encode()
    assert texts.text_of(token_id) == "<think> é"


def test_ids_past_the_tokenizers_end_are_unused() -> None:
    texts = TokenTexts(tiny_tokenizer())
    for token_id in (4097, 10**12, -1):
        assert texts.text_of(token_id) == f"<unused {token_id}>"
        assert texts.bytes_of(token_id) == b""


def test_sentencepiece_pieces() -> None:
    texts = TokenTexts(sentencepiece_tokenizer())
    assert [texts.text_of(token) for token in (0, 1, 2, 3, 4)] == [
        "<unk>",
        "</s>",
        " the",
        " ",
        "cat",
    ]
    assert texts.bytes_of(5 + 0xE2) == b"\xe2"
    assert texts.text_of(5 + 0xE2) == "<E2>"
    assert texts.text_of(5 + 0x41) == "A"


_WORDS = {"mat": 0, "dog": 1, "x y": 2, ".": 3, "</s>": 4}
_PIECES = {"▁the": 0, "▁": 1, "s": 2, "a▁b": 3, ".": 4}
_HASHED = {"[UNK]": 0, "play": 1, "##ing": 2, ".": 3, "n't": 4}
_BYTES = {char: at for at, char in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
DECODERS = {
    "words without a decoder": (models.WordLevel(_WORDS, unk_token="."), None),
    "words that are joined": (models.WordLevel(_WORDS, unk_token="."), decoders.Fuse()),
    "wordpiece": (models.WordPiece(_HASHED, unk_token="[UNK]"), decoders.WordPiece()),
    "wordpiece as it is": (
        models.WordPiece(_HASHED, unk_token="[UNK]"),
        decoders.WordPiece(cleanup=False),
    ),
    "metaspace": (models.WordLevel(_PIECES, unk_token="s"), decoders.Metaspace()),
    "metaspace without a prefix": (
        models.WordLevel(_PIECES, unk_token="s"),
        decoders.Metaspace(prepend_scheme="never"),
    ),
    "unigram": (models.Unigram([(piece, -1.0) for piece in _PIECES], 2), decoders.Metaspace("▁")),
    "marked word ends": (models.BPE({"th": 0, "e</w>": 1, "x</w>": 2}, []), decoders.BPEDecoder()),
    "bytes": (
        models.WordLevel(_BYTES | {"Ġx y": 256, "日本": 257}, unk_token="a"),
        decoders.ByteLevel(),
    ),
}


def decoded_by(name: str) -> PreTrainedTokenizerFast:
    model, decoder = DECODERS[name]
    backend = Tokenizer(model)
    if decoder is not None:
        backend.decoder = decoder
    tokenizer = fast(backend, eos_token="</s>")
    tokenizer.add_tokens(["<add é>"])
    return tokenizer


@pytest.mark.parametrize("name", DECODERS)
def test_tokens_add_what_the_library_decodes_behind_others(name: str) -> None:
    tokenizer = decoded_by(name)
    texts, dice = TokenTexts(tokenizer), Random(0)
    for _ in range(100):
        ids = [0, *dice.choices(range(len(tokenizer)), k=5)]
        whole = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        # The first token loses the space or the mark before it, the last one its word's end.
        added = b"".join(map(texts.bytes_of, ids[1:])).decode("utf-8", "replace")
        if name == "marked word ends":
            whole += " " * added.endswith(" ")
        assert whole.endswith(added)
        for before in (ids[:1], [], [tokenizer.eos_token_id]):
            assert texts.decode(ids[1:], before) == added


def test_words_without_a_decoder_are_joined_by_spaces_and_end_at_a_stop_string() -> None:
    tokenizer = decoded_by("words without a decoder")
    model = TransformersModel(random_model("llama", 6), tokenizer, model_id="words")
    stream = TextStream(model, ["t dog"])
    assert [stream.push(token) for token in (0, 0, 1)] == [" mat", " mat", " dog"]
    assert stream.stopped
    trace = collect(model, [0], Greedy(max_new_tokens=6))
    assert trace.text.lstrip(" ") == tokenizer.decode(trace.token_ids, skip_special_tokens=True)
    assert all(check.passed for check in run_checks(trace, model))


def test_the_check_of_the_text_asks_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = decoded_by("words without a decoder")
    model = TransformersModel(random_model("llama", 6), tokenizer, model_id="words")
    monkeypatch.setattr(TokenTexts, "_spell", lambda _, piece: piece.encode())
    trace = collect(model, [0], Greedy(max_new_tokens=6))
    failed = [check.name for check in run_checks(trace, model) if not check.passed]
    assert failed == ["tokenizer_text"]
