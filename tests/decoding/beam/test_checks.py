"""Every check of a beam search can fail: a trace is forged, and the check of that name finds it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core import BeamSearch, Greedy, Shaping, Trace, check, collect
from core.decoding.beam.model_checks import SAME_HYPOTHESES
from core.decoding.beam.types import BeamStep, Hypothesis, ReferencePath, SearchRecord
from tests.decoding.checks.forging import failed as _failed
from tests.decoding.checks.forging import forge as _forge
from tests.models.builders import random_language_model

SUMS = "path_sums"
FATES = "survivors"
TABLE = "survivors_table"
ENTROPY = "entropy"
FOLLOW = "hypotheses_of_steps"
OUTCOME = "best_hypothesis"
ENDINGS = "path_ends"
WHOLE = "tree_whole"
RESCORED = "tree_rescored"
FITS = "fits_model"
TEXTS = "tokenizer_text"


@pytest.fixture(scope="module")
def model():
    model = random_language_model("qwen2")
    model.eos_ids = frozenset(range(0, 300, 12))
    return model


KINDS = {
    "plain": {},
    "penalised": {"shaping": Shaping(repetition_penalty=1.3, no_repeat_ngram_size=2)},
    "drawn": {"do_sample": True, "shaping": Shaping(temperature=0.8, top_k=60)},
    "diverse": {"num_beam_groups": 2, "diversity_penalty": 0.6},
}


@pytest.fixture(scope="module", params=KINDS)
def trace(request, model) -> Trace:
    config = BeamSearch(num_beams=4, max_new_tokens=7, stop_strings=("zz",), **KINDS[request.param])
    trace = collect(model, "the fox had", config)
    assert len(trace.beam_steps) >= 3
    return trace


def _with_hypotheses(trace: Trace, *hypotheses: Hypothesis) -> Trace:
    return replace(trace, method_record=SearchRecord(hypotheses))


def _candidate(trace: Trace, at: int, fate: str, **changes) -> Trace:
    """The first candidate of a fate, changed."""
    step = trace.beam_steps[at]
    place = next(i for i, c in enumerate(step.candidates) if c.fate == fate)
    candidates = list(step.candidates)
    candidates[place] = candidates[place]._replace(**changes)
    return _forge(trace, at, candidates=tuple(candidates))


def _first(step: BeamStep, fate: str):
    return next(c for c in step.candidates if c.fate == fate)


def _swap_fates(trace: Trace) -> Trace:
    step = trace.beam_steps[1]
    survivor, pruned = (
        step.kept[0],
        next(c for c in step.candidates if c.fate == "pruned" and step.group_of(c) == 0),
    )
    swapped = {
        survivor: survivor._replace(fate="pruned", row=None),
        pruned: pruned._replace(fate="kept", row=0),
    }
    return _forge(trace, 1, candidates=tuple(swapped.get(c, c) for c in step.candidates))


def _other_table(trace: Trace) -> Trace:
    table = trace.beam_steps[1].kept_logprobs
    row = tuple(None if value is None else value - 0.5 for value in table[0])
    return _forge(trace, 1, kept_logprobs=(row, *table[1:]))


def test_an_honest_trace_passes_every_check(trace, model) -> None:
    assert _failed(trace, model) == set()
    assert len(check(trace, model)) >= 13


FORGERIES = {
    "another sum": (lambda t: _candidate(t, 1, "pruned", cum_logprob=-1.0), SUMS),
    "another log-probability": (
        lambda t: _candidate(t, 1, "kept", logprob=_first(t.beam_steps[1], "kept").logprob + 0.01),
        SUMS,
    ),
    "a survivor and a pruned one swapped": (_swap_fates, FATES),
    "another rank": (lambda t: _candidate(t, 1, "kept", rank=50), FATES),
    "another origin": (
        lambda t: _forge(
            t, 1, origin="argmax" if t.beam_steps[1].origin == "sampled" else "sampled"
        ),
        FATES,
    ),
    "another table": (_other_table, TABLE),
    "no entropy": (lambda t: _forge(t, 1, entropies=(0.0,) * len(t.beam_steps[1].groups)), ENTROPY),
    "another score": (
        lambda t: _with_hypotheses(t, t.hypotheses[0]._replace(score=-0.1), *t.hypotheses[1:]),
        FOLLOW,
    ),
    "a hypothesis left out": (lambda t: _with_hypotheses(t, *t.hypotheses[1:]), FOLLOW),
    "another length penalty": (
        lambda t: replace(t, config=replace(t.config, length_penalty=-1.0)),
        FOLLOW,
    ),
    "the last step left out": (lambda t: replace(t, steps=t.steps[:-1]), FOLLOW),
    "cancelled": (lambda t: replace(t, finish_reason="cancelled"), FOLLOW),
    "other tokens": (lambda t: replace(t, token_ids=t.token_ids[:-1]), OUTCOME),
    "another text": (lambda t: replace(t, text=t.text + "!"), OUTCOME),
    "steps numbered otherwise": (lambda t: _forge(t, 1, index=5), WHOLE),
    "an end in the middle": (lambda t: _forge(t, 1, finish_reason="eos"), OUTCOME),
    "another finish reason": (lambda t: replace(t, finish_reason="stop"), OUTCOME),
    "another limit": (lambda t: _forge(t, 1, limit=9), ENDINGS),
    "an end before min_new_tokens": (
        lambda t: replace(t, config=replace(t.config, min_new_tokens=7)),
        ENDINGS,
    ),
    "a parent beyond the beam": (lambda t: _candidate(t, 1, "kept", parent=60), WHOLE),
    "one row for two": (
        lambda t: _forge(
            t,
            1,
            candidates=tuple(
                c._replace(row=0) if c.row is not None else c for c in t.beam_steps[1].candidates
            ),
        ),
        WHOLE,
    ),
    "no text": (
        lambda t: _forge(t, len(t.beam_steps) - 1, finished_texts=()),
        WHOLE,
    ),
    "a step left out": (
        lambda t: replace(t, steps=(t.steps[0], *t.steps[2:])),
        WHOLE,
    ),
    "a later step left out": (
        lambda t: replace(t, steps=(*t.steps[:2], *t.steps[3:])),
        WHOLE,
    ),
    "a narrower beam": (
        lambda t: _forge(
            t,
            1,
            groups=(0,),
            entropies=(1.0,),
            kept_logprobs=tuple(row[:1] for row in t.beam_steps[1].kept_logprobs),
        ),
        WHOLE,
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_search_is_found_out(trace, forgery) -> None:
    forge, name = FORGERIES[forgery]
    assert name in _failed(forge(trace))


def _off_the_hypotheses(trace: Trace, at: int) -> int:
    """A row of a step's beam that no hypothesis goes through."""
    through = {h.parents[at] for h in trace.hypotheses if at < len(h.parents)}
    rows = set(range(len(trace.beam_steps[at].groups))) - through
    assert rows, "every row belongs to a hypothesis; take another step"
    return min(rows)


