"""`python -m core` with reasoning: options, marks of the model, and sweeps that are resumed."""

from __future__ import annotations

import json
from contextlib import suppress
from unittest.mock import Mock

import pytest

from core import Reasoning, collect, load_model, read_trace
from core.cli.main import main
from core.cli.reasoning import OPTIONS
from core.decoding.loop.text import join_text
from core.decoding.reasoning.config import LEVELS, MARK_TOKENS
from core.evaluation.sweep.files import SWEEPS, read_sweep
from core.models.scripted import END
from tests.evaluation.thinkers import following, special
from tests.models.builders import random_model, tiny_tokenizer
from tests.test_command_line import parsed


@pytest.fixture(scope="module")
def thinking(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("model")
    random_model("llama").save_pretrained(path)
    tiny_tokenizer(special_tokens=("<think>", "</think>")).save_pretrained(path)
    return str(path)


def test_options_make_the_config() -> None:
    options = (
        "--max-thinking-tokens 5 --max-answer-tokens 6 --ignore-end 2 --wait-text Hm --calculator "
        "--think-start < --think-end > --do-sample --seed 3 --draw gumbel --max-new-tokens 99"
    )
    assert parsed(options) == Reasoning(
        max_thinking_tokens=5,
        max_answer_tokens=6,
        ignore_end=2,
        wait_text="Hm",
        calculator=True,
        think_start="<",
        think_end=">",
        do_sample=True,
        seed=3,
        draw="gumbel",
        max_new_tokens=99,
    )


def test_the_loop_has_room_for_the_budget_unless_its_own_bound_is_given() -> None:
    assert all(
        parsed(f"--level {name}").max_thinking_tokens == budget for name, budget in LEVELS.items()
    )
    assert parsed("--max-thinking-tokens 2000").max_new_tokens == 2000 + 64 + MARK_TOKENS
    assert parsed("--level low --max-answer-tokens 2000").max_new_tokens == 2032 + MARK_TOKENS
    assert parsed("--max-thinking-tokens 2000 --max-new-tokens 50").max_new_tokens == 50


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--level low --max-thinking-tokens 3", "--level is a thinking budget too"),
        ("--level low --num-beams 2", "--num-beams does nothing in reasoning"),
        ("--level low --temperature 2", "--temperature does nothing in reasoning without"),
        ("--method greedy --ignore-end 1", "--ignore-end does nothing in greedy decoding"),
        ("--method sampling --level low", "--level does nothing in sampling"),
        ("--method beam --calculator", "--calculator does nothing in beam search"),
        ("--think-start a --think-end", "expected one argument"),
        ("--max-answer-tokens 0", ": --max-answer-tokens must lie in"),
    ],
)
def test_an_option_that_does_nothing_is_refused(options, words, capsys) -> None:
    with suppress(SystemExit):
        assert main(["decode", "--prompt", "x", *options.split()]) == 2
    assert words in capsys.readouterr().err


def test_a_run_is_printed_in_two_parts_and_its_trace_is_proved(thinking, tmp_path, capsys) -> None:
    out = tmp_path / "run.json"
    arguments = ["decode", "--model", thinking, "--prompt", "the fox", "--json", str(out)]
    assert main([*arguments, "--max-thinking-tokens", "4", "--max-answer-tokens", "3"]) == 0
    trace = read_trace(out)
    thought = "".join(step.text for step in trace.token_steps if step.phase == "thinking")
    answer = "".join(step.text for step in trace.token_steps if step.phase == "answer")
    assert capsys.readouterr().out == f"{thought}\n{answer}\n"
    assert trace.config.think_end == "</think>" and len(trace.token_ids) == 1 + 4 + 1 + 3
    assert main(["check", str(out), "--model", thinking]) == 0
    assert "the same picks lead to the same forced tokens" in capsys.readouterr().out


def test_the_marks_of_a_call_are_printed_though_they_add_no_text(capsys) -> None:
    chain = {"q": "<call>", "<call>": "8", "8": "*", "*": "1", "1": "<result>", "</result>": "2"}
    model = special(following({**chain, "2": END}))
    config = Reasoning(think_start="", think_end="", calculator=True)
    assert collect(model, "q", config, on_step=OPTIONS.printer()).text == "8*182"
    assert capsys.readouterr().out == "<call>8*1<result>8</result>2"


