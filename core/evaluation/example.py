"""Read the stored reasoning example without torch; `python -m core.evaluation.example` makes it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..decoding.errors import DecodingError, SweepError
from ..decoding.files import own_json, rounded_values, unwritable, write_file
from ..decoding.reasoning.config import Reasoning
from ..decoding.record.trace import Trace
from ..decoding.shaping.config import Shaping
from ..decoding.validation import ShortRepr
from ..language import N_, Message
from .anew import (
    best_of_anew,
    rivalry_anew,
    strip_anew,
    transcript_anew,
    vote_anew,
)
from .strict_json import read_as, to_json
from .sweep.files import sweep_from_json, sweep_to_json
from .sweep.types import BudgetSweep, SweepPlan
from .types import Problem, ProblemSet, Rivalry, StopStrip, Transcript, Vote
from .votes.best_of import SampledProblems, of_votes, shortened_texts

REWARD = "embedded:reward"
SCHEMA = "decoding-explorer/reasoning"
VERSION = 1
BUDGETS = tuple(range(0, 129, 16))
PROBLEMS, RIVALRY_PROBLEMS, RIVALRY_VOTES = 48, 24, 3
# Problems so hard that single samples often fail and a vote can correct them.
RIVALRY_STEPS = (5, 6, 7)
SAMPLES, TEMPERATURE = 8, 1.0
BEST_OF_SAMPLES = 16
HARD_SUMS = 20
SEED, ANSWER = 7, 24
_DIGITS = 7
# Difficulty of the strip's problem: long enough for changes of the answer, short enough to read.
RUN_STEPS = 6


@dataclass(frozen=True, slots=True, repr=False)
class ReasoningExample(ShortRepr):
    """Measurements that the page shows before any run.

    Args:
        sweep: sweep of thinking budgets with a forced close.
        cut: sweep of budgets for all tokens, without a forced close.
        rivalry: strategies on hard problems, with the votes of the first problems only.
        vote: samples of the strip's problem.
        run: one run on the strip's problem.
        tools: a hard sum without and with the calculator.
        best_of: samples of hard problems, each with its reward.
    """

    sweep: BudgetSweep
    cut: BudgetSweep
    rivalry: Rivalry
    vote: Vote
    run: Trace
    strip: StopStrip
    tools: tuple[Transcript, Transcript]
    best_of: SampledProblems | None = None


def load_example(path: str | Path) -> ReasoningExample:
    """Read the stored example.

    Raises:
        SweepError: the file can't be read or is no example of reasoning.
    """
    return example_from_dict(own_json(path, Message("The reasoning example"), SweepError))


def example_to_dict(example: ReasoningExample) -> dict[str, Any]:
    """Return plain JSON values, numbers to seven digits (a sweep's to six decimals)."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "sweep": sweep_to_json(example.sweep),
        "cut": sweep_to_json(example.cut),
        **rounded_values(
            {
                "rivalry": to_json(example.rivalry),
                "vote": to_json(example.vote),
                "strip": to_json(example.strip),
                "run": example.run.to_dict(),
                "tools": [to_json(transcript) for transcript in example.tools],
                "best_of": to_json(example.best_of),
            },
            _DIGITS,
        ),
    }


def example_from_dict(data: Any) -> ReasoningExample:
    """Return the example that `example_to_dict` wrote; verdicts are recomputed from its texts.

    Raises:
        SweepError: wrong schema or version, or a part is missing or damaged.
    """
    if not isinstance(data, dict) or (data.get("schema"), data.get("version")) != (SCHEMA, VERSION):
        raise SweepError(
            Message("This is no reasoning example in version {version}.", version=VERSION)
        )
    try:
        tools = _read(tuple[Transcript, Transcript], data["tools"])
        samples = _read(SampledProblems | None, data.get("best_of"))
        return ReasoningExample(
            sweep=sweep_from_json(data["sweep"]),
            cut=sweep_from_json(data["cut"]),
            rivalry=rivalry_anew(_read(Rivalry, data["rivalry"])),
            vote=vote_anew(_read(Vote, data["vote"])),
            strip=strip_anew(_read(StopStrip, data["strip"])),
            run=Trace.from_dict(data["run"]),
            tools=(transcript_anew(tools[0]), transcript_anew(tools[1])),
            best_of=best_of_anew(samples) if samples else None,
        )
    except (DecodingError, KeyError, TypeError, ValueError) as error:
        raise SweepError(N_("The reasoning example is damaged: get the file again.")) from error


def _read(kind: Any, data: Any) -> Any:
    return read_as(kind, data, SweepError)


