"""Every method in bfloat16 on the CPU: weights of another type than the logits, as on a GPU."""

from __future__ import annotations

import pytest

from tests.models.every_method import RUNS, failed_checks


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_every_method_runs_in_bfloat16_and_is_proved(name: str) -> None:
    assert failed_checks(RUNS[name], device="cpu", dtype="bfloat16") == []
