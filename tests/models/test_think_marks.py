"""Detection of a model's think marks, and runs with every kind of mark."""

from __future__ import annotations

import pytest

from core import Reasoning, check, collect, load_model
from core.evaluation.questions.asking import prompt_ids_of
from core.evaluation.types import Problem
from core.models.text.think_marks import BY_PROMPT, KNOWN_MARKS
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_model, tiny_tokenizer

# The end of Qwen3's template, where thinking is switched off.
QWEN = (
    "{%- for m in messages %}{{ m['role'] + ': ' + m['content'] + '\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ 'assistant: ' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{ '<think>\\n\\n</think>\\n\\n' }}{%- endif %}{%- endif %}"
)
# DeepSeek-R1's opens the thinking itself.
OPENING = "{% for m in messages %}{{ m['content'] }}{% endfor %}{{ '<think>\\n' }}{# </think> #}"


def language_model(tokenizer, template=None):
    tokenizer.chat_template = template
    return TransformersModel(random_model("llama"), tokenizer, model_id="tiny")


def test_the_embedded_models_have_tokens_of_their_own() -> None:
    marks = load_model("embedded:target").think_marks
    assert (marks.start, marks.end, marks.source) == ("<think>", "</think>", "tokens")


@pytest.mark.parametrize(("start", "end"), KNOWN_MARKS)
def test_marks_that_are_tokens_are_found(start, end) -> None:
    marks = language_model(tiny_tokenizer(special_tokens=(start, end))).think_marks
    assert (marks.start, marks.end, marks.source) == (start, end, "tokens")


def test_marks_that_the_template_writes_are_found() -> None:
    marks = language_model(tiny_tokenizer(special_tokens=("<x>",)), QWEN).think_marks
    assert (marks.start, marks.end, marks.source) == ("<think>", "</think>", "template")


def test_another_model_is_told_by_its_prompt() -> None:
    model = language_model(tiny_tokenizer(special_tokens=("<y>",)))
    assert model.think_marks is BY_PROMPT and BY_PROMPT.source == "prompt"
    problem = Problem("k", "12 + 30?", "42", system="Think.")
    ids = model.encode(f"{BY_PROMPT.instruction}\n\n12 + 30?\n")
    assert prompt_ids_of(model, problem, model.think_marks) == ids
    assert prompt_ids_of(model, problem) == model.encode("12 + 30?\n")


def test_a_template_asks_with_the_problem_s_system_prompt_or_the_instruction() -> None:
    problem = Problem("k", "12 + 30?", "42", system="Be good.")
    model = language_model(tiny_tokenizer(special_tokens=("<z>",)), QWEN)
    with_system = model.encode("system: Be good.\nuser: 12 + 30?\nassistant: ")
    assert prompt_ids_of(model, problem, model.think_marks) == with_system
    with_instruction = model.encode(f"system: {BY_PROMPT.instruction}\nuser: 12 + 30?\nassistant: ")
    assert prompt_ids_of(model, problem, BY_PROMPT) == with_instruction


@pytest.mark.parametrize("special", [("<think>", "</think>"), ("<w>",)])
def test_runs_with_special_and_with_ordinary_marks_pass_their_proof(special) -> None:
    model = language_model(tiny_tokenizer(special_tokens=special), QWEN)
    ids = model.encode_chat([{"role": "user", "content": "the fox"}])
    for budget in (0, 3, 7):
        config = Reasoning(max_thinking_tokens=budget, max_answer_tokens=3, max_new_tokens=60)
        trace = collect(model, ids, config)
        assert [c for c in check(trace, model) if not c.passed] == []
        forced = [s.chosen.text for s in trace.token_steps if s.origin == "forced"]
        assert "".join(forced) in ("<think></think>", "<think>")


def test_a_template_that_opens_the_thinking_is_not_opened_again() -> None:
    model = language_model(tiny_tokenizer(special_tokens=("<v>",)), OPENING)
    ids = model.encode_chat([{"role": "user", "content": "the fox"}])
    trace = collect(model, ids, Reasoning(max_thinking_tokens=2, max_answer_tokens=2))
    assert all(step.forced_as != "think_start" for step in trace.token_steps)
    assert {step.phase for step in trace.token_steps[:2]} == {"thinking"}
    assert trace.token_steps[2].forced_as == "think_end" or trace.finish_reason == "eos"
