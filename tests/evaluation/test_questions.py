"""Files of questions in every format, their faults with the line, and the project's own sets."""

from __future__ import annotations

import json

import pytest

from core.decoding.autoregressive.config import Greedy
from core.decoding.errors import ProblemError
from core.evaluation.plan.asking import warnings
from core.evaluation.plan.statistics import frame_of
from core.evaluation.plan.types import Evaluation, EvaluationPlan, Way, failed_row
from core.evaluation.questions import read
from core.evaluation.questions.own import FOLDER, OWN_SETS, own_questions
from core.evaluation.questions.problems import read_problems
from core.evaluation.questions.read import read_questions
from core.evaluation.questions.types import Question, QuestionSet

SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "t",
            "paragraphs": [
                {
                    "context": "Bern is in Switzerland.",
                    "qas": [
                        {"question": "Where is Bern?", "id": "1", "is_impossible": False,
                         "answers": [{"text": "Switzerland", "answer_start": 11},
                                     {"text": "in Switzerland", "answer_start": 8},
                                     {"text": "Switzerland", "answer_start": 11}]},
                        {"question": "Why?", "id": "2", "is_impossible": True, "answers": []},
                    ],
                }
            ],
        }
    ],
}  # fmt: skip
GSM8K = {"question": "How many clips?", "answer": "48/2 = <<48/2=24>>24\n48+24=72\n#### 1,072"}


def test_csv_has_aliases_between_bars() -> None:
    text = b"answer,question,aliases,kind\nParis,capital?,paris city|Lutetia,fact\n7,3+4?,,sum\n"
    first, second = read_questions(text, "own.csv").questions
    assert (first.question, first.answers) == ("capital?", ("Paris", "paris city", "Lutetia"))
    assert (second.answers, second.kind, first.key) == (("7",), "sum", "question 1")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_may_have_spaces_before_quotes_a_byte_order_mark_and_any_line_ends(end: str) -> None:
    lines = ['question, "answer"', '"2 + 2, said ""two"" ways?", "4"', ' "q?",  "a, b"', ""]
    text = "\ufeff" + end.join(lines)
    first, second = read_questions(text.encode(), "own.csv").questions
    assert (first.question, first.answers) == ('2 + 2, said "two" ways?', ("4",))
    assert (second.question, second.answers) == ("q?", ("a, b",))
    assert read_problems(b'question,answer\nq, "1,200"\n').problems[0].answer == "1200"


@pytest.mark.parametrize("impossible", [True, "True"])
def test_an_impossible_question_is_left_out_whatever_answers_stand_beside_it(
    impossible: object,
) -> None:
    rows = [{"question": "a?", "answer": "b"}, {"question": "c?", "answers": ["d"]}]
    lines = [json.dumps(rows[0]), json.dumps({**rows[1], "is_impossible": impossible})]
    read = read_questions("\n".join(lines).encode(), "own.jsonl")
    assert [question.question for question in read.questions] == ["a?"] and read.left_out == 1


@pytest.mark.parametrize("data", [b"", b"\n \r\n"])
def test_an_empty_file_of_questions_is_said_to_be_empty(data: bytes) -> None:
    for name in ("own.csv", "own.jsonl"):
        with pytest.raises(ProblemError, match="empty"):
            read_questions(data, name)


def test_jsonl_and_a_json_list_give_the_same() -> None:
    rows = [
        {"question": "a?", "answer": "b", "aliases": ["c"]},
        {"question": "d?", "answer": 1.50},
    ]
    lines = "\n".join(json.dumps(row) for row in rows)
    questions = read_questions(lines.encode(), "x.jsonl").questions
    assert [question.answers for question in questions] == [("b", "c"), ("1.5",)]
    for text in (json.dumps(rows), json.dumps(rows, indent=2)):
        assert read_questions(text.encode(), "x.json").questions == questions


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_spreadsheets_are_read_whatever_separates_their_columns(sign: str, encoding: str) -> None:
    text = sign.join(["id", "Prompt", "target", "level"]) + "\r\n"
    text += sign.join(["q-7", '"2 + 2, or é?"', "4", "easy"])
    (question,) = read_questions(text.encode(encoding), "own.csv").questions
    assert (question.key, question.question, question.answers) == ("q-7", "2 + 2, or é?", ("4",))
    assert question.columns == (("level", "easy"),)
    assert read_problems(text.encode(encoding), name="own.csv").problems[0].answer == "4"


