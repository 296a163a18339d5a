"""Table of all functions that read untrusted text or files, a row each."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from core import check, from_answer
from core.decoding.comparison.measures import recorded_measures
from core.decoding.comparison.parting import compare
from core.decoding.constraints.reading import pointer_of
from core.decoding.constraints.value import constraint_in
from core.decoding.errors import (
    ConfigError,
    DecodingError,
    EvaluationError,
    LessonError,
    ModelError,
    ProblemError,
    SweepError,
    TraceError,
)
from core.decoding.lab.types import LabExample
from core.decoding.methods import config_from_dict, config_to_dict
from core.decoding.reasoning.calculator import result_of
from core.decoding.record.trace import Trace
from core.decoding.record.tree import RunTree
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.settings.bias import bias_lines, biases_in
from core.decoding.shaping.settings.watermarks import keys_in
from core.evaluation.example import example_from_dict
from core.evaluation.false_positives import found_texts
from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.leaks import find_leaks
from core.evaluation.plan.plan_file import read_plan
from core.evaluation.plan.statistics import all_paired, results
from core.evaluation.plan.types import Evaluation
from core.evaluation.questions.own import own_questions
from core.evaluation.questions.problems import THINKING_SYSTEM, read_problems
from core.evaluation.questions.read import read_questions
from core.evaluation.scoring.answers import judge
from core.evaluation.scoring.metrics import METRICS, score
from core.evaluation.scoring.verifier import worked_out
from core.evaluation.strict_json import to_json
from core.evaluation.sweep.files import SWEEPS, read_sweep
from core.export.catalog import entries_of
from core.export.comparison import comparison_json
from core.export.stored import read_stored
from core.figures import LIGHT, methods_data, methods_tree
from core.figures.base.paper import WIDE
from core.lessons.read import read_lesson
from core.models.gguf.header import read_header
from core.server.api.answer.parts import CallDelta
from core.server.api.answer.record import Choice
from core.server.api.errors import ApiError
from core.server.api.http import json_object
from core.server.api.request.chat import read_chat
from core.server.api.request.completions import read_completion
from core.server.api.request.responses import read_response
from core.traces.data_path.export import as_json
from core.traces.data_path.types import DataPath
from core.traces.file import read_trace
from core.traces.foreign import read_foreign
from core.traces.lab import example_from_dict as lab_from_dict
from core.traces.lab import lab_bytes
from core.traces.lab_file import read_any
from core.traces.lines import read_lines
from core.traces.many_file import many_jsonl, read_many, read_runs
from core.traces.tree_file import read_tree, tree_json
from pages.ui.beam.controls import stop_strings as stop_line
from pages.ui.course.lessons import checked
from pages.ui.decode.controls import stop_strings
from pages.ui.reasoning.measured.sweep import budgets
from pages.ui.requests.controls import decoding_in
from tests.figures.insides import make_calls
from tests.figures.reasons import make_sweep
from tests.models.gguf.files import write_gguf

ROOT = Path(__file__).parents[2]
STORED = ROOT / "tests/traces/data"


@dataclass(frozen=True)
class Reader:
    """A reader of bytes.

    Args:
        name: of the test.
        read: reads the bytes, and does with what it made of them what the app does next.
        error: what it may raise, and nothing else; None where it takes everything.
        seeds: files that it takes, of which the others are made.
        module: where its parser stands, by path.
        lines: a seed is a JSON value a line.
    """

    name: str
    read: Callable[[bytes], Any]
    error: type[DecodingError] | None
    seeds: tuple[bytes, ...]
    module: str
    lines: bool = False


def _of(*names: str) -> tuple[bytes, ...]:
    return tuple((STORED / f"{name}.json").read_bytes() for name in names)


def _tree() -> bytes:
    trace = Trace.from_dict(json.loads(_of("sampling")[0]))
    return tree_json(RunTree.of(trace).grown(0, 2, trace)).encode()


def _check(content: Trace | LabExample) -> None:
    """Prove it and write it, as the app does with what was opened."""
    if isinstance(content, Trace):
        check(content)
        content.to_json()
        other = Trace.from_dict(json.loads(_of("sampling")[0]))
        for left, right in ((content, other), (other, content)):
            compare(left, right)
            recorded_measures(left, right)
            recorded_measures(left, right, "final")
    else:
        lab_bytes(content)


def _compare(evaluation: Evaluation) -> None:
    """Compute the page's results for an uploaded evaluation."""
    results(evaluation)
    all_paired(evaluation)


