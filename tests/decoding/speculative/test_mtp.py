"""A model's own multi-token-prediction layers as a draft, against transformers' `use_mtp`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
from transformers.generation.candidate_generator import MTPCandidateGenerator

from core import (
    Shaping,
    Speculative,
    Trace,
    check,
    collect,
    from_transformers,
)
from core.models.transformers_model import TransformersModel
from tests.models.builders import tiny_tokenizer
from tests.models.mtp_models import MTP_KINDS, mtp_folder

GREEDY = Shaping(temperature=0.0)
# Quick to run, with three layers, two, and one.
SMALL = ("step3p7", "inkling_text", "mellum")
NEW, PROMPT = 14, [20, 30, 40, 50, 60, 70, 80, 90]


@cache
def model_of(name: str) -> TransformersModel:
    folder = mtp_folder(name, Path(mkdtemp()))
    auto = AutoModelForImageTextToText if name == "step3p7" else AutoModelForCausalLM
    model = from_transformers(auto.from_pretrained(folder), tiny_tokenizer(), model_id=name)
    model.eos_ids = frozenset()
    return model


def generated(model: TransformersModel, prompt: list[int], **settings: object) -> list[int]:
    ids = torch.tensor([prompt])
    output = model.hf_model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NEW,
        do_sample=False,
        eos_token_id=299,
        pad_token_id=299,
        **settings,
    )
    return output[0, len(prompt) :].tolist()


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[int, ...], list[int]]:
    """What transformers' own generator drafts after each text, from now on."""
    found: dict[tuple[int, ...], list[int]] = {}
    draft = MTPCandidateGenerator.get_candidates

    def recorded(generator, input_ids, *rest, **options):
        ids, logits = draft(generator, input_ids, *rest, **options)
        found[tuple(input_ids[0].tolist())] = ids[0, input_ids.shape[1] :].tolist()
        return ids, logits

    monkeypatch.setattr(MTPCandidateGenerator, "get_candidates", recorded)
    return found


def by_text(trace: Trace) -> dict[tuple[int, ...], list[int]]:
    """What was drafted after each text."""
    return {
        (*trace.prompt_ids, *trace.token_ids[: step.start]): [t.token_id for t in step.drafted]
        for step in trace.rounds
    }


@pytest.mark.parametrize("name", MTP_KINDS)
def test_each_round_drafts_and_emits_what_transformers_does(name: str, candidates) -> None:
    """The first token is transformers' too: it drafts from the second round on."""
    model, layers = model_of(name), MTP_KINDS[name].layers
    emitted = generated(model, PROMPT, use_mtp=True)
    assert emitted == generated(model, PROMPT)
    config = Speculative(drafter="mtp", draft_length=layers, max_new_tokens=NEW - 1, shaping=GREEDY)
    trace = collect(model, [*PROMPT, emitted[0]], config)
    assert [emitted[0], *trace.token_ids] == emitted
    drafted = by_text(trace)
    # The same texts are those of the same rounds, so that each accepted as many.
    assert [*drafted] == [text for text in candidates if len(text) > len(PROMPT)]
    for text, token_ids in drafted.items():
        # Transformers drafts beyond the last token too.
        assert token_ids == candidates[text][: len(token_ids)]
        assert len(token_ids) == min(layers, len(PROMPT) + NEW - len(text) - 1)
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


def test_the_models_accept_some_drafts_and_reject_others() -> None:
    counts = set()
    for name in SMALL:
        config = Speculative(drafter="mtp", max_new_tokens=30, shaping=GREEDY)
        for step in collect(model_of(name), PROMPT, config).rounds:
            counts.add((name, len(step.accepted), len(step.drafted)))
    assert {(name, 0, MTP_KINDS[name].layers) for name in SMALL} <= counts
    assert {(name, 1, MTP_KINDS[name].layers) for name in SMALL} <= counts
    assert ("step3p7", 2, 3) in counts
