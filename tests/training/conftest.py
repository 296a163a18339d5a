"""A small tokenizer made from the corpus, shared by the tests."""

import pytest
from transformers import PreTrainedTokenizerFast

from training.tokenizer import tokenizer_texts, train_tokenizer


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    return train_tokenizer(tokenizer_texts(1, 1500), 1024)
