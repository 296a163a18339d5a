"""A small tokenizer made from the corpus, shared by the tests; they run in `make test-all`."""

from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from training.tokenizer import tokenizer_texts, train_tokenizer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    return train_tokenizer(tokenizer_texts(1, 1500), 1024)
