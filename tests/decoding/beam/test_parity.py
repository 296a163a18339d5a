"""Beam search equals transformers' `generate`: sequences, scores, backpointers; float32.

As in greedy decoding, the two may part only where candidates are closer than float32's rounding
(`check` measures it there), and what follows is then compared by independent rescoring.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
import torch

from core import BeamSearch, check, collect
from core.decoding.beam.model_checks import SAME_HYPOTHESES
from core.models.transformers_model import TransformersModel
from tests.decoding.beam.beams import ARCHITECTURES, answers_of, random_case
from tests.depth import cases
from tests.models.builders import random_language_model, random_model, tiny_tokenizer

CASES_EACH = cases(40, 6)
HALF_CASES_EACH = cases(10, 5)


def test_the_search_finds_what_generate_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches differ only at near ties, and hardly any search differs."""
    answers, failed, parted, reasons = answers_of(monkeypatch, "reference_paths"), [], [], set()
    for kind, case in product(ARCHITECTURES, range(CASES_EACH)):
        model, prompt, config = random_case(kind, case)
        trace = collect(model, prompt, config)
        checks = check(trace, model)
        assert SAME_HYPOTHESES in {outcome.name for outcome in checks}
        failed += [(kind, case, outcome) for outcome in checks if not outcome.passed]
        reasons |= {hypothesis.finish_reason for hypothesis in trace.hypotheses}
        ours = [(hypothesis.token_ids, hypothesis.parents) for hypothesis in trace.hypotheses]
        if ours != [(path.token_ids, path.parents) for path in answers[-1]]:
            parted.append((kind, case))
        elif kind in ("llama", "gpt2"):  # But for the last bits the scores are equal too.
            scores = [path.score for path in answers[-1]]
            assert [hypothesis.score for hypothesis in trace.hypotheses] == pytest.approx(
                scores, rel=2e-6
            )
    assert failed == []
    assert len(parted) <= 2, parted
    assert reasons == {"eos", "stop", "length"}


@pytest.mark.slow
def test_bfloat16_with_its_many_ties_mostly_finds_the_same() -> None:
    """A prompt of one row and one of num_beams rows differ by much more than ties in bfloat16."""
    parted = []
    for kind in ARCHITECTURES:
        half = random_model(kind).to(torch.bfloat16)
        model = TransformersModel(half, tiny_tokenizer(), model_id=f"half {kind}")
        for case in range(HALF_CASES_EACH):
            _, prompt, config = random_case(kind, case)
            expected = model.reference_paths(prompt, config) or []
            ours = [
                hypothesis.token_ids for hypothesis in collect(model, prompt, config).hypotheses
            ]
            if ours != [path.token_ids for path in expected]:
                parted.append((kind, case))
    assert len(parted) <= 3, parted


def test_a_search_that_generate_would_not_make_is_found_out() -> None:
    """The reference check can fail: another penalty's hypotheses are not these settings'."""
    model, prompt, config = random_case("llama", 4)
    config = replace(config, do_sample=False, num_beams=4, stop_strings=(), max_new_tokens=12)
    honest = collect(model, prompt, replace(config, min_new_tokens=0, early_stopping=True))
    shaping = replace(config.shaping, repetition_penalty=1.9)
    forged = replace(honest, config=replace(config, shaping=shaping))
    assert not next(o for o in check(forged, model) if o.name == SAME_HYPOTHESES).passed


_RECURRENT = {
    "recurrent_gemma": {
        "num_key_value_heads": 1,
        "lru_width": 32,
        "attention_window_size": 8,
        "block_types": ["recurrent", "attention"],
        "head_dim": 8,
    },
    "minimax": {
        "num_key_value_heads": 2,
        "num_local_experts": 2,
        "head_dim": 8,
        "layer_types": ["linear_attention", "full_attention"],
        "block_size": 8,
    },
}


@pytest.mark.parametrize("do_sample", [False, True])
@pytest.mark.parametrize("kind", _RECURRENT)
def test_a_recurrent_state_that_generate_does_not_reorder_is_compared_without_a_cache(
    kind: str, do_sample: bool
) -> None:
    model = random_language_model(kind, **_RECURRENT[kind])
    config = BeamSearch(
        num_beams=3, num_return_sequences=3, max_new_tokens=12, do_sample=do_sample, seed=2
    )
    trace = collect(model, [3, 17, 29, 44, 5], config)
    outcomes = {outcome.name: outcome for outcome in check(trace, model)}
    assert [name for name, outcome in outcomes.items() if not outcome.passed] == []
    assert SAME_HYPOTHESES in outcomes
    assert len(trace.beam_steps) > 3