def _own(data: bytes) -> Any:
    """Parse an uploaded file whose text is JSON."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _draw(data: bytes) -> None:
    """Find the figures of a file, and draw its main one."""
    stored = read_stored(data)
    for entry in entries_of(stored.content)[:1]:
        part = entry.part(None, WIDE)
        part.table(part.figure(LIGHT, WIDE))


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def _many() -> bytes:
    """Two of the stored runs, the first steps of each."""
    rows = (ROOT / "assets/traces/many-grid.jsonl").read_bytes().splitlines()[:2]
    values = [json.loads(row) for row in rows]
    for value in values:
        value["steps"], value["token_ids"] = value["steps"][:4], value["token_ids"][:3]
    return _lines(*values)


def _methods() -> bytes:
    """The stored search, and the stored run with drafts, of one prompt."""
    return b"\n".join((ROOT / "assets/traces/home.jsonl").read_bytes().splitlines()[4:])


def _draw_methods(data: bytes) -> None:
    """Draw the runs and write them, as Home does with a file that was opened."""
    many = read_runs(data)
    many_jsonl(many.traces)
    if many.has_searches:
        methods_tree(many)
        methods_data(many)


def _comparison() -> bytes:
    run = Trace.from_dict(json.loads(_of("sampling")[0]))
    return comparison_json(run, run, compare(run, run), recorded_measures(run, run))


def _sweep() -> bytes:
    sweep = make_sweep()
    header = {"schema": SWEEPS.schema, "version": SWEEPS.version, "plan": to_json(sweep.plan)}
    return _lines(header, *map(SWEEPS.row_to_json, sweep.rows[:20]))


def _reasoning() -> bytes:
    """The stored example with the least of everything that it may hold."""
    data = json.loads((ROOT / "assets/traces/reasoning.json").read_bytes())
    for name in ("sweep", "cut"):
        data[name]["rows"] = data[name]["rows"][:3]
    data["run"]["steps"] = data["run"]["steps"][:2]
    data["rivalry"]["votes"] = data["rivalry"]["votes"][:1]
    return json.dumps(data).encode()


def _path() -> bytes:
    return json.dumps(as_json(DataPath(make_calls(), 7.0, 0, 1))).encode()


def _gguf() -> bytes:
    with TemporaryDirectory() as folder:
        return write_gguf(Path(folder) / "seed.gguf").read_bytes()


def _read_gguf(data: bytes) -> object:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.gguf"
        path.write_bytes(data)
        return read_header(str(path), "x.gguf")


def _evaluation() -> bytes:
    """The first rows of a stored evaluation, its questions with it."""
    lines = (ROOT / "assets/evaluation/beam.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join(lines[:4])


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _biases(data: bytes) -> None:
    Shaping(logit_bias=biases_in(_text(data)))


def _synthid_keys(data: bytes) -> None:
    Shaping(synthid_depth=2, synthid_keys=keys_in(_text(data)))


def _constraint(data: bytes) -> None:
    Shaping(constraint=constraint_in(_text(data)))


def _config(data: bytes) -> None:
    config_to_dict(config_from_dict(_own(data)))


def _asked(read: Callable[[dict[str, Any]], Any], data: bytes) -> None:
    """Read a request's body, and make its settings for a model with room for 50 tokens."""
    read(json_object(data)).settings.config(None, 50)


def _call(data: bytes) -> None:
    choice = Choice()
    choice.add_call(CallDelta(0, 0, "f", _text(data)))
    assert len(choice.message.get("tool_calls", ())) <= 1


