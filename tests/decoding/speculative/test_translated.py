"""Drafts with another tokenizer: translation through text, proof, and losslessness."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from transformers.generation.candidate_generator import (
    AssistedCandidateGeneratorDifferentTokenizers,
)

from core import Shaping, Speculative, Trace, check, collect, load_model
from core.decoding.speculative.drafters.other_tokenizer import translate
from core.decoding.speculative.measurement.baseline import target_only
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_language_model

PROMPT = "Once upon a time, there was a little girl"
CONFIG = Speculative(
    max_new_tokens=16, draft_length=4, drafter="other_tokenizer", shaping=Shaping(temperature=0.0)
)


def _target() -> TransformersModel:
    """A target with a vocabulary of its own, which writes characters at random."""
    model = random_language_model("llama")
    model.eos_ids = frozenset()
    return model


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_run_is_proved_with_its_draft_and_greedy_is_greedy(temperature: float) -> None:
    target, draft = load_model("embedded:target"), _target()
    config = replace(CONFIG, shaping=Shaping(temperature=temperature))
    trace = collect(target, PROMPT, config, draft=draft)
    outcomes = check(trace, target, draft)
    assert [outcome for outcome in outcomes if not outcome.passed] == []
    assert "draft_translated" in {outcome.name for outcome in outcomes}
    assert any(step.translation for step in trace.rounds)
    if temperature == 0:
        assert trace.token_ids == collect(target, PROMPT, target_only(config)).token_ids


def test_the_draft_tokens_are_stored_and_another_draft_is_found(tmp_path) -> None:
    target, draft = load_model("embedded:target"), _target()
    trace = collect(target, PROMPT, CONFIG, draft=draft)
    trace.save(tmp_path / "run.json")
    assert Trace.load(tmp_path / "run.json").rounds == trace.rounds
    first = next(step for step in trace.rounds if step.translation)
    forged = replace(first, translation=first.translation[:-1])
    steps = tuple(forged if step is first else step for step in trace.steps)
    failed = [o.name for o in check(replace(trace, steps=steps), target, draft) if not o.passed]
    assert failed == ["draft_translated"]


def test_text_becomes_the_targets_tokens_and_joins_the_last_word() -> None:
    target = load_model("embedded:target")
    ids = target.encode(PROMPT)
    more = translate(target, ids, " named Lily")
    assert target.decode(more, ids) == " named Lily"
    assert [*ids, *more] == target.encode(f"{PROMPT} named Lily")
    assert translate(target, ids, "") == []


def test_candidates_are_those_of_transformers() -> None:
    """The embedded target drafts for a model whose tokens are others."""
    target, draft = _target(), load_model("embedded:target")
    ids = target.encode("Once upon a time there was a small red fox.")
    trace = collect(target, ids, replace(CONFIG, max_new_tokens=2), draft=draft)
    first = trace.rounds[0]
    settings = draft.hf_model.generation_config
    settings.num_assistant_tokens = 4
    settings.num_assistant_tokens_schedule = "constant"
    settings.assistant_confidence_threshold = 0.0
    settings.target_lookbehind, settings.assistant_lookbehind = 10, 10
    config = target.hf_model.generation_config
    config.max_length, config.min_length = 500, 0
    generator = AssistedCandidateGeneratorDifferentTokenizers(
        torch.tensor([ids]), draft.hf_model, target.tokenizer, draft.tokenizer, config, {}
    )
    expected = generator.get_candidates(torch.tensor([ids]))[0][0, len(ids) :].tolist()
    drafted = [token.token_id for token in first.drafted]
    assert drafted and drafted == expected[: len(drafted)]
