"""The file of a speculative run: the round trip, and files that look like one and are none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core import Greedy, Speculative, Trace, check, collect
from tests.models.builders import random_language_model
from tests.traces.reading import assert_comes_back, changed, refusal, shorter

CONFIGS = {
    "speculative": Speculative(max_new_tokens=8, seed=3),
    "exact": Speculative(max_new_tokens=8, acceptance="exact", scoring="batch_expansion"),
    "typical": Speculative(max_new_tokens=8, acceptance="typical", adaptive=True),
    "tree": Speculative(max_new_tokens=8, tree_widths="2,1", tree_picks="with_replacement"),
    "dynamic": Speculative(max_new_tokens=8, tree_nodes=5),
    "block": Speculative(max_new_tokens=8, acceptance="block"),
    "lookup": Speculative(max_new_tokens=8, drafter="prompt_lookup"),
}


@pytest.fixture(scope="module")
def runs() -> dict[str, Trace]:
    model, draft = random_language_model("llama"), random_language_model("llama", seed=1)
    model.eos_ids = frozenset()
    traces = {}
    for name, config in CONFIGS.items():
        second = draft if config.drafter == "model" else None
        run = collect(model, "the fox, the hat", config, draft=second)
        traces[name] = run.with_checks(tuple(check(run)))
    return traces


@pytest.fixture
def data(runs: dict[str, Trace]) -> Any:
    return json.loads(json.dumps(runs["speculative"].to_dict()))


@pytest.mark.parametrize("name", CONFIGS)
def test_a_run_survives_the_round_trip(name: str, runs: dict[str, Trace], tmp_path) -> None:
    assert runs[name].rounds
    assert runs[name].draft_id == ("" if name == "lookup" else "random llama")
    assert_comes_back(runs[name], tmp_path)


def test_other_methods_files_hold_no_draft() -> None:
    trace = collect(random_language_model("llama"), "the fox", Greedy(max_new_tokens=2))
    assert "draft_id" not in trace.to_dict()
    assert "results of another method" in refusal({**trace.to_dict(), "draft_id": "x"})


def _without_recovered(steps: Any) -> Any:
    next(step for step in steps[1:] if step["recovered"])["recovered"] = None
    return steps


def _out_of_order(steps: Any) -> Any:
    drafted = next(step for step in steps[1:] if len(step["drafted"]) > 1)["drafted"]
    drafted[0] |= {"outcome": "not_reached"}
    drafted[1] |= {"outcome": "accepted"}
    return steps


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("steps.1.drafted.0.candidates.text", shorter, "differ in length"),
        ("steps.1.drafted.0.candidates.token_id", lambda ids: [ids[1], *ids[1:]], "listed twice"),
        ("steps.1.drafted.0.token_id", 299_999, "not among the candidates"),
        ("steps", _without_recovered, "come together"),
        ("steps", _out_of_order, "accepted tokens don't come first"),
        ("steps.1.index", 5, "numbered from 0"),
        ("token_ids.0", lambda token: token + 1, "not the trace's"),
        ("steps.1.drafted", lambda drafted: drafted * 65, "64"),
        ("steps.1.finish_reason", "stop", "before the last one"),
        ("config", {"method": "greedy"}, "another method"),
        *(
            (f"steps.1.{path}", value, "invalid")
            for path, value in (
                ("draft_length", 65),
                ("draft_length", -1),
                ("draft_end", "boredom"),
                ("drafted.0.draft_prob", 0.0),
                ("drafted.0.draft_prob", 1.5),
                ("drafted.0.uniform", 1.0),
                ("drafted.0.passed", 1),
                ("drafted.0.outcome", "maybe"),
                ("drafted.0.residual_mass", -0.1),
                ("drafted.0.draft_interval", [0.1]),
                ("drafted.0.draft_uniform", None),
                ("drafted.0.candidates.draft_prob", None),
                ("target_cache.after", -1),
                ("seconds.score", float("inf")),
                ("texts", []),
                ("surprise", "<script>"),
            )
        ),
    ],
)
def test_a_spoiled_file_gets_one_sentence(path: str, value: object, words: str, data: Any) -> None:
    assert words in refusal(changed(data, path, value))


def test_settings_are_checked_by_their_own_class(data: Any) -> None:
    wrong = changed(data, "config.draft_length", 100)
    assert " draft_length must lie in [1, 64]" in refusal(wrong)
    assert "has no setting" in refusal(changed(data, "config.unknown", 1))