def make_example(model_id: str) -> ReasoningExample:
    """Make all measurements of the example."""
    from ..models.registry import load_model
    from .early_stops import stop_strip
    from .questions.problems import make_problems
    from .scoring.verifier import check_arithmetic
    from .sweep.run import run_sweep
    from .votes.compare import compare_rivals
    from .votes.sampling import sample_and_vote

    model, problems = load_model(model_id), make_problems(PROBLEMS, seed=SEED)
    greedy = Reasoning(max_answer_tokens=ANSWER)
    greedy = replace(greedy, max_new_tokens=greedy.room)
    plan = SweepPlan(model_id, problems, greedy, BUDGETS, model_revision=model.revision)
    truncated = replace(plan, budgets=BUDGETS[1:], budget_field="max_new_tokens")
    hard = make_problems(RIVALRY_PROBLEMS, seed=SEED, steps=RIVALRY_STEPS)
    drawn = replace(greedy, do_sample=True, shaping=Shaping(temperature=TEMPERATURE))
    rivalry = compare_rivals(model, hard, drawn, samples=SAMPLES, verifier=check_arithmetic)
    sweep = run_sweep(model, plan)
    problem = _telling(sweep)
    run = _run(model, problem, replace(greedy, top_candidates=3))
    return ReasoningExample(
        sweep=sweep,
        cut=run_sweep(model, truncated),
        rivalry=replace(rivalry, votes=rivalry.votes[:RIVALRY_VOTES]),
        vote=sample_and_vote(model, problem, drawn, SAMPLES, verifier=check_arithmetic),
        run=run,
        strip=stop_strip(model, problem, run),
        tools=_tools(model, greedy),
        best_of=make_best_of(model, hard, drawn),
    )


def make_best_of(model: Any, hard: ProblemSet, config: Reasoning) -> SampledProblems:
    """Return samples of hard problems with the rewards of the embedded reward model."""
    from ..models.registry import load_reward_model
    from .scoring.verifier import check_arithmetic
    from .votes.sampling import sample_each

    score = load_reward_model(REWARD).score
    votes = sample_each(
        model, hard.problems, config, BEST_OF_SAMPLES, verifier=check_arithmetic, scorer=score
    )
    sampled = shortened_texts(of_votes(votes))
    return SampledProblems(sampled, hard.name, model.model_id, config, REWARD)


def _telling(sweep: BudgetSweep) -> Problem:
    """Return the first problem of `RUN_STEPS` steps that is right only with thinking."""
    outcomes = {(row.problem, row.budget): row.outcome for row in sweep.rows}
    for problem in sweep.plan.problems.problems:
        changes = outcomes[problem.key, BUDGETS[0]], outcomes[problem.key, BUDGETS[-1]]
        if problem.steps == RUN_STEPS and changes == ("wrong", "correct"):
            return problem
    raise DecodingError(
        Message(
            "Thinking helps with no problem of {run_steps} steps; take another model.",
            run_steps=RUN_STEPS,
        )
    )


def _tools(model: Any, config: Reasoning) -> tuple[Transcript, Transcript]:
    """Return the first hard sum that is right only with the calculator: without it, and with it."""
    from .attempts import transcript_of
    from .questions.problems import make_hard_sums
    from .tools import both_ways

    for problem in make_hard_sums(HARD_SUMS, seed=SEED).problems:
        alone, with_tool = (
            transcript_of(version, _run(model, version, how))
            for version, how in both_ways(problem, config)
        )
        if (alone.attempt.outcome, with_tool.attempt.outcome) == ("wrong", "correct"):
            return alone, with_tool
    raise DecodingError(
        Message(
            "The calculator helps with none of {hard_sums} sums; take another model.",
            hard_sums=HARD_SUMS,
        )
    )


def _run(model: Any, problem: Problem, config: Reasoning) -> Trace:
    from ..decoding.check import check
    from ..decoding.decode import collect
    from .questions.asking import prompt_ids_of

    ids = prompt_ids_of(model, problem)
    trace = collect(model, ids, config, prompt_text=problem.question)
    return trace.with_checks(tuple(check(trace, model)))


def main() -> int:
    """Make the example with the embedded model; return 2 on failure."""
    name = "python -m core.evaluation.example"
    parser = argparse.ArgumentParser(prog=name, description=main.__doc__)
    parser.add_argument("file", help="where to write the example")
    parser.add_argument("--model", default="embedded:target", help="as in decode")
    args = parser.parse_args()
    try:
        data = example_to_dict(make_example(args.model))
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        write_file(args.file, text)
    except (DecodingError, OSError) as error:
        sentence = unwritable(args.file, error) if isinstance(error, OSError) else error
        print(f"{name}: {sentence}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
