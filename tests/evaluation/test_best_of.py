"""The rules that choose one of N samples, by hand-made samples; the reward model that is stored."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
)

from core.decoding.errors import ModelError
from core.evaluation.votes.ballots import vote
from core.evaluation.votes.best_of import Sample, Sampled, by_samples, chosen, mistakes, of_votes
from core.figures import best_of, best_of_data
from core.models.places import EMBEDDED_FOLDER, list_embedded
from core.models.registry import load_reward_model
from core.models.rewards.verifier import VerifierHead, load_verifier, read
from tests.evaluation.test_votes import PROBLEM, attempt
from tests.models.builders import random_model, tiny_tokenizer

REWARD, TARGET = EMBEDDED_FOLDER / "reward", EMBEDDED_FOLDER / "target"
# What the sum is worked out as, and what is said: right, a slip, and an answer that is another.
SLIPS = ((12, 12), (13, 13), (12, 21))


def sample(answer: str | None, logprob: float, reward: float | None, right: str = "4") -> Sample:
    return Sample(f"text {answer}", answer, answer == right, logprob, reward, answer == right)


FOUR = (sample("5", -0.1, 1), sample("4", -0.3, 3), sample("5", -0.2, 2), sample(None, 0.0, 9))


def test_each_rule_takes_the_sample_that_it_says() -> None:
    assert [chosen(FOUR, rule) for rule in ("majority", "best_of_n")] == [FOUR[0], FOUR[0]]
    assert chosen(FOUR, "reward") is FOUR[1] and chosen(FOUR, "verifier") is FOUR[1]
    assert chosen(FOUR[:1], "verifier") is None and chosen((), "reward") is None


def test_n_samples_are_counted_in_blocks_and_one_sample_is_the_same_for_every_rule() -> None:
    shares = {(p.rule, p.samples): p.correct for p in by_samples([Sampled("q", "4", FOUR)])}
    assert {correct[:2] for (_, size), correct in shares.items() if size == 1} == {(1, 4)}
    assert shares["majority", 2][:2] == (0, 2) and shares["reward", 2][:2] == (1, 2)
    assert shares["verifier", 4][:2] == (1, 1) and shares["best_of_n", 4][:2] == (0, 1)
    assert all(share.low <= share.value <= share.high for share in shares.values())
    assert ("majority", 8) not in shares
    # What is left of the samples behind the last whole block is no trial.
    left = by_samples([Sampled("q", "4", FOUR[:3])])
    assert {point.correct.total for point in left if point.samples == 2} == {1}


def test_a_rule_without_its_numbers_is_left_out() -> None:
    bare = [Sample("a", "4", True, None), Sample("b", "5", False, None)]
    assert {point.rule for point in by_samples([Sampled("q", "4", tuple(bare))])} == {"majority"}


def test_a_mistake_is_a_wrong_sample_above_a_right_one() -> None:
    wrong = Sampled("q", "4", (sample("4", 0, 1.0), sample("5", 0, 2.0)))
    (mistake,) = mistakes([wrong, Sampled("q", "4", FOUR), Sampled("q", "4", FOUR[:1])])
    assert (mistake.taken.answer, mistake.better.answer) == ("5", "4")
    assert (mistake.taken.reward, mistake.better.reward) == (2.0, 1.0)


def test_a_vote_knows_the_highest_rewarded_answer() -> None:
    attempts = [attempt("1"), attempt(None), attempt("2")]
    made = vote(PROBLEM, attempts, rewards=[0.5, 9.0, None])
    assert made.rewarded == 0 and made.answer_by("reward") == "1"
    assert vote(PROBLEM, attempts).answer_by("reward") is None
    assert [sample.reward for sample in of_votes([made])[0].samples] == [0.5, 9.0, None]


def test_the_reward_model_tells_right_from_wrong_wherever_the_slip_is() -> None:
    model, question = load_reward_model("embedded:reward"), "What is 7 + 5?"
    replies = [f"<think>7 + 5 = {n}.</think>The answer is {m}." for n, m in SLIPS]
    right, *wrong = model.score(question, replies)
    assert right is not None and right > 0
    assert all(score is not None and score < 0 for score in wrong), wrong
    assert model.score(question, ["1 " * 3000]) == [None]


def test_the_reward_model_reads_the_target_s_log_probabilities() -> None:
    target = AutoModelForCausalLM.from_pretrained(TARGET).eval()
    ids = torch.tensor([[5, 80, 300, 7]])
    hidden, logprobs = read(target, ids)
    with torch.inference_mode():
        rows = target(ids).logits[0].log_softmax(-1)
    expected = [0.0, *(float(rows[at, ids[0, at + 1]]) for at in range(3))]
    assert logprobs[0].tolist() == pytest.approx(expected, abs=1e-5)
    head = VerifierHead(hidden.shape[-1])
    with torch.inference_mode():
        whole, shorter = head(hidden, logprobs), head(hidden[:, :3], logprobs[:, :3])
    assert torch.allclose(whole[:, :3], shorter, atol=1e-6), "no token is judged by later ones"


def test_a_head_of_another_target_is_refused(tmp_path: Path) -> None:
    shutil.copytree(REWARD, tmp_path, dirs_exist_ok=True)
    settings = json.loads((tmp_path / "config.json").read_text()) | {"target": "another"}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError, match="was trained on another target"):
        load_verifier(tmp_path, TARGET, "embedded:reward")


@pytest.mark.parametrize(
    ("where", "said"),
    [("embedded:target", "is no reward model"), ("/nowhere/at/all", "nowhere"), ("", "No model")],
)
def test_what_is_no_reward_model_is_refused_in_a_sentence(where: str, said: str) -> None:
    assert "reward" not in list_embedded()
    with pytest.raises(ModelError, match=said):
        load_reward_model(where)


def test_any_classifier_with_two_labels_takes_its_place(tmp_path: Path) -> None:
    config = random_model("llama").config
    config.num_labels = 2
    model = AutoModelForSequenceClassification.from_config(config).eval()
    model.save_pretrained(tmp_path)
    tokenizer = tiny_tokenizer.__wrapped__()  # Other tests change the shared one.
    tokenizer.save_pretrained(tmp_path)
    (score,) = load_reward_model(tmp_path).score("1 + 1", ["2"])
    ids = torch.tensor([tokenizer("1 + 1", "2")["input_ids"]])
    with torch.inference_mode():
        lead = model(ids).logits[0]
    assert score == pytest.approx(float(lead[1] - lead[0]), abs=1e-5)


def test_samples_are_drawn_with_every_rule() -> None:
    sampled = [Sampled("q", "4", FOUR), Sampled("p", "4", FOUR[::-1])]
    table, drawn = best_of_data(sampled), best_of(sampled)
    assert set(table.samples) == {1, 2, 4}
    for rule in ("majority", "best_of_n", "reward", "verifier"):
        line = next(trace for trace in drawn.data if trace.name == rule)
        assert list(line.y) == list(table[table.rule == rule].accuracy)
