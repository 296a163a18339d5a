"""A stopped training goes on as if it had not been, and the whole way runs end to end."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from core import Greedy, collect, load_model
from training import average, evaluate, train
from training.evaluation import arithmetic
from training.evaluation.card import history
from training.evaluation.prompts import read_prompts
from training.loop import LOWEST_SHARE, WARM_UP_STEPS, Training, learning_rate

ROOT = Path(__file__).parents[2]


@pytest.fixture
def quickest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Less than `--quick` does: fewer and shorter steps, replies, budgets and prompts."""
    for name, value in (("steps", 2), ("batch", 1)):
        monkeypatch.setitem(train.QUICK, name, value)
    monkeypatch.setattr(evaluate, "QUICK_LONGEST", 3)
    monkeypatch.setattr(arithmetic, "BUDGETS", (0, 8, 16))
    monkeypatch.setattr(evaluate, "read_prompts", lambda: read_prompts()[:3])


def make_training(tokenizer: PreTrainedTokenizerFast, folder: Path, resume: bool) -> Training:
    arguments = ["--quick", "--role", "target", "--checkpoints", str(folder), "--device", "cpu"]
    args = train.parse_arguments(arguments + ["--resume"] * resume)
    torch.manual_seed(3)
    return Training(args, tokenizer, None)


def test_the_rate_rises_then_falls_to_its_lowest() -> None:
    assert learning_rate(1.0, 0, 0.0) == pytest.approx(1 / WARM_UP_STEPS)
    assert learning_rate(1.0, WARM_UP_STEPS, 0.0) == pytest.approx(1.0)
    assert learning_rate(1.0, 10**6, 1.0) == pytest.approx(LOWEST_SHARE)
    assert learning_rate(1.0, 10**6, 1.5) == pytest.approx(LOWEST_SHARE)


@pytest.mark.usefixtures("quickest")
def test_a_resumed_training_has_the_same_next_losses(
    tokenizer: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    first = make_training(tokenizer, tmp_path, resume=False)
    first.progress.record(512, 0.01, first.step())
    first.save()
    straight = [first.step() for _ in range(2)]
    second = make_training(tokenizer, tmp_path, resume=True)
    assert second.progress.steps == 1 and second.progress.tokens == 512
    assert [second.step() for _ in range(2)] == straight


def test_a_training_may_begin_with_stored_weights_and_tells_of_their_own_training(
    tmp_path: Path,
) -> None:
    stored = train.ASSETS / "draft"
    out = ["--quick", "--out", str(tmp_path), "--steps", "1", "--device", "cpu"]
    args = train.parse_arguments([*out, "--start", str(stored)])
    begun = Training(args, train.make_tokenizer(args), None).model.state_dict()
    for name, weight in AutoModelForCausalLM.from_pretrained(stored).state_dict().items():
        assert torch.equal(begun[name], weight)
    earlier = json.loads((stored / "training.json").read_text(encoding="utf-8"))
    assert train.before(stored)[-1]["tokens"] == earlier["tokens"]
    words = history(train.before(stored))
    assert words.endswith(f"{earlier['tokens']:,} tokens in {earlier['minutes']} minutes")


def test_the_mean_of_two_trainings_is_stored_and_told(tmp_path: Path) -> None:
    first, second = train.ASSETS / "draft", tmp_path / "second"
    shutil.copytree(first, second)
    model = AutoModelForCausalLM.from_pretrained(first)
    for weight in model.parameters():
        weight.data.add_(0.5)
    model.save_pretrained(second)
    average.main([str(first), str(second), "--out", str(tmp_path / "mean")])
    mean = AutoModelForCausalLM.from_pretrained(tmp_path / "mean").state_dict()
    for name, weight in AutoModelForCausalLM.from_pretrained(first).state_dict().items():
        assert torch.allclose(mean[name], weight + 0.25, atol=2e-3)
    stored_facts = json.loads((tmp_path / "mean" / "training.json").read_text(encoding="utf-8"))
    assert stored_facts["averaged"] and stored_facts["stored_loss"] > 0
    assert history([], stored_facts["averaged"]).endswith(
        "the mean of these weights and those before"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("quickest")
def test_the_quick_version_makes_evaluates_and_describes_a_pair(tmp_path: Path) -> None:
    common = ["--quick", "--out", str(tmp_path)]
    checkpoints = ["--checkpoints", str(tmp_path / "checkpoints")]
    train.main([*common, *checkpoints])
    train.main([*common, *checkpoints, "--role", "draft"])
    evaluate.main(common)
    for role in ("target", "draft"):
        folder = tmp_path / role
        assert AutoModelForCausalLM.from_pretrained(folder).dtype == torch.float32
        names = {path.name for path in folder.iterdir()}
        assert {"README.md", "loss.svg", "loss.csv", "training.json"} <= names
        assert "{" not in (folder / "README.md").read_text(encoding="utf-8")
    model = load_model(tmp_path / "target")
    assert len(collect(model, "Once upon a time", Greedy(max_new_tokens=4)).token_ids) == 4
    measured = json.loads((tmp_path / "target" / "evaluation.json").read_text(encoding="utf-8"))
    assert len(measured) >= 14
    assert len(json.loads((tmp_path / "target" / "prompts.json").read_text(encoding="utf-8"))) == 16
