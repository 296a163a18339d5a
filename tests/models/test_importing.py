"""Collections rest while torch is imported, and no longer."""

import gc

import pytest

from core.models.importing import without_collections


def test_collections_rest_within_it_and_run_again_after_a_failure() -> None:
    def fail() -> None:
        assert not gc.isenabled()
        raise ImportError

    with pytest.raises(ImportError), without_collections():
        fail()
    assert gc.isenabled()
