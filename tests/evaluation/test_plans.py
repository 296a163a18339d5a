"""Plans in YAML, rows on disk, and what the rows add up to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from core import (
    BeamSearch,
    ConfigError,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    collect,
    load_model,
)
from core.cli.main import main
from core.decoding.errors import EvaluationError
from core.evaluation.plan.asking import ids_for, warnings
from core.evaluation.plan.counted import Counted
from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.leaks import find_leaks
from core.evaluation.plan.plan_file import read_plan, take, write_plan
from core.evaluation.plan.rows import reply_of
from core.evaluation.plan.run import run_evaluation, with_revisions
from core.evaluation.plan.statistics import (
    agreement,
    all_paired,
    fair_rows,
    frame_of,
    mcnemar,
    paired,
    results,
)
from core.evaluation.plan.types import Evaluation, EvaluationPlan, Way
from core.evaluation.plan.variety import varieties
from core.evaluation.questions.own import own_questions
from core.evaluation.questions.types import Question, QuestionSet
from tests.depth import slow

ROOT = Path(__file__).parents[2]
FEW = take(own_questions("mixed"), 4)
GREEDY = Way("greedy", Greedy(max_new_tokens=40))
COLD = Speculative(max_new_tokens=40, shaping=Shaping(temperature=0))
DRAFTED = Way("drafted", COLD, draft="embedded:draft")
PLAN = EvaluationPlan(
    FEW,
    (
        GREEDY,
        DRAFTED,
        replace(DRAFTED, name="own prompt", draft_use_chat_template=False),
        Way("beam", BeamSearch(num_beams=2, max_new_tokens=40), use_chat_template=False),
        Way("drawn", Sampling(max_new_tokens=20), samples=2, system="Answer with one word."),
    ),
)
YAML = b"""
questions: own:facts
count: 3
metrics: [contains]
ways:
  - name: a
    use_chat_template: [true, false]
    system: ["", Be brief.]
    config: {method: greedy, max_new_tokens: 5}
  - name: b
    draft: embedded:draft
    draft_use_chat_template: false
    config: {method: speculative, shaping: {temperature: 0}}
