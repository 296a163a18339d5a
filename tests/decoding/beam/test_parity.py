"""Beam search equals transformers' `generate`: sequences, scores, backpointers; float32.

As in greedy decoding, the two may part only where candidates are closer than float32's rounding
(`check` measures it there), and what follows is then compared by independent rescoring.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from core import check, collect
from core.decoding.beam.model_checks import SAME_HYPOTHESES
from core.models.transformers_model import TransformersModel
from tests.decoding.beam.beams import ARCHITECTURES, one_thread, random_case
from tests.depth import cases
from tests.models.builders import random_model, tiny_tokenizer

CASES_EACH = cases(40, 9)
_one_thread = pytest.fixture(autouse=True)(one_thread)


@pytest.mark.parametrize("case", range(CASES_EACH))
@pytest.mark.parametrize("kind", ARCHITECTURES)
def test_the_search_finds_what_generate_finds(kind: str, case: int) -> None:
    model, prompt, config = random_case(kind, case)
    trace = collect(model, prompt, config)
    checks = check(trace, model)
    assert SAME_HYPOTHESES in {outcome.name for outcome in checks}
    assert [outcome for outcome in checks if not outcome.passed] == []


def test_nearly_every_case_is_equal_without_the_near_tie_rule() -> None:
    equal, reasons = 0, set()
    for kind in ARCHITECTURES:
        for case in range(CASES_EACH):
            model, prompt, config = random_case(kind, case)
            trace = collect(model, prompt, config)
            expected = model.reference_paths(prompt, config)
            assert expected is not None
            own = [(found.token_ids, found.parents) for found in trace.hypotheses]
            equal += own == [(path.token_ids, path.parents) for path in expected]
            reasons |= {found.finish_reason for found in trace.hypotheses}
    assert equal >= len(ARCHITECTURES) * CASES_EACH - 2
    assert reasons == {"eos", "stop", "length"}


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
def test_scores_are_equal_but_for_the_last_bits(kind: str) -> None:
    for case in range(CASES_EACH // 2):
        model, prompt, config = random_case(kind, case)
        expected = model.reference_paths(prompt, config) or []
        for found, path in zip(collect(model, prompt, config).hypotheses, expected, strict=True):
            assert found.score == pytest.approx(path.score, rel=2e-6)


def test_bfloat16_with_its_many_ties_mostly_finds_the_same() -> None:
    """A prompt of one row and one of num_beams rows differ by much more than ties in bfloat16."""
    equal = 0
    for kind in ARCHITECTURES:
        half = random_model(kind).to(torch.bfloat16)
        model = TransformersModel(half, tiny_tokenizer(), model_id=f"half {kind}")
        for case in range(10):
            _, prompt, config = random_case(kind, case)
            expected = model.reference_paths(prompt, config) or []
            own = [found.token_ids for found in collect(model, prompt, config).hypotheses]
            equal += own == [path.token_ids for path in expected]
    assert equal >= 57


def test_a_search_that_generate_would_not_make_is_found_out() -> None:
    """The reference check can fail: another penalty's hypotheses are not these settings'."""
    model, prompt, config = random_case("llama", 4)
    config = replace(config, do_sample=False, num_beams=4, stop_strings=(), max_new_tokens=12)
    other = collect(model, prompt, replace(config, min_new_tokens=0, early_stopping=True))
    shaping = replace(config.shaping, repetition_penalty=1.9)
    forged = replace(other, config=replace(config, shaping=shaping))
    outcome = next(o for o in check(forged, model) if o.name == SAME_HYPOTHESES)
    assert not outcome.passed
