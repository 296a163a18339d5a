"""The tokenizer gives back any text, and its chat template writes the corpus' markup."""

import random
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import PreTrainedTokenizerFast

from core.models.text.chat import encode_chat, render_chat
from tests.depth import cases
from tests.training.reading import whole
from training.corpus import mix
from training.corpus.tokens import ASSISTANT, SPECIAL_TOKENS
from training.tokenizer import tokenizer_texts, train_tokenizer


@cache
def small() -> PreTrainedTokenizerFast:
    return train_tokenizer(tokenizer_texts(2, 300), 600)


@settings(max_examples=cases(100, 30))
@given(st.text())
def test_any_unicode_text_comes_back(text: str) -> None:
    assert small().decode(small()(text)["input_ids"]) == text


def test_each_digit_and_each_mark_is_one_token(tokenizer: PreTrainedTokenizerFast) -> None:
    assert tokenizer.tokenize("2048") == ["2", "0", "4", "8"]
    assert tokenizer.tokenize("".join(SPECIAL_TOKENS)) == list(SPECIAL_TOKENS)
    assert tokenizer.convert_tokens_to_ids(list(SPECIAL_TOKENS)) == list(range(len(SPECIAL_TOKENS)))


def test_the_chat_template_writes_the_markup_of_the_corpus(
    tokenizer: PreTrainedTokenizerFast,
) -> None:
    rng = random.Random(3)
    for family in mix.FAMILIES.values():
        for _ in range(30):
            chat = family.chat(rng)
            messages = [{"role": role, "content": whole(parts)} for role, parts in chat]
            written = whole(mix.render(chat))
            assert render_chat(tokenizer, messages, False, "it") == written
            prompt = render_chat(tokenizer, messages[:-1], True, "it")
            assert written.startswith(prompt) and prompt.endswith(ASSISTANT)
            assert tokenizer(prompt)["input_ids"] == encode_chat(
                tokenizer, messages[:-1], True, "it"
            )