def test_a_model_without_marks_is_run_without_its_opening_mark(folder, tmp_path) -> None:
    out = tmp_path / "run.json"
    arguments = ["decode", "--model", folder, "--prompt", "the fox", "--json", str(out)]
    assert main([*arguments, "--max-thinking-tokens", "4", "--max-answer-tokens", "3"]) == 0
    trace = read_trace(out)
    assert trace.config.think_start == "" and trace.token_steps[0].origin == "argmax"
    closing = [s.chosen.text for s in trace.token_steps if s.forced_as == "think_end"]
    assert "".join(closing) == "\nFinal answer:"
    model = load_model(folder)
    prompt = join_text(model, trace.prompt_ids)
    assert prompt == f"{model.think_marks.instruction}\n\nthe fox\n" and trace.prompt == "the fox"
    assert main([*arguments, "--max-new-tokens", "1", "--think-end", "x", "--think-start", ""]) == 0
    assert join_text(model, read_trace(out).prompt_ids) == "the fox"


def test_a_sweep_writes_its_rows_and_goes_on_where_it_was(folder, tmp_path, capsys) -> None:
    out = tmp_path / "s.jsonl"
    options = "--budgets 4,0 --problems 3 --steps 2,3 --max-answer-tokens 3 --rows 4".split()
    arguments = ["sweep", "--model", folder, "--out", str(out), *options]
    assert main(arguments) == 0
    table = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in table] == ["budget", "0", "4"] and table[0][1] == "right"
    sweep = read_sweep(out)
    assert sweep.complete and len(sweep.rows) == 6
    lines = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(b"".join(lines[:3]))
    assert main(arguments) == 0
    assert "6 of 6 runs" in capsys.readouterr().err
    assert out.read_bytes().startswith(b"".join(lines[:3])) and read_sweep(out).complete
    for option, words in (("--rows 0", "must be 1 or more, got 0"), ("--cut", "rise from 1")):
        assert main([*arguments, *option.split()]) == 2
        assert words in capsys.readouterr().err


def test_a_calculator_that_is_not_called_is_said(capsys) -> None:
    ask = ["decode", "--chat", "--prompt", "What is 48 * 96 + 3?", "--method", "reasoning"]
    ask += ["--max-thinking-tokens", "4", "--max-answer-tokens", "4"]
    assert main([*ask, "--calculator"]) == 0
    assert "The model made no call: every digit is its own." in capsys.readouterr().err
    assert main(ask) == 0
    assert "call" not in capsys.readouterr().err


def test_a_sweep_of_the_whole_loop_has_budgets_of_its_own(folder, tmp_path) -> None:
    out = tmp_path / "s.jsonl"
    arguments = ["sweep", "--model", folder, "--out", str(out), "--problems", "1", "--cut"]
    assert main(arguments) == 0
    assert read_sweep(out).plan.budgets == (16, 32, 48, 64, 80, 96, 112, 128)


def test_a_sweep_of_one_s_own_problems(folder, tmp_path, capsys) -> None:
    mine, out = tmp_path / "mine.jsonl", tmp_path / "s.jsonl"
    mine.write_text(json.dumps({"question": "12 + 30?", "answer": 42}) + "\n")
    arguments = ["sweep", "--model", folder, "--out", str(out), "--budgets", "2"]
    assert main([*arguments, "--file", str(mine), "--samples", "3", "--seed", "5"]) == 0
    sweep = read_sweep(out)
    assert [row.expected for row in sweep.rows] == ["42"] * 3 and sweep.plan.config.do_sample
    capsys.readouterr()
    mine.write_text("question,answer\nx,y\n")
    assert main([*arguments, "--file", str(mine)]) == 2
    assert "Line 2: the answer must be a number" in capsys.readouterr().err
    assert main(["sweep", "--out", str(out), "--budgets", "x"]) == 2
    assert "--budgets must be whole numbers" in capsys.readouterr().err


def test_a_name_of_the_operator_s_is_one_in_processes_too(folder, tmp_path, monkeypatch) -> None:
    begin = Mock(side_effect=lambda _path, work, *_, **__: work.begin() and [])
    monkeypatch.setenv("DECODING_EXPLORER_MODELS", f"small={folder}")
    monkeypatch.setattr(type(SWEEPS), "extend", begin)
    to = ["--workers", "2", "--out", str(tmp_path / "rows.jsonl")]
    assert main(["sweep", "--model", "small", "--problems", "1", "--budgets", "2", *to]) == 0
    plan = tmp_path / "plan.yaml"
    plan.write_text("questions: own:facts\ncount: 1\nways: [{name: a, model: small}]\n")
    assert main(["evaluate", str(plan), *to]) == 0
    assert begin.call_count == 2
