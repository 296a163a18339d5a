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
        ("A the an", "a the an"),
        ("...", "..."),
        ("J.R.R.-Tolkien's covid-19, 5-year", "jrrtolkiens covid19 5year"),
        ("cafe\u0301", "caf\u00e9"),
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
        ("", ("A",), 0.0),
        ("A.", ("a",), 1.0),
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


@pytest.mark.parametrize("answer", ["A", "the", "...", "+", "5", "An a"])
def test_an_empty_reply_is_never_right(answer: str) -> None:
    for metric in METRICS:
        assert not score("", (answer,), (metric,)).right
    assert score("", (answer,)).f1 == 0
    assert score(answer, (answer,)).right and score(answer.lower(), (answer,)).right


@pytest.mark.parametrize(
    ("answer", "right", "wrong"),
    [
        ("$5.50", ("5.50", "$5.5", "It costs $5.50."), ("550", "5.50 €", "-$5.50", "$5.501")),
        ("€1,000.50", ("1000.5 €", "€ 1,000.50"), ("€100050", "$1,000.50", "1.000,50 €")),
        ("1.5%", ("1.5 %", "It is 1.50 percent."), ("15", "15%", "1.5", "-1.5%")),
        ("1/2", ("½", "0.5", "The answer is 1/2.", r"\frac{1}{2}"), ("12", "2", "1", "1:2")),
        ("-5 km", ("−5 km", "It is -5 km."), ("5 km", "15 km", "-.5 km")),
        ("3:15", ("at 3:15 pm", "３：１５"), ("315", "15", "3.15", "3:15:20")),
        ("3:2", ("3:2",), ("32", "3", "3/2")),
        ("3-5", ("3–5",), ("35", "3:5", "5", "-5")),
        ("1.5e3", ("1500", "1,500", "1.5 × 10^3"), ("153", "15e3", "1.5e-3")),
        ("2020-01-05", ("on 2020-01-05",), ("20200105", "2020-01-5")),
        ("1,234 km", ("1234 km", "1\u202f234 km"), ("1,23,4 km", "1.234 km")),
        ("Python 3.10", ("python 3.10",), ("Python 3.1", "Python 310")),
        ("2^10 bits", ("2^10 bits",), ("210 bits", "2^-10 bits")),
        ("42年", ("４２年",), ("4.2年",)),
        ("Café", ("cafe\u0301",), ("cafe",)),
    ],
)
def test_what_makes_a_number_another_one_is_no_punctuation(answer, right, wrong) -> None:
    assert [reply for reply in right if not score(reply, (answer,)).right] == []
    assert [reply for reply in wrong if score(reply, (answer,)).right] == []


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
    scored = score_reference(model, [1], "ab")
    assert scored.tokens == 2
    assert scored.logprob == pytest.approx(math.log(0.3) + math.log(0.5), abs=1e-6)
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
    scored = score_reference(model, prompt, "The capital of France is Paris.")
    assert scored.logprob == pytest.approx(expected, abs=1e-4)
