"""Torch's threads beside pages."""

from __future__ import annotations

import os

import pytest
import torch

from core.models.threads import leave_a_processor


@pytest.mark.parametrize(
    ("processors", "before", "after"), [(2, 2, 1), (1, 1, 1), (8, 8, 7), (16, 8, 8)]
)
def test_torch_leaves_one_processor(
    monkeypatch: pytest.MonkeyPatch, processors: int, before: int, after: int
) -> None:
    counts: list[int] = []
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    monkeypatch.setattr(torch, "get_num_threads", lambda: before)
    monkeypatch.setattr(torch, "set_num_threads", counts.append)
    leave_a_processor.__wrapped__()
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    leave_a_processor.__wrapped__()
    assert counts == [after]
