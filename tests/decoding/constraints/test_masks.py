"""Masks that beams and drafted positions record: their numbers, their places and their proof."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from core import BeamSearch, Greedy, Shaping, Speculative, Trace, check, collect, load_model
from core.decoding.beam.replay import lineage
from core.decoding.check import verdict
from core.decoding.constraints.grammar import grammars_of
from core.decoding.constraints.reading import (
    constrained_position,
    constrained_steps,
    text_logprob,
    tokens_of,
)
from core.decoding.constraints.value import Constraint
from core.decoding.errors import TraceError
from core.export.catalog import entries_of
from core.figures import (
    constraint_masses,
    constraint_masses_data,
    settings_caption,
    spec_verification,
)
from core.figures.constraint.words import path_of
from core.figures.speculative.words import EXTRA, verification_words
from core.models.scripted import ScriptedModel
from tests.decoding.checks.forging import failed, forge
from tests.traces.reading import read

PROBS = [0.02, 0.5, 0.3, 0.18]
RULE = Constraint("regex", "[bc]b")
NAME = Constraint(
    "json",
    '{"type": "object", "properties": {"a b": {"type": "integer", "maximum": 99}, "c": {"type": '
    '"array", "items": {"enum": ["x", null]}, "minItems": 2, "maxItems": 2}}, "required": '
    '["a b", "c"], "additionalProperties": false}',
)
PROMPT = 'The list is {"a b": 7, "c": ["x", 7]}. The list is'


def scripted() -> ScriptedModel:
    return ScriptedModel({(): PROBS}, tokens=["<end>", "a", "b", "c"])


def searched() -> Trace:
    config = BeamSearch(num_beams=2, num_return_sequences=2, shaping=Shaping(constraint=RULE))
    return collect(scripted(), "a", config)


def looked_up() -> Trace:
    shaping = Shaping(temperature=0.0, constraint=NAME)
    config = Speculative(max_new_tokens=24, drafter="prompt_lookup", shaping=shaping)
    return collect(load_model("embedded:target"), PROMPT, config)


def test_each_path_of_a_beam_has_the_mask_of_its_own_text() -> None:
    trace = searched()
    first, second, last = trace.beam_steps
    assert [mask.allowed for mask in first.masks] == [2]
    assert [mask.allowed for mask in second.masks] == [1, 1]
    for step, masses in ((first, [0.48]), (second, [0.3, 0.3]), (last, [0.02, 0.02])):
        assert [math.exp(mask.log_mass) for mask in step.masks] == pytest.approx(masses, abs=1e-6)
        assert {mask.wanted[:2] for mask in step.masks} == {(1, "a")}
        assert step.masks[0].wanted.raw_prob == pytest.approx(0.5)
    for step in trace.beam_steps:
        for candidate in step.candidates:
            found = constrained_steps(trace, lineage(trace.beam_steps, step.index, candidate))[-1]
            allowed = {0: [0.3, 0.18], 1: [0.3], 2: [0.02]}[step.index]
            renormalised = math.exp(candidate.raw_logprob) / sum(allowed)
            assert math.exp(candidate.raw_logprob - found.log_mass) == pytest.approx(renormalised)
            path = lineage(trace.beam_steps, step.index, candidate)[:-1]
            assert found.place == "".join(token.text for token in path)
    paths = {hypothesis.text for hypothesis in trace.hypotheses}
    assert paths == {"bb", "cb"}


def test_the_same_text_has_the_same_masks_and_places_in_every_method() -> None:
    target, draft = load_model("embedded:target"), load_model("embedded:draft")
    ruled = Shaping(constraint=NAME)
    greedy = collect(target, "Once", Greedy(max_new_tokens=30, shaping=ruled))
    beam = collect(target, "Once", BeamSearch(num_beams=1, max_new_tokens=30, shaping=ruled))
    still = replace(ruled, temperature=0.0)
    drafted = collect(target, "Once", Speculative(max_new_tokens=30, shaping=still), draft=draft)
    wanted = constrained_steps(greedy)
    assert {"/a b", "/c/0", "/c/1"} <= {step.place for step in wanted}
    assert any(step.forced for step in wanted) and any(step.wanted for step in wanted)
    for trace in (beam, drafted):
        assert trace.token_ids == greedy.token_ids
        found = constrained_steps(trace, path_of(trace))
        for a, b in zip(found, wanted, strict=True):
            assert (a.at_step, a.token.token_id, a.allowed, a.place) == (
                *(b.at_step, b.token.token_id, b.allowed, b.place),
            )
            assert a.log_mass == pytest.approx(b.log_mass, abs=2e-3)
            assert (a.wanted and a.wanted[:2]) == (b.wanted and b.wanted[:2])
        own = text_logprob(greedy)
        assert text_logprob(trace, path_of(trace)) == pytest.approx(own, abs=1e-2)


def test_a_drafted_token_that_is_not_allowed_is_told_apart_from_other_rejections() -> None:
    trace, model = looked_up(), load_model("embedded:target")
    grammar = grammars_of(model).start(NAME)
    refused = 0
    for at, step in enumerate(trace.rounds):
        assert len(step.masks) == len(step.drafted) + 1
        ids = list(trace.token_ids[: step.start])
        for place, token in enumerate(step.drafted):
            grammar.read(ids)
            inside = not grammar.left
            allowed = bool(grammar.allowed(model.vocab_size)[token.token_id])
            assert token.refused == (inside and not allowed)
            if inside:
                count = int(grammar.allowed(model.vocab_size).sum())
                assert step.masks[place].allowed == count
                found = constrained_position(trace, at, place)
                assert found is not None and found.allowed == count
            else:
                assert constrained_position(trace, at, place) is None
            if token.refused:
                refused += 1
                assert token.target_prob == 0 and token.outcome != "accepted"
                words = verification_words(token, "speculative")
                assert words.startswith("The constraint doesn't allow this token")
                figure = spec_verification(trace, at, place)
                assert "doesn’t allow the drafted token" in figure.layout.meta["subtitle"]
            elif token.passed:
                assert "doesn't allow" not in verification_words(token, "speculative")
            ids.append(token.token_id)
        own = constrained_position(trace, at, EXTRA)
        assert (own is None) == (step.extra is None)
    assert refused > 2
    assert "drafter prompt lookup" in settings_caption(trace)


def test_forged_masks_are_found() -> None:
    beam, lookup, target = searched(), looked_up(), load_model("embedded:target")
    assert not failed(beam, scripted()) and not failed(lookup, target)
    mask = beam.beam_steps[1].masks[1]
    wanted = mask.wanted
    for changes, by_file in (
        ({"allowed": mask.allowed + 1}, False),
        ({"wanted": None}, False),
        ({"wanted": wanted._replace(text="b")}, False),
        ({"wanted": wanted._replace(raw_prob=0.6)}, False),
        # The file shows one allowed token, and it has 0.3.
        ({"log_mass": mask.log_mass + 0.1}, True),
        ({"log_mass": mask.log_mass - 0.1}, True),
        ({"allowed": mask.allowed + 1, "log_mass": math.log(0.85)}, True),
        ({"wanted": wanted._replace(raw_prob=0.2)}, True),
        ({"wanted": wanted._replace(raw_prob=0.8)}, True),
        ({"wanted": wanted._replace(token_id=2)}, True),
    ):
        other = forge(beam, 1, masks=(beam.beam_steps[1].masks[0], mask._replace(**changes)))
        name = "tree_whole" if by_file else "tree_rescored"
        assert failed(other, scripted()) == {name}, changes
        fault = next(one for one in check(other, scripted()) if not one.passed)
        assert "mask" in fault.detail and "row" in fault.detail
    assert "tree_whole" in failed(forge(beam, 1, masks=(mask,)))
    assert "tree_whole" in failed(forge(beam, 1, masks=(mask, mask._replace(log_mass=-5.0))))

    step = next(step for step in lookup.rounds if any(t.refused for t in step.drafted))
    place = next(place for place, token in enumerate(step.drafted) if token.refused)

    def forged(**changes: object) -> Trace:
        steps = [replace(one, **changes) if one is step else one for one in lookup.steps]
        return replace(lookup, steps=tuple(steps))

    first = step.masks[0]
    for changes, name in (
        ({"allowed": first.allowed + 3}, "target_probs_again"),
        ({"wanted": None}, "target_probs_again"),
        # The one allowed token is recorded.
        ({"log_mass": first.log_mass + 0.1}, "rounds_whole"),
    ):
        masks = (first._replace(**changes), *step.masks[1:])
        assert failed(forged(masks=masks), target) == {name}
    tokens = list(step.drafted)
    tokens[place] = tokens[place]._replace(refused=False)
    assert failed(forged(drafted=tuple(tokens)), target) == {"target_probs_again"}
    assert "rounds_whole" in failed(forged(masks=step.masks[:-1]))
    accepted = next((step for step in lookup.rounds if step.accepted), None)
    assert accepted is not None
    wrong = (accepted.drafted[0]._replace(refused=True), *accepted.drafted[1:])
    steps = [replace(one, drafted=wrong) if one is accepted else one for one in lookup.steps]
    assert "rounds_whole" in failed(replace(lookup, steps=tuple(steps)))


def test_a_drawn_round_s_mask_is_compared_with_its_probabilities_without_the_model() -> None:
    config = Speculative(
        max_new_tokens=6, drafter="prompt_lookup", seed=1, shaping=Shaping(constraint=RULE)
    )
    trace = collect(scripted(), "abcab", config)
    assert not failed(trace) and not failed(trace, scripted())
    step = trace.rounds[0]
    first = step.masks[0]
    assert (first.allowed, first.wanted.token_id) == (2, 1)
    for changes in (
        {"allowed": 1},
        {"log_mass": first.log_mass + 0.1},
        {"log_mass": first.log_mass - 0.1},
        {"wanted": None},
        {"wanted": first.wanted._replace(token_id=2)},
        {"wanted": first.wanted._replace(raw_prob=0.51)},
    ):
        masks = (first._replace(**changes), *step.masks[1:])
        steps = [replace(one, masks=masks) if one is step else one for one in trace.steps]
        assert "rounds_whole" in failed(replace(trace, steps=tuple(steps))), changes


@pytest.mark.parametrize("make", [searched, looked_up])
def test_masks_are_stored_and_files_from_before_them_still_open(make) -> None:
    trace = make()
    assert "constraint" in [entry.name for entry in entries_of(trace)]
    stored = json.loads(trace.to_json())
    assert read(stored).steps == trace.steps
    shorter = {**stored, "steps": [dict(step) for step in stored["steps"]]}
    shorter["steps"][1]["masks"] = shorter["steps"][1]["masks"] * 2
    with pytest.raises(TraceError, match="one mask for each"):
        read(shorter)
    for step in stored["steps"]:
        step.pop("masks", None)
        for token in step.get("drafted", ()):
            token.pop("refused", None)
    old = read(stored)
    assert not constrained_steps(old, path_of(old))
    assert "weren't recorded" in str(constraint_masses(old).to_dict())
    if trace.beam_steps:
        assert verdict(check(old, scripted())) == "proved"


def test_the_figure_draws_the_path_of_a_node_and_prices_the_best_one() -> None:
    trace = searched()
    free = collect(scripted(), "a", BeamSearch(num_beams=2, max_new_tokens=3))
    best = constraint_masses(trace, free=free)
    masses = [math.log(0.48), math.log(0.3), math.log(0.02)]
    assert list(best.data[0].y) == pytest.approx(masses, abs=1e-6)
    assert list(constraint_masses_data(trace)["mass"]) == pytest.approx([0.48, 0.3, 0.02])
    own = math.log(0.3) + math.log(0.3) + math.log(0.02)
    assert f"{own:.2f}".replace("-", "−") in best.layout.meta["subtitle"]
    assert "The free run's 3 tokens:" in best.layout.meta["subtitle"]
    place = next(at for at, c in enumerate(trace.beam_steps[0].candidates) if c.text == "c")
    node = constraint_masses(trace, node=(0, place), selected=0, free=free)
    assert list(node.data[0].y) == pytest.approx([math.log(0.48)], abs=1e-6)
    subtitle = node.layout.meta["subtitle"]
    assert "1 token of the path to step 1" in subtitle and "the best path here: −" in subtitle
    low = constraint_masses(trace).layout.annotations
    assert [note.text for note in low if note.name == "S"] == [
        "2.0\u00a0%",
        "30.0\u00a0%",
        "48.0\u00a0%",
    ]


def test_a_run_without_a_constraint_records_no_masks() -> None:
    model = load_model("embedded:target")
    for config in (
        BeamSearch(num_beams=2, max_new_tokens=3),
        Speculative(max_new_tokens=4, drafter="prompt_lookup"),
    ):
        trace = collect(model, "Once", config)
        assert all(token.mask is None for token in tokens_of(trace, path_of(trace)))
        assert not any("masks" in step for step in trace.to_dict()["steps"])


def test_a_text_that_is_as_likely_as_the_free_run_s_is_called_so() -> None:
    trace = searched()
    subtitle = constraint_masses(trace, free=trace).layout.meta["subtitle"]
    assert "as likely per token" in subtitle
    assert "less likely" not in subtitle and "more likely" not in subtitle
