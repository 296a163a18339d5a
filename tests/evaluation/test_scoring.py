"""Metrics by hand-made cases, whose values follow from the published formulas."""

from __future__ import annotations

import math

import pytest

from core import ConfigError, load_model
from core.evaluation.scoring.metrics import METRICS, score
from core.evaluation.scoring.reference import score_reference
from core.evaluation.scoring.text import (
    contains,
    contains_text,
    is_exact,
    is_last_number,
    is_number,
    normalised,
    token_f1,
)
from core.models.scripted import ScriptedModel


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The  Eiffel-Tower!", "eiffeltower"),
        ("An apple, a day", "apple day"),
        ("theatre", "theatre"),
        ("It's 1,234.5", "its 12345"),
        ("A the an", ""),
        ("Große Straße", "große straße"),
    ],
)
def test_the_normalisation_is_squads(text: str, expected: str) -> None:
    assert normalised(text) == expected


@pytest.mark.parametrize(
    ("reply", "answers", "exact", "words", "characters"),
    [
        ("The Paris.", ("paris",), True, True, True),
        ("It is Paris, France.", ("Paris",), False, True, True),
        ("It is beautiful", ("Au",), False, False, True),
        ("", ("Paris",), False, False, False),
        ("New York City", ("york city",), False, True, True),
        ("York, the City", ("york city",), True, True, False),
        ("J.R.R. Tolkien", ("tolkien", "J. R. R. Tolkien"), False, True, True),
        ("anything", ("the",), False, False, False),
        ("a+b", ("a+b",), True, True, True),
    ],
)
def test_exact_match_and_both_kinds_of_contains(reply, answers, exact, words, characters) -> None:
    assert is_exact(reply, answers) is exact
    assert contains(reply, answers) is words
    assert contains_text(reply, answers) is characters


@pytest.mark.parametrize(
    ("reply", "answers", "f1"),
    [
        ("the cat sat", ("cat sat down",), 2 * (2 / 2) * (2 / 3) / (2 / 2 + 2 / 3)),
        ("cat cat dog", ("cat dog dog",), 2 / 3),
        ("no", ("cat", "no"), 1.0),
        ("the", ("a",), 1.0),
        ("the", ("cat",), 0.0),
        ("dog", ("cat",), 0.0),
    ],
)
def test_token_f1_is_squads(reply: str, answers: tuple[str, ...], f1: float) -> None:
    assert token_f1(reply, answers) == pytest.approx(f1, abs=1e-12)


@pytest.mark.parametrize(
    ("reply", "answers", "right"),
    [
        ("She pays $1,234.50.", ("1234.50",), True),
        ("So 3 + 4 = 7", ("7",), True),
        ("7 it is, not 8", ("7",), False),
        ("#### 72", ("they need 72\n#### 72",), True),
        ("no number", ("7",), False),
        ("-5", ("-5",), True),
        ("5", ("-5",), False),
        ("1.5.", ("1.5",), True),
    ],
)
def test_the_last_number_is_read_as_gsm8ks_flexible_filter(reply, answers, right) -> None:
    assert is_last_number(reply, answers) is right


def test_a_number_is_compared_as_a_number() -> None:
    assert is_number("The answer is 1,200.0 dollars, 3 less.", ("1200",))
    assert not is_number("The answer is 1,200.0 dollars, 3 less.", ("3",))
    assert not is_number("none", ("3",))


def test_the_first_metric_that_holds_counts_and_numbers_are_judged_by_numbers_alone() -> None:
    assert score("Paris.", ("Paris",)).counted == "exact"
    assert score("It's Paris.", ("Paris",)).counted == "contains"
    assert score("eight legs", ("eight", "8")).counted == "contains"
    assert score("8 legs", ("eight", "8")).counted == "number"
    # The normalisation would make 5 of -5, and 14 + 29 contains 14.
    assert not score("5", ("-5",)).right
    assert not score("14 + 29 = 12", ("14",)).right
    assert score("14 + 29 = 12", ("14",), ("contains",)).right
    assert not score("London", ("Paris",)).right and score("London", ("Paris",)).counted == ""


@pytest.mark.parametrize("names", [(), ("bleu",), ("exact", "rouge")])
def test_metrics_that_there_are_not_are_refused(names) -> None:
    with pytest.raises(ConfigError, match=f"metrics must be some of {', '.join(METRICS)}"):
        score("a", ("a",), names)


def test_a_references_log_likelihood_is_the_sum_over_its_tokens() -> None:
    tokens = ("<end>", "q", "a", "b")
    chain = {(1,): [0.1, 0.2, 0.3, 0.4], (2,): [0.25, 0.25, 0.0, 0.5], (3,): [1.0, 0.0, 0.0, 0.0]}
    model = ScriptedModel({(): [0.25] * 4, **chain}, tokens=tokens)
    found = score_reference(model, [1], "ab")
    assert found.tokens == 2
    assert found.logprob == pytest.approx(math.log(0.3) + math.log(0.5), abs=1e-6)
    assert found.per_token == pytest.approx(found.logprob / 2)
    small = ScriptedModel({(): [0.25] * 4}, tokens=tokens, context_window=2)
    assert score_reference(small, [1], "ab") is None


def test_the_log_likelihood_equals_one_forward_of_transformers() -> None:
    import torch

    model = load_model("embedded:draft")
    prompt = model.encode("What is the capital of France?\n")
    answer = model.encode("The capital of France is Paris.")
    with torch.no_grad():
        logits = model.hf_model(torch.tensor([[*prompt, *answer]])).logits[0].double()
    rows = logits[len(prompt) - 1 : -1].log_softmax(-1)
    expected = sum(float(row[token]) for row, token in zip(rows, answer, strict=True))
    found = score_reference(model, prompt, "The capital of France is Paris.")
    assert found.logprob == pytest.approx(expected, abs=1e-4)
