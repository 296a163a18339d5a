"""The draft head's training: its loss sees what a draft sees, and a few steps make it better."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from core.models.heads.layer import HeadLayer, is_head, read_head
from training.head.losses import WEIGHTS, attend, before, head_losses, read, weighted
from training.head.train import main, new_layer
from training.train import ASSETS


@pytest.fixture(scope="module")
def target() -> LlamaForCausalLM:
    model = LlamaForCausalLM.from_pretrained(ASSETS / "target").eval()
    model.set_attn_implementation("eager")
    return model


@pytest.fixture(scope="module")
def layer(target: LlamaForCausalLM) -> HeadLayer:
    torch.manual_seed(0)
    return new_layer(target)


@pytest.mark.parametrize("length", [1, 2, 7])
@torch.no_grad()
def test_each_pass_of_the_loss_is_that_token_of_a_draft(
    target: LlamaForCausalLM, layer: HeadLayer, length: int
) -> None:
    """The draft's own steps, one token at a time, against the passes over all positions at once."""
    torch.manual_seed(1)
    lesson = read(target, torch.randint(10, 4000, (1, 10)), apart=False)
    positions, hidden, kept, passes = lesson.layout[0], lesson.hidden, [], []
    for _ in WEIGHTS:
        mixed = layer.mixed(before(hidden, positions), lesson.embedded)
        query, new = layer.project(mixed, positions)
        kept.append(new)
        hidden = layer.finish(mixed, attend(query, kept, lesson.layout))
        passes.append(hidden)
    known = before(lesson.hidden, positions)[:, :length]
    own, past = layer(known, lesson.embedded[:, :length], positions[:, :length], None)
    torch.testing.assert_close(own, passes[0][:, :length], rtol=0, atol=5e-5)
    for drafted in (1, 2):
        at = slice(length - 1 + drafted, length + drafted)
        own, past = layer(own[:, -1:], lesson.embedded[:, at], positions[:, at], past)
        torch.testing.assert_close(own, passes[drafted][:, at], rtol=0, atol=5e-5)


def test_the_stored_head_is_nearer_to_the_target_than_an_untrained_one(
    target: LlamaForCausalLM, layer: HeadLayer
) -> None:
    stored, _ = read_head(ASSETS / "head")
    ids = torch.tensor([[646, 647, 267, 460, 21, 479, 329, 267, 540, 21, 329, 267]])
    with torch.no_grad():
        trained, untrained = (
            float(weighted(head_losses(one, target, ids, ids, apart=False)))
            for one in (stored, layer)
        )
    assert trained < 2.5 < 5 < untrained


def test_quick_training_writes_a_head_that_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "target").symlink_to(ASSETS / "target")
    main(["--quick", "--out", str(tmp_path)])
    assert is_head(tmp_path / "head") and not is_head(tmp_path / "target")
    assert sum(path.stat().st_size for path in (tmp_path / "head").iterdir()) < 2_000_000