def _without(trace: Trace, at: int, hidden) -> Trace:
    """A candidate left out; the ranks below it close up."""
    others = [c for c in trace.beam_steps[at].candidates if c is not hidden]
    ranked = tuple(c._replace(rank=rank) for rank, c in enumerate(others, start=1))
    return _forge(trace, at, candidates=ranked)


@pytest.mark.parametrize("place", ["first", "last"])
def test_a_candidate_that_was_left_out_is_found(model, place) -> None:
    trace = collect(model, "the fox had", BeamSearch(num_beams=3, max_new_tokens=5))
    pruned = [c for c in trace.beam_steps[2].candidates if c.fate == "pruned" and not c.ended]
    forged = _without(trace, 2, pruned[0 if place == "first" else -1])
    assert _failed(forged) == set()
    assert _failed(forged, model) == {RESCORED}


def test_a_row_that_no_hypothesis_goes_through_is_rescored_too(model) -> None:
    trace = collect(model, "the fox had", BeamSearch(num_beams=4, max_new_tokens=7))
    row = _off_the_hypotheses(trace, 2)
    step = trace.beam_steps[2]
    moved = tuple(
        c._replace(raw_logprob=c.raw_logprob + 0.1) if c.parent == row else c
        for c in step.candidates
    )
    assert any(c.parent == row for c in step.candidates)
    outcomes = {o.name: o for o in check(_forge(trace, 2, candidates=moved), model)}
    assert outcomes[RESCORED].value == pytest.approx(0.1, abs=1e-3)
    assert "at step 3" in outcomes[RESCORED].detail
    entropies = tuple(e + 0.1 * (at == row) for at, e in enumerate(step.entropies))
    assert RESCORED in _failed(_forge(trace, 2, entropies=entropies), model)


