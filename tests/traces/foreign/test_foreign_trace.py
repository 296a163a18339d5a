"""Answers of other tools as traces.

llama.cpp's answers are those of a real server; vLLM's, Ollama's and OpenAI's were written by the
classes of their packages (vLLM 0.33, ollama 0.6.3, openai 3.54), SGLang's and the samples of
lm-evaluation-harness 0.4.13 as their sources write them. All hold numbers of the embedded model.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from core import check, from_answer, read_trace
from core.decoding.errors import TraceError
from core.traces.foreign import read_foreign
from core.traces.foreign_formats import FORMATS, document
from core.traces.lab_file import read_any

FOLDER = Path(__file__).parents[1] / "data/foreign"
NAMES = sorted(path.name for path in FOLDER.iterdir())


def _trace(name: str) -> Any:
    return from_answer((FOLDER / name).read_bytes())


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_answer_is_a_trace_whose_numbers_agree(name: str) -> None:
    trace = _trace(name)
    assert [outcome for outcome in check(trace) if not outcome.passed] == []
    assert read_trace(trace.to_json().encode()) == trace
    (note,) = trace.notes
    assert any(words in note.words for words in ("lacks", "nothing of the tokens"))
    frame = trace.to_pandas("candidates")
    assert frame.groupby("step")["chosen"].sum().eq(1).all()


def test_the_page_lists_every_format() -> None:
    page = Path(__file__).parents[3] / "docs/other_tools.md"
    assert page.read_text("utf-8") == document()


def test_every_format_has_a_stored_answer() -> None:
    read = {read_foreign((FOLDER / name).read_bytes()).format.name for name in NAMES}
    assert read == {each.name for each in FORMATS}


@pytest.mark.parametrize("name", NAMES)
def test_it_opens_like_any_file(name: str) -> None:
    assert read_any((FOLDER / name).read_bytes()) == _trace(name)


@dataclass
class _Logprob:
    """As vLLM's `Logprob`."""

    logprob: float
    rank: int | None
    decoded_token: str | None


class _Output:
    """As vLLM's `RequestOutput`, which has plain attributes."""

    def __init__(self, logprobs: Any, token_ids: Any = (5,)) -> None:
        self.prompt, self.prompt_token_ids, self.engine = "a", [7], object()
        self.outputs = [
            {"token_ids": token_ids, "text": "b", "logprobs": logprobs, "finish_reason": "stop"}
        ]


def test_a_request_output_of_vllm_has_ids_ranks_and_its_prompt() -> None:
    own = _Logprob(math.log(0.1), 40, "b")
    trace = from_answer(_Output([{5: own, 6: _Logprob(math.log(0.6), 1, "c")}]))
    (step,) = trace.token_steps
    assert (trace.prompt, trace.prompt_ids, trace.token_ids) == ("a", (7,), (5,))
    assert (step.chosen.rank, step.candidates[0].text, trace.finish_reason) == (2, "c", "eos")
    alone = from_answer(_Output([{5: own}])).token_steps[0]
    assert (alone.chosen.rank, alone.tail_mass) == (1, pytest.approx(0.9))
    top = {6: _Logprob(math.log(0.6), 1, "c"), 5: own}
    several = from_answer([_Output([top, {8: _Logprob(-0.1, 1, "d")}], (5, 8))])
    assert [step.chosen.rank for step in several.token_steps] == [40, 1]
    assert [outcome for outcome in check(several) if not outcome.passed] == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_Output([{6: _Logprob(-1.0, 1, "c")}]), "not among the tokens"),
        (_Output([{5: _Logprob(-1.0, 1, None)}]), "detokenize"),
        (_Output([{"x": _Logprob(-1.0, 1, "c")}]), "has no id"),
        (_Output([3]), "no mapping"),
        (_Output(None), r"ask for them \(SamplingParams\(logprobs=5\)\)"),
        (_Output([]), "differ in length"),
        ({"doc_id": 0, "arguments": {"a": ["q", "c"]}, "resps": [["a reply"]]}, "without log-lik"),
        ({"doc_id": 0, "arguments": {}, "resps": []}, "no choice"),
        ({"doc_id": 0, "arguments": [["q", "c"]], "resps": [[["x", "True"]]]}, "infinity to 0"),
        ({"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": [None]}}]}, "Token 1"),
        (object(), "got object"),
    ],
)
def test_what_is_no_answer_gets_a_sentence(answer: Any, words: str) -> None:
    with pytest.raises(TraceError, match=words):
        from_answer(answer)


def test_a_samples_file_has_a_place_for_each_question() -> None:
    trace = _trace("lm-eval-samples.jsonl")
    lines = [json.loads(x) for x in (FOLDER / "lm-eval-samples.jsonl").read_text().splitlines()]
    assert len(trace.token_steps) == len(lines)
    for step, line in zip(trace.token_steps, lines, strict=True):
        values = [float(answers[0][0]) for answers in line["resps"]]
        assert step.surprisal == pytest.approx(-max(values))
        assert [c.rank for c in step.candidates] == [1, 2, 3]
