"""A way that can't be run is named with its reason, and the others go on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core import Greedy, ModelError, PromptError, Sampling, Shaping, Speculative, load_model
from core.cli.main import main
from core.decoding.errors import EvaluationError, LostModelError
from core.decoding.protocol import Wrapped
from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.run import evaluate_to_file, loaded, run_evaluation
from core.evaluation.plan.statistics import (
    Failure,
    agreement,
    all_paired,
    failures,
    fair_rows,
    frame_of,
    results,
)
from core.evaluation.plan.types import EvaluationPlan, Way
from core.evaluation.questions.types import Question, QuestionSet
from core.evaluation.votes.best_of import of_way
from core.figures.evaluate.accuracy import evaluate_accuracy
from core.figures.evaluate.agreement import evaluate_agreement
from core.models.scripted import ScriptedModel

ASKED = QuestionSet(
    "q", (Question("q0", "Paris?", ("Paris",)), Question("q1", "Oslo?" * 60, ("x",)))
)
PLAIN = Way("plain", Greedy(max_new_tokens=4), model="draft")
TOLD = Way("told", Greedy(max_new_tokens=4), model="strict", system="Be brief.")
NARROW = Way("narrow", Greedy(max_new_tokens=4), model="narrow")
OTHER = Way("other draft", Speculative(shaping=Shaping(temperature=0)), "draft", "scripted")
DRAWN = Way("drawn", Sampling(max_new_tokens=4), model="draft", samples=2)
PLAN = EvaluationPlan(ASKED, (TOLD, PLAIN, NARROW, OTHER, DRAWN))


class Strict(Wrapped):
    """A model whose chat template has no system role."""

    def encode_chat(self, messages, **options):
        if messages[0]["role"] == "system":
            raise PromptError("The chat template refuses the system role.")
        return self._inner.encode_chat(messages, **options)


class Narrow(Wrapped):
    context_window = 60


class Lost(Wrapped):
    def start(self, *_, **__):
        raise LostModelError("The server is gone.")


@pytest.fixture(scope="module")
def models():
    draft = load_model("embedded:draft")
    tiny = ScriptedModel({(): [0.5, 0.5]}, tokens=("<end>", "a"))
    return {"draft": draft, "strict": Strict(draft), "narrow": Narrow(draft), "scripted": tiny}


def test_the_other_ways_go_on_and_are_compared_where_all_have_runs(models) -> None:
    done = run_evaluation(models, PLAN)
    assert done.complete
    template_failure, narrow, draft_failure = failures(done)
    assert template_failure == Failure(
        "told", 2, True, "The chat template refuses the system role."
    )
    assert (
        template_failure.sentence == "Way told failed: The chat template refuses the system role."
    )
    assert (narrow.way, narrow.runs, narrow.whole) == ("narrow", 1, False)
    assert "context window holds 60" in narrow.sentence and "in 1 run" in narrow.sentence
    assert (draft_failure.way, draft_failure.whole) == (
        "other draft",
        True,
    ) and "vocabulary" in draft_failure.reason
    assert {row.question for row in fair_rows(done)} == {"q0"}
    assert [compared.way for compared in results(done)] == ["plain", "narrow", "drawn"]
    assert [(compared.one, compared.other) for compared in all_paired(done)] == [
        ("plain", "narrow"), ("plain", "drawn")
    ]  # fmt: skip
    assert agreement(done)["plain", "narrow"].value == 1
    assert of_way(done, "told") == () and len(of_way(done, "drawn")) == 2
    assert list(frame_of(done)["failure"]).count("") == 7
    for draw in (evaluate_accuracy, evaluate_agreement):
        subtitle = draw(done).layout.meta["subtitle"]
        assert (
            "1 of 2 questions are left out" in subtitle
            and "left out: told, other draft." in subtitle
        )


def test_the_file_keeps_why_and_a_run_that_failed_is_done_again(models, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    first = evaluate_to_file(models, PLAN, path)
    assert failures(read_evaluation(path)) == failures(first) != ()
    mended = models | {"strict": models["draft"], "narrow": models["draft"]}
    seen = []
    again = evaluate_to_file(mended, PLAN, path, on_row=lambda row, _: seen.append(row.way))
    assert seen == ["told", "other draft", "told", "narrow", "other draft"]
    assert again.complete and [failure.way for failure in failures(again)] == ["other draft"]
    stored = read_evaluation(path)
    assert stored.complete and failures(stored) == failures(again)
    assert set(stored.rows) == set(evaluate_to_file(mended, PLAN, path).rows)


def test_all_ways_may_fail(models) -> None:
    done = run_evaluation(models, replace(PLAN, ways=(TOLD,)))
    assert results(done) == all_paired(done) == () and len(failures(done)) == 1
    for draw in (evaluate_accuracy, evaluate_agreement):
        assert any("No question" in note.text for note in draw(done).layout.annotations)


def test_a_server_that_is_gone_ends_the_evaluation(models) -> None:
    with pytest.raises(EvaluationError, match="server is gone"):
        run_evaluation(models | {"narrow": Lost(models["draft"])}, PLAN)


def test_a_model_that_cannot_be_loaded_is_named_with_its_way() -> None:
    def load(name: str):
        if name == "narrow":
            raise ModelError("There is no folder narrow.")

    with pytest.raises(ModelError, match=r"no folder narrow\. Way 'narrow' needs it\.$"):
        loaded(PLAN, load)


def test_the_command_names_the_way_that_failed_and_ends_with_1(tmp_path: Path, capsys) -> None:
    plan, rows = tmp_path / "plan.yaml", tmp_path / "rows.jsonl"
    long = "Ω✓ " * 700
    plan.write_text(
        "questions: own:facts\ncount: 2\nways:\n"
        "  - {name: short, model: embedded:draft, config: {max_new_tokens: 3, method: greedy}}\n"
        f"  - {{name: long, model: embedded:draft, system: {long}}}\n"
    )
    assert main(["evaluate", str(plan), "--out", str(rows)]) == 1
    shown = capsys.readouterr()
    assert "short" in shown.out and "long" not in shown.out
    assert "Way long failed: The prompt has" in shown.err