def test_the_table_that_the_guess_reads_is_rescored(trace, model) -> None:
    """Another row's number, which no other number of the trace contradicts."""
    step = trace.beam_steps[2]
    survivor, numbers = step.kept[0], step.kept_logprobs[0]
    place = next(
        at
        for at, number in enumerate(step.groups)
        if number == step.group_of(survivor) and at != survivor.parent and numbers[at] is not None
    )
    for value in (numbers[place] - 0.1, None):
        row = tuple(value if at == place else number for at, number in enumerate(numbers))
        forged = _forge(trace, 2, kept_logprobs=(row, *step.kept_logprobs[1:]))
        assert _failed(forged) == set()
        assert _failed(forged, model) == {RESCORED}


def _others(step: BeamStep) -> tuple:
    """Return more pruned candidates than a step of four beams can have."""
    pruned = _first(step, "pruned")
    return tuple(pruned._replace(token_id=1 + 12 * n, rank=100 + n) for n in range(24)) * 6


FOR_THE_MODEL = {
    "an id outside the vocabulary": lambda t: _candidate(t, 0, "pruned", token_id=10**6),
    "no prompt": lambda t: replace(t, prompt_ids=()),
    "a prompt beyond the window": lambda t: replace(t, prompt_ids=(1,) * 5000),
    "another model": lambda t: replace(t, model_id="another"),
    "an end that is none": lambda t: _candidate(t, 0, "pruned", ended="eos"),
    "another limit": lambda t: _forge(t, 0, limit=5),
    "too many candidates": lambda t: _forge(
        t, 0, candidates=(*t.beam_steps[0].candidates, *_others(t.beam_steps[0]))
    ),
}


@pytest.mark.parametrize("forgery", FOR_THE_MODEL)
def test_a_trace_that_cannot_be_the_model_s_fails_and_runs_nothing(trace, model, forgery) -> None:
    outcomes = {o.name: o for o in check(FOR_THE_MODEL[forgery](trace), model)}
    assert not outcomes[FITS].passed
    assert RESCORED not in outcomes


def test_texts_that_are_not_the_tokens_are_found(trace, model) -> None:
    assert _failed(_candidate(trace, 1, "pruned", text="lie"), model) == {TEXTS}


def test_steps_of_another_method_are_found(model) -> None:
    beams = collect(model, "the fox", BeamSearch(num_beams=2, max_new_tokens=3))
    greedy = collect(model, "the fox", Greedy(max_new_tokens=3))
    assert WHOLE in _failed(replace(beams, steps=greedy.steps))
    assert _failed(replace(greedy, steps=beams.steps)) != set()


def _with_reference(model, monkeypatch, paths) -> None:
    monkeypatch.setattr(type(model), "reference_paths", lambda *_: paths)