def test_jsonl_may_have_several_answers_ids_and_other_fields() -> None:
    rows = [
        {"id": 7, "prompt": "a?", "target": ["b", "c"], "source": {"page": 3}},
        {"question": "d?", "answers": ["e", "f"], "answer": "e"},
    ]
    questions = read_questions("\n".join(map(json.dumps, rows)).encode(), "x.jsonl").questions
    assert [(question.key, question.answers) for question in questions] == [
        ("7", ("b", "c")),
        ("question 2", ("e", "f")),
    ]
    assert questions[0].columns == (("source", '{"page": "3"}'),)
    twice = (json.dumps(rows[0]) + "\n") * 2
    with pytest.raises(ProblemError, match="Line 2: another question has the id '7'"):
        read_questions(twice.encode(), "x.jsonl")


def test_left_out_questions_are_said_and_other_columns_stand_beside_the_rows() -> None:
    questions = QuestionSet("own", (Question("7", "a?", ("b",), columns=(("level", "easy"),)),), 2)
    plan = EvaluationPlan(questions, (Way("greedy", "m", Greedy()),))
    warning = next(warnings(plan, {"m": object()}))  # type: ignore[dict-item]
    assert warning.startswith("2 questions of the file without an answer")
    frame = frame_of(Evaluation(plan, (failed_row("greedy", "7", 0, "Lost."),)))
    assert frame["question"].tolist() == ["7"] and frame["level"].tolist() == ["easy"]


@pytest.mark.parametrize("indent", [None, 2])
def test_squad_is_read_as_it_is_and_unanswerable_questions_are_counted(indent) -> None:
    read = read_questions(json.dumps(SQUAD, indent=indent).encode(), "dev.json")
    (question,) = read.questions
    assert question.answers == ("Switzerland", "in Switzerland") and read.left_out == 1
    assert question.asked == "Bern is in Switzerland.\n\nWhere is Bern?"


def test_squad_as_rows_of_a_dataset_is_read_too() -> None:
    row = {"context": "c", "question": "q?", "answers": {"text": ["x"], "answer_start": [0]}}
    (question,) = read_questions(json.dumps(row).encode(), "squad.jsonl").questions
    assert question.answers == ("x",)


def test_gsm8k_answers_with_what_follows_its_mark() -> None:
    (question,) = read_questions(json.dumps(GSM8K).encode(), "test.jsonl").questions
    assert question.answers == ("1072",)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"question,answer\nq,a\n,b\n", "Line 3: the question must be a text"),
        (b"question,answer\nq,\n", "Line 2: the answer must be a text or a number"),
        (b'{"question": "q", "answer": "a"}\n{"question": "q"}\n', "Line 2: an answer is needed"),
        (b'[\n{"question": "q", "answer": "a"},\n{"question": 5, "answer": 1}]', "Line 3: the que"),
        (b'[\n{"question": "q",\n "answer": }]', "Line 3 of the problems is not JSON"),
        (b'{"data": [\n{"paragraphs": 5}]}', "Line 2: paragraphs must be a list of objects"),
        (b'{"data": [\n{"paragraphs": [\n{"context": "c"}]}]}', "Line 3: qas must be a list"),
        (b'[5]', "must hold objects with question and answer"),
        (b'[\n{"question": "q", "answers": 4}]', "Line 2: answers must be a list of texts"),
        (b'{"question": "q", "answer": "a", "aliases": {"x": 1}}', "Line 1: aliases must be a"),
        (b'{"question": "\\ud800", "answer": "a"}', "Line 1: the question holds half a char"),
        (b"[" * 100_000, "nested too deep"),
        (b"question,answer\n", "holds no question"),
        (b"question,answer\nq,\xff\n", "Line 2 of the problems is not UTF-8"),
        (b"x" * (read.MAX_BYTES + 1), "larger than the 5 MB"),
    ],
)  # fmt: skip
def test_a_fault_is_one_sentence_with_its_line(data: bytes, text: str) -> None:
    with pytest.raises(ProblemError, match=text):
        read_questions(data)


def test_the_own_sets_are_held_out_and_judged_by_their_answers() -> None:
    held_out = "".join((FOLDER / f"{name}.txt").read_text() for name in ("facts", "sums", "lists"))
    for name in OWN_SETS:
        questions = own_questions(f"own:{name}").questions
        assert len({question.key for question in questions}) == len(questions)
        assert all(question.question in held_out for question in questions)
    mixed = own_questions("mixed").questions
    assert len(mixed) == 100
    assert {question.kind.split(",")[0] for question in mixed} == {"facts", "sums", "lists"}
    answers = {question.question: question.answers for question in own_questions("sums").questions}
    assert answers["Take 10 off 30 and then halve what's left. What comes out?"] == ("10",)
    assert answers["2.5 + 1.3"] == ("3.8",)
    with pytest.raises(ProblemError, match="There is no own set 'x'"):
        own_questions("own:x")