_DECODING = {"method": "beam", "num_beams": 4, "shaping": {"repetition_penalty": 1.1}}
_SAID = {"model": "m", "seed": 3, "temperature": 0.7, "top_p": 0.9, "logit_bias": {"5": 2}}
CHATS = (
    json.dumps({**_SAID, "messages": [{"role": "user", "content": "a"}], "logprobs": True,
        "top_logprobs": 3, "stream": True, "stream_options": {"include_usage": True}}).encode(),
    json.dumps({"model": "m", "messages": [{"role": "user", "content": [
        {"type": "text", "text": "a"}]}], "decoding": _DECODING, "max_tokens": 5}).encode(),
)  # fmt: skip
_FORMAT = {"type": "json_schema", "json_schema": {"name": "s", "schema": {"type": "object"}}}
_CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": [1]}'}}
FORMATS = tuple(
    json.dumps({"model": "m", "messages": [{"role": "user", "content": "a"}], **asked}).encode()
    for asked in (
        {"response_format": _FORMAT},
        {"structured_outputs": {"json": {"type": "object"}, "whitespace_pattern": "[ ]?"}},
        {"structured_outputs": {"grammar": 'root ::= "a" | "b"'}},
    )
)
HISTORIES = (
    json.dumps({"model": "m", "messages": [{"role": "assistant", "tool_calls": [_CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "1"}]}).encode(),
)  # fmt: skip
COMPLETIONS = (
    json.dumps({**_SAID, "prompt": [[1, 2], [3]], "n": 2, "echo": True, "logprobs": 2}).encode(),
    json.dumps({"model": "m", "prompt": "a", "stop": ["b"], "decoding": _DECODING}).encode(),
)
RESPONSES = (
    json.dumps({**_SAID, "input": [{"type": "message", "role": "user", "content": "a"}],
        "reasoning": {"effort": "low"}, "metadata": {"a": "b"}}).encode(),
    json.dumps({"model": "m", "input": "a", "instructions": "b", "include": [
        "message.output_text.logprobs"], "top_logprobs": 2}).encode(),
)  # fmt: skip
_ENTRY = {"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "b", "logprob": -0.1}]}
# Its first token has no log-probability, as a prompt's: it is drawn, and is no trace.
_UNSCORED = json.dumps({"choices": [{"logprobs": {"tokens": ["a", "b"], "token_logprobs":
    [None, -1.0], "top_logprobs": [None, {"b": -1.0, "c": -2}]}}]}).encode()  # fmt: skip
FOREIGN = (
    *(path.read_bytes() for path in sorted((STORED / "foreign").iterdir())),
    json.dumps({"model": "m", "choices": [{"logprobs": {"content": [_ENTRY, _ENTRY]}}]}).encode(),
    json.dumps({"output": [{"content": [{"text": "a", "logprobs": [_ENTRY]}]}]}).encode(),
    json.dumps({"completion_probabilities": [{"content": "a", "probs": [{"tok_str": "a",
        "prob": 0.5}]}, {"token": "b", "bytes": [240, 159], "prob": 0.1}]}).encode(),
    b'data: {"logprobs": [{"token": "a", "logprob": -1}]}\ndata: {"logprobs": []}\ndata: [DONE]',
    b'{"logprobs": [{"token": "a", "logprob": -1}]}\n{"done": true}',
    json.dumps({"meta_info": {"output_token_logprobs": [[-1.0, 5, "a"]], "output_top_logprobs":
        [[[-1.0, 5, "a"]]]}}).encode(),
)  # fmt: skip


CONFIGS = tuple(
    json.dumps(json.loads(raw)["config"]).encode()
    for raw in _of("beam", "greedy", "gumbel", "reasoning", "speculative")
)
RUNS = ("beam", "greedy", "gumbel", "prompt_lookup", "reasoning", "sampling", "speculative")
CSV = b'question,answer\r\n"Add 1, and 2.",3\nWhat is 5 - 7?,-2\nHow much?,"1,234.50"\n'
JSONL = _lines(
    {"question": "Add 1 and 2.", "answer": 3},
    {"question": "q", "answer": 1e16},
    {"question": "How much?", "answer": "1,234.50"},
)
QUESTIONS = b'question,answer,aliases\r\n"Who, then?",Me,I|myself\nHow many?,"1,234",\n'
ASKED = _lines(
    {"question": "Who?", "answer": "Me", "aliases": ["I"]},
    {"question": "How many?", "answer": "1 + 2 = 3\n#### 1,003"},
    {"question": "Where?", "context": "Here.", "answers": {"text": ["Here"]}},
)
_QA = {"question": "Where?", "id": "1", "answers": [{"text": "Here", "answer_start": 0}]}
SQUAD = json.dumps(
    {
        "version": "v2.0",
        "data": [
            {
                "title": "t",
                "paragraphs": [
                    {
                        "context": "Here.",
                        "qas": [_QA, {**_QA, "answers": [], "is_impossible": True}],
                    }
                ],
            }
        ],
    },
    indent=1,
)
PLANS = tuple(
    (ROOT / f"assets/evaluation/{name}.yaml").read_bytes() for name in ("leak", "hot-draft")
)
LESSONS = tuple(path.read_bytes() for path in sorted((ROOT / "assets/lessons").glob("*.yaml"))[:2])
READERS = (
    Reader("lesson", lambda data: checked(read_lesson(data, "own")), LessonError, LESSONS,
        "core/traces/bounded_yaml.py"),
    Reader("trace", lambda data: _check(read_trace(data)), TraceError, _of(*RUNS),
        "core/traces/file.py"),
    Reader("lab file", lambda data: _check(read_any(data)), TraceError, _of("lab", "greedy"),
        "core/traces/file.py"),
    Reader("tree of runs", lambda data: tree_json(read_tree(data)), TraceError, (_tree(),),
        "core/traces/tree_file.py"),
    Reader("runs of methods", _draw_methods, TraceError, (_methods(),),
        "core/traces/many_file.py", lines=True),
    Reader("many runs", lambda data: many_jsonl(read_many(data).traces), TraceError, (_many(),),
        "core/traces/many_file.py", lines=True),
    Reader("own trace", lambda data: Trace.from_dict(_own(data)), TraceError, _of(*RUNS),
        "core/decoding/record/trace.py"),
    Reader("own lab file", lambda data: lab_from_dict(_own(data)), TraceError, _of("lab"),
        "core/traces/lab.py"),
    Reader("file with figures", _draw, DecodingError,
        (*_of("lab", "greedy"), _reasoning(), _path(), _comparison()), "core/export/stored.py"),
    Reader("file of rows with figures", _draw, DecodingError, (_sweep(), _evaluation(), _many()),
        "core/export/stored.py", lines=True),
    Reader("reasoning example", lambda data: example_from_dict(_own(data)), SweepError,
        (_reasoning(),), "core/evaluation/example.py"),
    Reader("sweep", read_sweep, SweepError, (_sweep(),), "core/evaluation/row_file.py",
        lines=True),
    Reader("problems, CSV", lambda data: read_problems(data, "own.csv", THINKING_SYSTEM),
        ProblemError, (CSV,), "core/evaluation/questions/problems.py"),
    Reader("problems, JSONL", lambda data: read_problems(data, "own.jsonl", THINKING_SYSTEM),
        ProblemError, (JSONL,), "core/evaluation/questions/problems.py", lines=True),
    Reader("questions, CSV", lambda data: read_questions(data, "own.csv"), ProblemError,
        (QUESTIONS,), "core/evaluation/questions/table.py"),
    Reader("questions, JSONL", lambda data: read_questions(data, "own.jsonl"), ProblemError,
        (ASKED,), "core/evaluation/questions/table.py", lines=True),
    Reader("questions, JSON", lambda data: read_questions(data, "own.json"), ProblemError,
        (json.dumps([{"question": "Who?", "answer": 5, "aliases": "a|b"}]).encode(),),
        "core/evaluation/questions/read.py"),
    Reader("questions, SQuAD", lambda data: read_questions(data, "dev.json"), ProblemError,
        (SQUAD.encode(),), "core/evaluation/questions/read.py"),
    Reader("plan of an evaluation", lambda data: read_plan(data, own_questions("lists")),
        EvaluationError, PLANS, "core/evaluation/plan/plan_file.py"),
    Reader("evaluation", lambda data: _compare(read_evaluation(data)), EvaluationError,
        (_evaluation(),), "core/evaluation/plan/files.py", lines=True),
    Reader("reply", lambda data: score(_text(data), ("12", "twelve"), tuple(METRICS)), None,
        (b"the answer is 1,234.50 or twelve.",), "core/evaluation/scoring/text.py"),
    Reader("template text", lambda data: find_leaks(_text(data), "Answer with one word."), None,
        (b"Paris.\nHuman: <|user|> You are a helpful one. [INST]",),
        "core/evaluation/plan/leaks.py"),
    Reader("settings", _config, ConfigError, CONFIGS, "core/decoding/methods.py"),
    Reader("logit bias, option", _biases, ConfigError, (b"383=-5,12=2.5",),
        "core/decoding/shaping/settings/bias.py"),
    Reader("watermarks found", lambda data: found_texts(data, "watermark_bias"), EvaluationError,
        ((ROOT / "assets/evaluation/watermarks.json").read_bytes(),),
        "core/evaluation/false_positives.py"),
    Reader("SynthID keys", _synthid_keys, ConfigError, (b"654,400,836",),
        "core/decoding/shaping/settings/watermarks.py"),
    Reader("JSON so far", lambda data: pointer_of(_text(data)), None,
        (b'{"a": [1, {"b\\u00e9": "c\\""}], "d', b"[[1, 2], {}]",
         b'{"a/~": [1, {"b\\u00e9": "x", "c": ', b'[[[{"d": tru'),
        "core/decoding/constraints/reading.py"),
    Reader("constraint, option", _constraint, ConfigError,
        (b'json={"type": "object", "properties": {"a": {"enum": [1, null]}}}',
         b"regex=[a-z]+(b|c){2}", b'lark=start: "a" start | /b+/', b"choice=yes\nno"),
        "core/decoding/constraints/value.py"),
    Reader("logit bias, field", lambda data: bias_lines(_text(data), len), ConfigError,
        (b" the = -5\n#383 = 2.5\n\\n = 1",), "core/decoding/shaping/settings/bias.py"),
    Reader("stop strings", lambda data: stop_strings(_text(data)), None, (b"a\n\\n\n.",),
        "pages/ui/decode/controls.py"),
    Reader("stop strings of a search", lambda data: stop_line(_text(data)), None,
        (b"a|\\||\\n",), "pages/ui/beam/controls.py"),
    Reader("budgets", lambda data: budgets(_text(data), 0), ConfigError, (b"0, 16; 32 64",),
        "pages/ui/reasoning/measured/sweep.py"),
    Reader("calculator call", lambda data: result_of(_text(data)), None,
        (b"4821*(377-12)/-3", b"((1+2)*.5-3.25)/7"), "core/decoding/reasoning/calculator.py"),
    Reader("answer", lambda data: judge(_text(data), "12", "eos"), None,
        (b"so the answer is: -1,234.50.", b"\\boxed{12} <call>3*4<result>12</result>"),
        "core/evaluation/scoring/answers.py"),
    Reader("question", lambda data: worked_out(_text(data)), None,
        (b"What is (7 + 5) * 3?", b"Start with 7, add 5, then multiply by 3."),
        "core/evaluation/scoring/verifier.py"),
    Reader("chat request", partial(_asked, read_chat), ApiError, CHATS, "core/server/api/http.py"),
    Reader("format of an answer", partial(_asked, read_chat), ApiError, FORMATS,
        "core/server/api/request/formats.py"),
    Reader("call in a history", partial(_asked, read_chat), ApiError, HISTORIES,
        "core/server/api/request/messages.py"),
    Reader("written call", _call, None, (b'{"a": [1, {"b": "x"}]}',),
        "core/server/api/answer/record.py"),
    Reader("completion request", partial(_asked, read_completion), ApiError, COMPLETIONS,
        "core/server/api/http.py"),
    Reader("response request", partial(_asked, lambda body: read_response(body, lambda _: ())),
        ApiError, RESPONSES, "core/server/api/http.py"),
    Reader("another server's answer", lambda data: read_foreign(data).unknown, TraceError,
        (*FOREIGN, _UNSCORED), "core/traces/foreign.py"),
    Reader("runs in lines", read_lines, TraceError, (*FOREIGN, many_jsonl(
        Trace.from_dict(json.loads(raw)) for raw in _of("beam", "sampling")).encode()),
        "core/traces/lines.py", lines=True),
    Reader("another tool's answer as a trace", lambda data: _check(from_answer(data)), TraceError,
        FOREIGN, "core/traces/foreign_trace.py"),
    Reader("decoding field", lambda data: decoding_in(_text(data)), ConfigError,
        (b'{"method": "greedy"}',), "pages/ui/requests/controls.py"),
    Reader("GGUF header", _read_gguf, ModelError, (_gguf(),),
        "core/models/gguf/header.py"),
)  # fmt: skip