@pytest.mark.parametrize("difference", ["score", "order", "parent", "token", "missing"])
def test_a_reference_that_finds_something_else_fails(model, monkeypatch, difference) -> None:
    trace = collect(model, "the fox", BeamSearch(num_beams=3, max_new_tokens=5))
    paths = [ReferencePath(h.token_ids, h.score, h.parents) for h in trace.hypotheses]
    first = paths[0]
    changed = {
        "score": [first._replace(score=first.score - 0.01), *paths[1:]],
        "order": paths[::-1],
        "parent": [first._replace(parents=(0, 2, *first.parents[2:])), *paths[1:]],
        "token": [first._replace(token_ids=(299, *first.token_ids[1:])), *paths[1:]],
        "missing": paths[1:],
    }
    assert first.parents[:2] != (0, 2)
    for expected, passes in ((paths, True), (changed[difference], False)):
        _with_reference(model, monkeypatch, expected)
        assert next(o for o in check(trace, model) if o.name == SAME_HYPOTHESES).passed is passes


def _with_gap(trace: Trace, at: int, gap: float) -> Trace:
    """The second row that a step keeps, moved to so many nats behind the first."""
    step = trace.beam_steps[at]
    close = step.kept[0].cum_logprob - gap
    moved = (c._replace(cum_logprob=close) if c.row == 1 else c for c in step.candidates)
    return _forge(trace, at, candidates=tuple(moved))


def _swapped(trace: Trace, at: int) -> list[ReferencePath]:
    """The same hypotheses by a search that had the first two rows of a step's beam swapped."""
    rows = {0: 1, 1: 0}
    paths = [ReferencePath(h.token_ids, h.score, h.parents) for h in trace.hypotheses]
    swapped = [
        path._replace(
            parents=tuple(rows.get(p, p) if n == at else p for n, p in enumerate(path.parents))
        )
        for path in paths
    ]
    assert swapped != paths, f"no hypothesis goes through the first rows of step {at}"
    return swapped


def test_two_rows_may_be_swapped_only_where_they_tie(model, monkeypatch) -> None:
    trace = collect(model, "the fox", BeamSearch(num_beams=3, max_new_tokens=5))
    _with_reference(model, monkeypatch, _swapped(trace, 1))
    honest = next(o for o in check(trace, model) if o.name == SAME_HYPOTHESES)
    assert honest.value > 10 * honest.tolerance
    for share, passes in ((0.5, True), (2.0, False)):
        near = _with_gap(trace, 0, share * honest.tolerance)
        outcome = next(o for o in check(near, model) if o.name == SAME_HYPOTHESES)
        assert outcome.passed is passes
        assert outcome.value == pytest.approx(share * honest.tolerance, rel=1e-6)


def test_a_tie_at_one_step_excuses_nothing_at_another(model, monkeypatch) -> None:
    trace = collect(model, "the fox", BeamSearch(num_beams=3, max_new_tokens=5))
    tied = _with_gap(trace, 0, 0.0)
    paths = _swapped(trace, 1)
    last = trace.hypotheses[-1]
    straying = ReferencePath((*last.token_ids[:3], 299), last.score, last.parents[:4])
    assert all(c.token_id != 299 for c in trace.beam_steps[3].candidates)
    for expected, passes in ((paths, True), ([*paths[:-1], straying], False)):
        _with_reference(model, monkeypatch, expected)
        outcome = next(o for o in check(tied, model) if o.name == SAME_HYPOTHESES)
        assert outcome.passed is passes
    assert "part at step 4" in outcome.detail


def test_a_cancelled_search_is_checked_as_far_as_it_went(model) -> None:
    seen: list[object] = []
    trace = collect(
        model,
        "the fox",
        BeamSearch(num_beams=3, max_new_tokens=9, min_new_tokens=9),
        on_step=seen.append,
        should_stop=lambda: len(seen) >= 4,
    )
    assert trace.finish_reason == "cancelled"
    assert _failed(trace, model) == set()
    assert SAME_HYPOTHESES not in {outcome.name for outcome in check(trace, model)}