"""


@pytest.fixture(scope="module")
def models():
    return {name: load_model(name) for name in PLAN.models}


@pytest.fixture(scope="module")
def done(models):
    return run_evaluation(models, PLAN)


def texts(evaluation, way):
    return [(row.question, row.text) for row in evaluation.rows if row.way == way]


def test_greedy_equals_generate_question_by_question(models, done) -> None:
    model = models["embedded:target"]
    rows = {row.question: row for row in done.rows if row.way == "greedy"}
    for question in FEW.questions:
        ids = ids_for(model, question, "", True)
        expected = model.reference_token_ids(ids, GREEDY.config)
        assert list(collect(model, ids, GREEDY.config).token_ids) == expected
        row = rows[question.key]
        assert row.tokens == len(expected) and row.forwards == len(expected)


def test_forwards_of_earlier_layers_count(models) -> None:
    counted = Counted(models["embedded:target"])
    config = Greedy(max_new_tokens=6, shaping=Shaping(dola_layers="low"))
    run = collect(counted.as_model(), "Once upon", config)
    assert counted.forwards == 2 * len(run.token_ids)


def test_speculative_greedy_gives_greedys_very_answers_whatever_the_draft_reads(done) -> None:
    assert texts(done, "drafted") == texts(done, "greedy")
    assert texts(done, "own prompt") == texts(done, "greedy")
    cold, own_prompt = ([r for r in done.rows if r.way == way] for way in ("drafted", "own prompt"))
    assert sum(row.accepted for row in cold) > 0
    assert all(row.draft_forwards > row.forwards >= 2 for row in cold)
    greedy = {r.question: r for r in done.rows if r.way == "greedy"}
    # A round emits what was accepted and one more; before them comes the prompt's own forward.
    assert all(r.tokens - r.accepted <= r.forwards <= greedy[r.question].tokens + 1 for r in cold)
    assert [r.drafted for r in cold] != [r.drafted for r in own_prompt]


def test_a_draft_with_a_prompt_of_its_own_drafts_as_if_it_stood_alone(models) -> None:
    """Its first proposals are what it writes greedily behind its own prompt."""
    question = FEW.questions[0]
    target, draft = models["embedded:target"], models["embedded:draft"]
    alone = collect(draft, ids_for(draft, question, "", False), Greedy(max_new_tokens=4))
    from core.evaluation.plan.counted import OwnPrompt

    ids = ids_for(target, question, "", True)
    prompted = OwnPrompt(draft)
    prompted.read(ids, ids_for(draft, question, "", False))
    trace = collect(target, ids, COLD, draft=prompted.as_model())
    drafted = [token.token_id for token in trace.rounds[0].drafted]
    assert drafted == list(alone.token_ids[: len(drafted)]) and drafted


def test_a_plan_multiplies_lists_and_is_written_as_it_is_read() -> None:
    plan = read_plan(YAML)
    assert [way.name for way in plan.ways] == [
        "a · template · no system prompt",
        "a · template · Be brief.",
        "a · no template · no system prompt",
        "a · no template · Be brief.",
        "b",
    ]
    assert plan.ways[4].config == Speculative(shaping=Shaping(temperature=0))
    assert plan.metrics == ("contains",) and len(plan.questions.questions) == 3
    assert read_plan(write_plan(plan, "own:facts").encode()) == plan
    # A written plan names its models: another default changes nothing.
    assert read_plan(write_plan(plan, "own:facts").encode(), model="some/other") == plan
    assert read_plan(YAML, model="some/other").models[0] == "some/other"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a: [", "Line 1 of the plan is not YAML"),
        (b"- 1", "must be an object with questions and ways"),
        (b"a: &x [1]\nb: *x", "holds an alias"),
        (b"questions: own:facts", "A plan needs ways"),
        (b"colour: 1", "A plan has no setting 'colour'"),
        (b"questions: own:facts\nways: [{name: a, temperature: 1}]", "A way has no setting"),
        (b"questions: own:facts\nways: [{name: a, config: {method: x}}]", "method must be one of"),
        (b"questions: own:facts\nways: [{name: a}, {name: a}]", "2 ways have the name 'a'"),
        (b"questions: own:facts\nways: [{}]", "A way needs a name"),
        (b"questions: q.csv\nways: [{name: a}]", "names the file 'q.csv'"),
        (b"questions: own:facts\nways: [{name: a, samples: 2}]", "samples must be 1"),
        (b"questions: own:facts\nways: [{name: a, use_chat_template: 5}]", "must be bool"),
        (b"questions: own:facts\nways: [{name: a, draft: x}]", "has no use for a draft"),
        (b"questions: own:facts\ncount: 0\nways: [{name: a}]", "count must be a whole number"),
        (b"questions: own:facts\nmetrics: [x]\nways: [{name: a}]", "metrics must be some of"),
        (b"\xff\xfe\x00", "is not YAML"),
    ],
)
def test_a_fault_of_a_plan_is_one_sentence(data: bytes, text: str) -> None:
    with pytest.raises(EvaluationError, match=text):
        read_plan(data)


def test_a_file_of_questions_is_looked_for_beside_the_plan(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("question,answer\na,b\n")
    (tmp_path / "plan.yaml").write_text("questions: q.csv\nways: [{name: a}]")
    assert read_plan(tmp_path / "plan.yaml").questions.questions[0].answers == ("b",)


def test_a_row_whose_reference_has_no_tokens_is_refused() -> None:
    plan, row = (ROOT / "assets/evaluation/beam.jsonl").read_bytes().splitlines()[:2]
    spoiled = json.dumps(json.loads(row) | {"reference_tokens": 0}).encode()
    with pytest.raises(EvaluationError, match=r"Line 2.*reference_tokens of 1 or more"):
        read_evaluation(plan + b"\n" + spoiled + b"\n")


def test_the_command_goes_on_from_what_a_killed_one_left(tmp_path: Path, capsys) -> None:
    plan, rows = tmp_path / "plan.yaml", tmp_path / "rows.jsonl"
    plan.write_text("questions: own:facts\ncount: 5\nways: [{name: a, model: embedded:draft}]")
    arguments = ["evaluate", str(plan), "--out", str(rows)]
    assert main(arguments) == 0
    whole = rows.read_bytes().splitlines(keepends=True)
    rows.write_bytes(b"".join(whole[:4]) + whole[4][:20])
    before = read_evaluation(rows)
    assert len(before.rows) == 3
    capsys.readouterr()
    assert main(arguments) == 0
    after = read_evaluation(rows)
    assert after.complete and after.rows[:3] == before.rows
    assert "95 % interval" in capsys.readouterr().out


def test_the_command_prints_the_accepted_share_of_the_ways_that_draft(
    tmp_path: Path, capsys
) -> None:
    """From the stored rows, so that nothing is run."""
    rows = tmp_path / "rows.jsonl"
    stored = ROOT / "assets/evaluation/hot-draft.jsonl"
    rows.write_bytes(stored.read_bytes())
    plan = str(ROOT / "assets/evaluation/hot-draft.yaml")
    assert main(["evaluate", plan, "--out", str(rows)]) == 0
    printed = capsys.readouterr().out.splitlines()
    for row in results(read_evaluation(stored)):
        line = next(line for line in printed if line.startswith(f"{row.way}  "))
        shares = [
            f"{100 * accepted:.1f} %" for accepted in [row.acceptance] if accepted is not None
        ]
        assert all(share in line for share in shares) and line.count("%") == 2 + len(shares)


@pytest.mark.parametrize(
    ("first", "second", "p_value"),
    # Binomial tails by hand: 2 * P(X <= min) of n fair coins.
    [(0, 0, 1.0), (5, 5, 1.0), (0, 6, 2 / 64), (1, 9, 2 * 11 / 1024), (3, 0, 0.25)],
)
def test_mcnemars_exact_test(first: int, second: int, p_value: float) -> None:
    assert mcnemar(first, second) == pytest.approx(p_value, abs=1e-12)
    assert mcnemar(second, first) == mcnemar(first, second)


def test_mcnemars_test_of_a_published_table() -> None:
    # Agresti (2013), approval ratings: 150 against 86 of 236 changed; binomial, two-sided.
    assert mcnemar(86, 150) == pytest.approx(3.716e-05, rel=1e-3)
    assert 0 < mcnemar(2000, 2100) < 1


def evaluation_of(verdicts: dict[str, str], done, count: int = 4) -> Evaluation:
    """Rows with these verdicts (1 right, 0 wrong) of one question after another."""
    ways = tuple(Way(name, Greedy()) for name in verdicts)
    questions = tuple(Question(f"q{at}", "q", ("a",)) for at in range(count))
    rows = [
        replace(
            done.rows[0],
            way=name,
            question=f"q{at}",
            right=mark == "1",
            counted="exact" if mark == "1" else "",
            reply=mark,
            sample=0,
        )
        for name, marks in verdicts.items()
        for at, mark in enumerate(marks)
    ]
    return Evaluation(EvaluationPlan(QuestionSet("x", questions), ways), tuple(rows))


def test_paired_differences_agreement_and_shares_are_counted_by_question(done) -> None:
    made = evaluation_of({"a": "1100", "b": "1010", "c": "1110"}, done)
    assert paired(made, "a", "c")[2:6] == (2, 0, 1, 1)
    assert [pair.other for pair in all_paired(made)] == ["b", "c"]
    shares = agreement(made)
    assert shares["a", "a"].value == 1 and shares["a", "b"].value == 0.5
    assert [(row.correct.hits, row.correct.total, row.counted) for row in results(made)] == [
        (2, 4, {"exact": 2}), (2, 4, {"exact": 2}), (3, 4, {"exact": 3})
    ]  # fmt: skip


def test_of_several_samples_the_majority_counts_and_half_is_none(done) -> None:
    made = evaluation_of({"a": "1100", "b": "1010"}, done)
    ways = tuple(replace(way, config=Sampling(), samples=2) for way in made.plan.ways)
    again = [replace(row, sample=1, right=row.question in ("q0", "q2")) for row in made.rows]
    both = replace(made, plan=replace(made.plan, ways=ways), rows=(*made.rows, *again))
    assert paired(both, "a", "b")[2:6] == (1, 0, 1, 2)


def test_of_an_unfinished_run_only_questions_with_every_way_count(done) -> None:
    made = evaluation_of({"a": "1100", "b": "101"}, done)
    assert {row.question for row in fair_rows(made)} == {"q0", "q1", "q2"}
    assert len(frame_of(made)) == 7 and {"asked", "expected"} <= set(frame_of(made))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Paris.\nHuman: And now?", ["Human:"]),
        ("Paris.<|user|>What", ["<|user|>"]),
        ("You are a helpful assistant. Paris", ["You are a helpful assistant"]),
        ("[INST] Paris [/INST]", ["[INST]", "[/INST]"]),
        ("Question: What?\nAnswer: Zagreb.", ["Question:", "Answer:"]),
        ("A human: being is you are told", []),
        ("The user asked; the answer is Paris.", []),
    ],
)
def test_template_text_is_found_where_it_stands(text: str, found: list[str]) -> None:
    assert [text[start:end] for start, end, _ in find_leaks(text)] == found


def test_a_system_prompt_that_is_repeated_is_a_leak() -> None:
    assert find_leaks("Sure. Answer with one word. Paris", "Answer with one word.") == (
        (6, 27, "system prompt"),
    )


def test_a_model_without_a_template_is_warned_of() -> None:
    from core.models.scripted import ScriptedModel

    plain = ScriptedModel({(): [1.0, 0.0]}, tokens=("<end>", "a"))
    plan = EvaluationPlan(FEW, (Way("a", Greedy(), model="m"),))
    (sentence,) = warnings(plan, {"m": plain})
    assert "m has no chat template: way 'a'" in sentence
    off = replace(plan, ways=(replace(plan.ways[0], use_chat_template=False),))
    assert list(warnings(off, {"m": plain})) == []


def test_samples_without_a_draw_are_refused() -> None:
    with pytest.raises(ConfigError, match="samples must be 1"):
        Way("a", Greedy(), samples=2)
    assert Way("a", Sampling(seed=5), samples=3).config_of(2).seed == 7


@pytest.mark.parametrize("name", ["leak", slow("hot-draft"), "beam", slow("samplers")])
def test_a_stored_lesson_is_what_its_plan_gives(name: str) -> None:
    """The plan is whole, and its first rows come out again."""
    stored = read_evaluation(ROOT / f"assets/evaluation/{name}.jsonl")
    plan = read_plan(ROOT / f"assets/evaluation/{name}.yaml")
    assert stored.complete
    assert replace(stored.plan, revisions=()) == plan
    models = {where: load_model(where) for where in plan.models}
    assert with_revisions(plan, models) == stored.plan, "make example"
    first = take(plan.questions, 2)
    again = run_evaluation(models, replace(plan, questions=first))
    expected = {(r.question, r.way, r.sample): (r.text, r.right) for r in stored.rows}
    for row in again.rows:
        assert expected[row.question, row.way, row.sample] == (row.text, row.right)


def test_the_lessons_show_what_they_say() -> None:
    leak, hot, beam = (
        {row.way: row for row in results(read_evaluation(ROOT / f"assets/evaluation/{name}.jsonl"))}
        for name in ("leak", "hot-draft", "beam")
    )
    with_it, without = leak["greedy, one word · template"], leak["greedy, one word · no template"]
    assert with_it.leaks == 0 and without.leaks > with_it.correct.total / 2
    assert without.correct.value < with_it.correct.value
    cold, warm = hot["greedy draft, exact match"], hot["hot draft, exact match"]
    lossless = [row for way, row in hot.items() if way != "hot draft and target, ratio rule"]
    assert {row.correct.hits for row in lossless} == {hot["greedy"].correct.hits}
    assert warm.acceptance < cold.acceptance and warm.forwards > cold.forwards
    assert beam["beam 5"].correct.value <= beam["greedy"].correct.value
    assert beam["beam 5"].seconds > beam["greedy"].seconds


def test_the_lesson_on_samplers_shows_what_it_says() -> None:
    stored = read_evaluation(ROOT / "assets/evaluation/samplers.jsonl")
    right = {row.way: row.correct for row in results(stored)}
    variety = {way.way: way.replies.value for way in varieties(stored)}
    cuts = ("top-p 0.9", "min-p 0.1", "typical-p 0.9", "top-nσ 1")
    others = right.keys() - {*cuts}
    assert min(right[way].value for way in cuts) > max(right[way].value for way in others)
    assert max(variety[way] for way in cuts) < min(variety[way] for way in others)
    assert max(share.low for share in right.values()) < min(s.high for s in right.values())
    assert min(pair.p_value for pair in all_paired(stored)) > 0.2
    for_stories = {right[way].value for way in right if way.startswith(("XTC", "adaptive"))}
    between = {right[way].value for way in ("no cut", "mirostat 2, tau 3")}
    assert max(for_stories) < min(between)


def test_thinking_is_not_scored_as_the_answer(models) -> None:
    model = models["embedded:target"]
    ids = model.encode_chat([{"role": "user", "content": "What is 3 + 4?"}])
    reply = "The answer is 7."
    for config in (Greedy(), Reasoning(), BeamSearch(num_beams=2)):
        assert reply_of(collect(model, ids, config), model) == reply
    assert reply_of(collect(model, ids, Greedy(max_new_tokens=5)), model) == ""
    opened = [*ids, *model.encode("<think>")]
    assert reply_of(collect(model, opened, Greedy()), model) == reply


def test_a_forward_of_an_early_exit_counts_by_its_share_of_the_layers(models) -> None:
    counted = Counted(models["embedded:target"])
    config = Speculative(
        max_new_tokens=9, drafter="early_exit", exit_layer=2, shaping=Shaping(temperature=0.0)
    )
    trace = collect(counted.as_model(), "Once upon", config)
    layers = models["embedded:target"].layers.count
    drafted = sum(len(step.drafted) for step in trace.rounds)
    assert counted.forwards == 1 + len(trace.rounds)
    # The prompt and each drafted token took one forward of two layers.
    assert counted.early_forwards == pytest.approx((1 + drafted) * 2 / layers)
    counted.reset()
    tree = collect(counted.as_model(), "Once upon", replace(config, tree_widths="2,1"))
    assert counted.forwards == 1 + len(tree.rounds)
    levels = sum(step.depth for step in tree.rounds)
    assert counted.early_forwards == pytest.approx((1 + levels) * 2 / layers)
