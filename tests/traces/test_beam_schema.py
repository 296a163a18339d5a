"""The file of a beam search: the round trip, and files that look like one and are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from core import BeamSearch, Greedy, Trace, check, collect
from core.decoding.beam import types as beam
from tests.models.builders import random_language_model
from tests.traces.reading import assert_comes_back, changed, read, refusal, shorter

CONFIGS = {
    "plain": BeamSearch(num_beams=4, max_new_tokens=6, num_return_sequences=2),
    "drawn": BeamSearch(num_beams=3, max_new_tokens=6, do_sample=True, early_stopping="never"),
    "diverse": BeamSearch(
        num_beams=4, num_beam_groups=2, diversity_penalty=0.5, max_new_tokens=6, early_stopping=True
    ),
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Trace]:
    model = random_language_model("llama")
    model.eos_ids = frozenset(range(0, 300, 10))
    runs = {name: collect(model, "the fox", config) for name, config in CONFIGS.items()}
    return {name: run.with_checks(tuple(check(run))) for name, run in runs.items()}


@pytest.fixture
def data(runs: dict[str, Trace]) -> Any:
    return json.loads(json.dumps(runs["plain"].to_dict()))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_search_survives_the_round_trip(name: str, runs: dict[str, Trace], tmp_path) -> None:
    assert runs[name].hypotheses
    assert_comes_back(runs[name], tmp_path)


def test_other_methods_files_hold_no_hypotheses(runs: dict[str, Trace]) -> None:
    trace = collect(random_language_model("llama"), "the fox", Greedy(max_new_tokens=2))
    assert "hypotheses" not in trace.to_dict()
    hypotheses = runs["plain"].to_dict()["hypotheses"]
    assert "results of another method" in refusal({**trace.to_dict(), "hypotheses": hypotheses})


def _at(fate: str, /, **values: Any) -> Callable[[Any], Any]:
    """Changes the first candidate of a fate."""

    def change(step: Any) -> Any:
        columns = step["candidates"]
        place = columns["fate"].index(fate)
        for column, value in values.items():
            columns[column][place] = value
        return step

    return change


def _finished_without_end(step: Any) -> Any:
    step["finished_texts"].append("x")
    return _at("pruned", fate="finished", ended=None)(step)


def _one_candidate_twice(columns: Any) -> Any:
    return columns | {name: columns[name][:1] * 2 + columns[name][2:]
                      for name in ("parent", "token_id")}  # fmt: skip


def _wider_beam(step: Any) -> Any:
    wider = {name: [*step[name], 0] for name in ("groups", "entropies")}
    return step | wider | {"kept_logprobs": [[*row, None] for row in step["kept_logprobs"]]}


def _of_path(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Changes the tokens of a hypothesis with their parents."""
    return lambda found: found | {name: change(found[name]) for name in ("token_ids", "parents")}


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("steps.2.candidates.parent.0", 4, "no row of its beam"),
        ("steps.2", _at("pruned", row=4), "takes a row"),
        ("steps.2", _at("kept", row=None), "takes a row"),
        (
            "steps.2.candidates.row",
            lambda rows: [0 if row == 1 else row for row in rows],
            "are not numbered from 0",
        ),
        ("steps.2", _finished_without_end, "nothing ended"),
        ("steps.2.candidates", _one_candidate_twice, "listed twice"),
        ("steps.2.candidates.rank", shorter, "columns differ"),
        ("steps.2.entropies", shorter, "one number for each row"),
        ("steps.2.kept_logprobs", shorter, "one row for each kept"),
        ("steps.2.kept_logprobs.0", shorter, "one number for each row"),
        ("steps.2.finished_texts", lambda texts: [*texts, "x"], "one text for each finished"),
        ("steps", lambda steps: steps[:1] + steps[2:], "once for each group"),
        ("steps.3", _wider_beam, "not what the step before it kept"),
        ("steps.1.groups", [1], "a group that the settings don't have"),
        ("config", {"method": "greedy"}, "of another method"),
        ("hypotheses.0.token_ids.0", 299, "no path of the tree"),
        ("hypotheses.0", _of_path(shorter), "no path of the tree"),
        ("hypotheses.0.parents", shorter, "one parent for each token"),
        ("hypotheses.0", _of_path(lambda values: values * 9), "too long"),
        ("finish_reason", "cancelled", "cancelled run"),
        ("steps.1.candidates.fate.0", "x" * 1_000_000, "fate.0"),
        ("steps.1.candidates.fate.0", "lucky", "fate.0"),
        ("steps.1.candidates.ended.0", "bored", "ended.0"),
        ("steps.1.candidates.text.0", "x" * 3_000, "text.0"),
        ("steps.1.origin", "forced", "origin"),
        ("steps.1.candidates.logprob.0", float("nan"), "logprob.0"),
        ("steps.1.finished_texts", ["x" * 3_000_000], "finished_texts"),
        ("steps.1.surprise", 1, "no field"),
        ("hypotheses.0.surprise", 1, "no field"),
        ("hypotheses", [1] * 1_000, "hypotheses"),
        ("config.num_beams", 10**400, "num_beams must lie in"),
        ("config.num_beam_groups", "x" * 1_000_000, "must be a whole number"),
        ("config.num_beam_groups", 10**9, ""),
        ("config.num_beam_groups", 10**400, ""),
        ("config.early_stopping", ["never"], "True, False or 'never'"),
        ("config.length_penalty", 1e300, "length_penalty must lie in"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, str) else type(value).__name__,
)
def test_a_search_that_contradicts_itself_is_refused_in_one_short_sentence(
    data: Any, path: str, value: object, words: str
) -> None:
    read(data)
    assert words in refusal(changed(data, path, value))


def test_more_candidates_than_any_beam_has_are_refused(data: Any) -> None:
    def many(columns: Any) -> Any:
        return {n: column[:1] * (beam.MAX_BEAM_CANDIDATES + 1) for n, column in columns.items()}

    assert "candidates" in refusal(changed(data, "steps.2.candidates", many))


def test_a_long_search_with_many_beams_stays_small() -> None:
    model = random_language_model("llama")
    model.eos_ids = frozenset()
    trace = collect(model, "the fox", BeamSearch(num_beams=16, max_new_tokens=60))
    assert len(json.dumps(trace.to_dict(), separators=(",", ":"))) < 1_000_000
