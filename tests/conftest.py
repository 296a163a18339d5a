"""Settings for all tests, applied before any other import."""

import gc
import os

import pytest

from tests.depth import leave_to_test_all

# The command line's texts are English wherever the tests run.
os.environ["LANGUAGE"] = "en"

# Some virtual machines announce AMX and don't carry it out: products in bfloat16 end the process.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_FP16")

# Imported modules are no garbage: a collection that walks through them takes half a second.
# Collections at Python's own thresholds take a tenth of the tests' time.
gc.disable()
gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    leave_to_test_all(items)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> str:
    """A tiny model with its tokenizer, as transformers saves them."""
    from tests.models.builders import random_model, tiny_tokenizer

    path = tmp_path_factory.mktemp("model")
    random_model("llama").save_pretrained(path)
    tiny_tokenizer().save_pretrained(path)
    return str(path)
