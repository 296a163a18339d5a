"""What a constraint leaves of a distribution, enumerated over small vocabularies."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from itertools import product

import pytest
import torch

from core import BeamSearch, Sampling, Shaping, collect
from core.decoding.autoregressive.engine import shaper_of
from core.decoding.constraints.grammar import grammars_of
from core.decoding.constraints.value import Constraint
from core.models.scripted import ScriptedModel

LETTERS = ["<end>", "a", "b", "c"]


def _model(tokens=LETTERS, seed: int = 0) -> ScriptedModel:
    """Another random distribution after every text."""

    def script(ids: tuple[int, ...]) -> torch.Tensor:
        dice = torch.Generator().manual_seed(hash((seed, *ids)) % 2**31)
        return torch.randn(len(tokens), generator=dice)

    return ScriptedModel(script, tokens=tokens, given="logits")


def _paths(
    model: ScriptedModel, constraint: Constraint, longest: int
) -> Iterator[tuple[str, float, float]]:
    """Yield each finished text with its log-probability: under the stage, and under the model."""
    shaper = shaper_of(model, Sampling(shaping=Shaping(constraint=constraint)))
    open_texts: list[tuple[list[int], float, float]] = [([1], 0.0, 0.0)]
    while open_texts:
        ids, constrained, free = open_texts.pop()
        logits = model.logits_after(ids)
        stages = shaper.distributions(logits, ids, len(ids) - 1)
        raw, last = logits.log_softmax(-1), stages[-1]
        after = last.log_probs_of(torch.arange(len(logits)))
        for token, value in enumerate(after):
            if value == -math.inf:
                continue
            sums = constrained + value, free + float(raw[token])
            if token == 0:
                yield "".join(model.token_text(one) for one in ids[1:]), *sums
            elif len(ids) <= longest:
                open_texts.append(([*ids, token], *sums))


def test_the_texts_of_choices_are_enumerated_exactly() -> None:
    for case in range(12):
        dice = random.Random(case)
        words = {"".join(dice.choices("abc", k=dice.randint(1, 4))) for _ in range(5)}
        model = _model(seed=case)
        found = list(_paths(model, Constraint.of_choices(sorted(words)), 6))
        assert {text for text, *_ in found} == words
        assert len(found) == len(words)  # With one letter a token, one spelling each.
        assert math.fsum(math.exp(value) for _, value, _ in found) == pytest.approx(1, abs=1e-6)
        for text, constrained, free in found:
            assert constrained == pytest.approx(_by_arithmetic(model, text, words), abs=1e-5)
            assert free <= constrained + 1e-6


def _by_arithmetic(model: ScriptedModel, text: str, words: set[str]) -> float:
    """The model's probabilities, renormalised at each step over what continues to a choice."""
    total, ids = 0.0, [1]
    for at in range(len(text) + 1):
        logits = model.logits_after(ids).double()
        going = {LETTERS.index(word[at]) for word in words if word[:at] == text[:at] and word[at:]}
        allowed = sorted(going | ({0} if text[:at] in words else set()))
        token = LETTERS.index(text[at]) if at < len(text) else 0
        total += float(logits[token] - logits[allowed].logsumexp(0))
        ids.append(token)
    return total


@pytest.mark.parametrize("pattern", ["a{1,3}b?|ba*", "(ab|c)*", "a.c|b+", "[^a]a{2}", "c(a|bc)?"])
def test_the_texts_of_a_regular_expression_are_those_that_python_s_matches(pattern) -> None:
    longest = 5
    found = list(_paths(_model(), Constraint("regex", pattern), longest))
    short = [text for text, *_ in found if len(text) <= longest]
    every = ("".join(p) for length in range(longest + 1) for p in product("abc", repeat=length))
    assert sorted(short) == sorted(text for text in every if re.fullmatch(pattern, text))


TOKENS = ["<end>", "a", "b", "ab", "ba", "abc", "c", "bc", "aa"]


def test_with_longer_tokens_every_text_is_found_in_its_spellings_and_no_other() -> None:
    """This vocabulary lacks most characters, so every spelling is allowed."""
    for case in range(8):
        dice = random.Random(case)
        words = {"".join(dice.choices("abc", k=dice.randint(1, 5))) for _ in range(4)}
        found = list(_paths(_model(TOKENS, case), Constraint.of_choices(words), 6))
        assert len(found) == sum(map(_spellings, words))
        assert {text for text, *_ in found} == words
        assert math.fsum(math.exp(value) for _, value, _ in found) == pytest.approx(1, abs=1e-5)


def _spellings(text: str) -> int:
    """The number of ways in which tokens make up a text."""
    ends = (token for token in TOKENS if text.startswith(token))
    return sum(_spellings(text[len(token) :]) for token in ends) if text else 1


def test_a_grammar_moved_anywhere_equals_one_that_read_the_text_from_its_beginning() -> None:
    model, dice = _model(TOKENS), random.Random(1)
    for constraint in (
        Constraint("regex", "(ab|bc|aa)*c?"),
        Constraint.of_choices(["ab", "abcab", "aab"]),
        Constraint("lark", 'start: "a" start "b" | "c"'),
    ):
        moved, size = grammars_of(model).start(constraint), model.vocab_size
        for _ in range(200):
            text = dice.choices(range(size), k=dice.randint(0, 6))
            if dice.random() < 0.3:
                moved = moved.copy()
            moved.read(text)
            fresh = grammars_of(model).start(constraint)
            fresh.read(text)
            assert (moved.left, moved.held, moved.complete) == (
                fresh.left,
                fresh.held,
                fresh.complete,
            )
            assert torch.equal(moved.allowed(size), fresh.allowed(size))


def test_a_step_records_the_share_that_was_allowed() -> None:
    model = _model()
    trace = collect(
        model, "a", Sampling(seed=3, shaping=Shaping(constraint=Constraint("regex", "[ab]{6}")))
    )
    for step in trace.token_steps[:6]:
        stage = step.stages[1]
        probs = model.logits_after([1, *trace.token_ids[: step.index]]).double().softmax(-1)
        assert (stage.name, stage.kept) == ("constraint", 2)
        assert stage.removed_mass == pytest.approx(1 - float(probs[[1, 2]].sum()), abs=1e-6)
        chosen = step.candidates.index(step.chosen)
        assert stage.probs[chosen] == pytest.approx(
            float(probs[step.token_id] / probs[[1, 2]].sum()), abs=1e-6
        )
    assert trace.token_steps[6].stages[1].kept == 1
    assert trace.finish_reason == "eos"


def test_a_beam_holds_the_best_texts_of_the_constraint() -> None:
    """With as many beams as texts, the search finds all of them, ordered by their sums."""
    words = {"ab", "ba", "cc", "ca"}
    for case in range(6):
        model = _model(seed=case)
        config = BeamSearch(
            num_beams=4,
            num_return_sequences=4,
            length_penalty=0.0,
            early_stopping=False,
            max_new_tokens=4,
            shaping=Shaping(constraint=Constraint.of_choices(words)),
        )
        trace = collect(model, "a", config)
        free = {text: free for text, _, free in _paths(model, Constraint.of_choices(words), 4)}
        found = [(path.text, path.score) for path in trace.hypotheses]
        assert [text for text, _ in found] == sorted(free, key=lambda text: -free[text])
        assert [score for _, score in found] == pytest.approx(sorted(free.values())[::-1], abs=1e-5)
