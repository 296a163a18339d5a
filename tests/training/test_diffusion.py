"""The diffusion model's rows, its loss, and its run from end to end."""

import json
import random
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast

from training.diffusion import evaluate, train
from training.diffusion.generation import fill
from training.diffusion.losses import masked_loss
from training.diffusion.rows import BEHIND_WEIGHT, LOWEST_SHARE, MaskedRows, Masks
from training.rows import IGNORED, SHORT

MASK, END = 99, 0
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def model_and_tokenizer() -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    return train.bidirectional(ROOT / "assets/models/target")


def masked(seed: int) -> list[tuple[list[int], list[int], object]]:
    rng = random.Random(seed)
    masks = Masks(rng, MASK, END)
    found = []
    for _ in range(300):
        ids = [rng.randrange(1, 90) for _ in range(rng.randrange(10, 60))]
        prompt = rng.randrange(0, 8)
        labels = [IGNORED] * prompt + ids[prompt:]
        found.append((ids, labels, masks.apply(ids, labels)))
    return found


def test_a_loss_stands_at_masks_alone_and_a_token_not_learned_is_masked_behind_a_block_alone() -> (
    None
):
    kinds = set()
    for ids, labels, got in masked(1):
        length = len(got.ids)
        assert length <= len(ids) and len(got.labels) == len(got.weights) == length
        for token, label, weight, clear, learned in zip(
            got.ids, got.labels, got.weights, ids, labels, strict=False
        ):
            if label != IGNORED:
                assert token == MASK and label == clear == learned
                assert weight == BEHIND_WEIGHT or 1 <= weight <= 1 / LOWEST_SHARE
                kinds.add(weight == BEHIND_WEIGHT)
            elif token == MASK:
                assert learned == IGNORED and weight == BEHIND_WEIGHT
            else:
                assert token == clear
    assert kinds == {True, False}


def test_a_canvas_is_cut_or_has_ends_behind_it() -> None:
    masks = Masks(random.Random(2), MASK, END)
    lengths = [len(masks.canvas([5] * 40, [5] * 40)[0]) for _ in range(200)]
    assert min(lengths) < 40 < max(lengths) <= 40 + 48 and 40 in lengths
    assert len(masks.canvas([5] * 400, [5] * 400)[0]) <= SHORT


def test_a_document_does_not_see_its_neighbour(model_and_tokenizer) -> None:
    model, tokenizer = model_and_tokenizer
    batch = next(iter(MaskedRows(tokenizer, 3, 2)))
    assert batch["ids"].shape == (2, SHORT)
    first = batch["documents"] == 0
    alone = {name: part.clone() for name, part in batch.items()}
    alone["labels"] = torch.where(first, batch["labels"], IGNORED)
    changed = {**alone, "ids": torch.where(first, batch["ids"], 7)}
    with torch.inference_mode():
        torch.testing.assert_close(masked_loss(model, alone), masked_loss(model, changed))


def test_every_mask_is_filled_whatever_the_row(model_and_tokenizer) -> None:
    model, tokenizer = model_and_tokenizer
    rows = fill(model, tokenizer, [[9, 10], [11, 12, 13]], 12, block=4, at_once=2)
    assert all(tokenizer.mask_token_id not in row and len(row) <= 12 for row in rows)


def test_more_rows_do_not_change_a_row() -> None:
    folder = ROOT / "assets/models/diffusion"
    model = LlamaForCausalLM.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prompts = [
        tokenizer(text)["input_ids"] for text in ("Once upon a time", "A list of colors: red,")
    ]
    together = fill(model, tokenizer, prompts, 16)
    assert together == [fill(model, tokenizer, [prompt], 16)[0] for prompt in prompts]


def test_the_whole_way_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["--steps", "2", "--rows", "1", "--workers", "0", "--held-out", "2"]
    train.main([*arguments, "--device", "cpu", "--out", str(tmp_path)])
    told = json.loads((tmp_path / "training.json").read_text())
    assert told["steps"] == 2 and set(told["held_out_loss"]) == {"0.15", "0.50", "0.85"}
    monkeypatch.setattr(evaluate, "AT_ONCE", (4,))
    evaluate.main(["--out", str(tmp_path), "--questions", "1"])
    assert "5,475,840 parameters" in (tmp_path / "README.md").read_text()


def test_the_stored_card_is_written_from_what_was_measured(tmp_path: Path) -> None:
    folder = ROOT / "assets/models/diffusion"
    for name in ("training.json", "evaluation.json"):
        (tmp_path / name).write_text((folder / name).read_text())
    evaluate.write_card(tmp_path)
    assert (tmp_path / "README.md").read_text() == (folder / "README.md").read_text()
