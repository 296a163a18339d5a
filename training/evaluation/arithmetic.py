"""Arithmetic: with thinking, without, with a budget, by vote; and the calculator's calls."""

import itertools
import random
import re
from collections import Counter

import torch

from training.corpus import calculator
from training.corpus.arithmetic import SHORT_SYSTEMS, THINKING_SYSTEMS, ask
from training.corpus.problems import ChainStep, Problem, calculate, draw_problem, is_held_out
from training.corpus.tokens import CALL, END_RESULT, END_THINK, RESULT, THINK
from training.evaluation.measure import Measure, Subject, percent
from training.generation import chat_ids

BUDGETS = tuple(range(0, 129, 8))
THINKING_STEPS, HASTY_STEPS, VOTE_STEPS, BUDGET_STEPS = (
    range(1, 7),
    range(3, 9),
    range(3, 9),
    range(1, 9),
)
VOTERS, MOST_THINKING, MOST_ANSWER, MOST_CALLS = 9, 150, 24, 4
_CALL = re.compile(rf"{CALL}(\d+)([-+*/])(\d+){RESULT}$")


def draw_held_out(steps: int, count: int) -> list[Problem]:
    """Draw problems that no training text contains; always the same ones."""
    rng = random.Random(1000 + steps)
    problems = [draw_problem(rng, steps, held_out=True) for _ in range(count)]
    assert all(is_held_out(problem.key) for problem in problems)
    return problems


def ask_all(subject: Subject, problems: list[Problem], system: str) -> list[list[int]]:
    """The prompts that ask for the answers, in words, in symbols and as tales."""
    rng = random.Random(1)
    return [chat_ids(subject.tokenizer, ask(rng, problem), system) for problem in problems]


def answers(subject: Subject, rows: list[list[int]]) -> list[int | None]:
    """The number that each reply ends with; None where there is none."""
    texts = subject.tokenizer.batch_decode(rows)
    return [_last_number(text.rsplit(END_THINK, 1)[-1]) for text in texts]


def measure_thinking(subject: Subject) -> list[Measure]:
    """Accuracy by steps, greedily, with full thinking and with none."""
    rows = []
    for name, system, steps, goal in (
        ("full thinking", THINKING_SYSTEMS[0], THINKING_STEPS, 0.95),
        ("no thinking", SHORT_SYSTEMS[0], HASTY_STEPS, 0.4),
    ):
        shares = [accuracy(subject, count, system) for count in steps]
        high = goal > 0.5
        reached = min(shares) >= goal if high else max(shares) <= goal
        spread = ", ".join(
            f"{count}: {percent(share)}" for count, share in zip(steps, shares, strict=True)
        )
        wanted = f"{'at least' if high else 'at most'} {percent(goal)} at every length"
        title = f"arithmetic, {steps[0]} to {steps[-1]} steps, {name}, greedy"
        rows.append(Measure(title, wanted, spread, reached))
    return rows


def accuracy(subject: Subject, steps: int, system: str) -> float:
    """The share of held-out chains of so many steps that are answered rightly."""
    problems = draw_held_out(steps, subject.questions)
    prompts = ask_all(subject, problems, system)
    found = answers(subject, subject.reply(prompts, MOST_THINKING))
    return _share(found, problems)


def budget_curve(subject: Subject) -> list[tuple[int, float]]:
    """Accuracy over chains of 1 to 8 steps for each thinking budget in tokens."""
    problems = [
        problem
        for steps in BUDGET_STEPS
        for problem in draw_held_out(steps, max(2, subject.questions // 2))
    ]
    think, end = subject.tokenizer.convert_tokens_to_ids([THINK, END_THINK])
    prompts = [[*ids, think] for ids in ask_all(subject, problems, THINKING_SYSTEMS[0])]
    thoughts = subject.reply(prompts, max(BUDGETS), stop=[end])
    thoughts = [thought[:-1] if thought[-1] == end else thought for thought in thoughts]
    curve = []
    for budget in BUDGETS:
        pairs = zip(prompts, thoughts, strict=True)
        closed = [[*prompt, *thought[:budget], end] for prompt, thought in pairs]
        found = answers(subject, subject.reply(closed, MOST_ANSWER))
        curve.append((budget, _share(found, problems)))
    return curve


def measure_budget(curve: list[tuple[int, float]]) -> Measure:
    """Whether the accuracy rises steadily: no budget does clearly worse than the one before."""
    shares = [share for _, share in curve]
    falls = [before - after for before, after in itertools.pairwise(shares)]
    found = ", ".join(f"{budget}: {100 * share:.0f}" for budget, share in curve)
    return Measure(
        "accuracy (%) by thinking budget in tokens, 1 to 8 steps",
        "rises steadily (never falls by more than 2 points)",
        found,
        max(falls) <= 0.02 and shares[-1] - shares[0] >= 0.4,
    )


def measure_vote(subject: Subject) -> Measure:
    """A single answer at temperature 1 against the majority of nine, by steps."""
    torch.manual_seed(5)
    gains, words = [], []
    for steps in VOTE_STEPS:
        problems = draw_held_out(steps, max(2, subject.questions // 2))
        prompts = ask_all(subject, problems, THINKING_SYSTEMS[0])
        rows = subject.reply(
            [prompt for prompt in prompts for _ in range(VOTERS)],
            MOST_THINKING,
            temperature=1.0,
        )
        found = answers(subject, rows)
        groups = [found[at : at + VOTERS] for at in range(0, len(found), VOTERS)]
        single = _share(found, [problem for problem in problems for _ in range(VOTERS)])
        vote = _share([majority(group) for group in groups], problems)
        gains.append(vote - single)
        words.append(f"{steps}: {percent(single)} against {percent(vote)}")
    return Measure(
        f"temperature 1, 3 to 8 steps: single answer against majority of {VOTERS}",
        "the vote better by 8 points somewhere",
        ", ".join(words),
        max(gains) >= 0.08,
    )


def majority(found: list[int | None]) -> int | None:
    """The most frequent answer; the first of them at a tie."""
    counted = Counter(answer for answer in found if answer is not None)
    return counted.most_common(1)[0][0] if counted else None


def measure_calculator(subject: Subject) -> Measure:
    """Sums too hard for the model alone, the results put in after each of its calls."""
    rng = random.Random(2000)
    problems = [calculator.draw_problem(rng, held_out=True) for _ in range(subject.questions)]
    prompts = [chat_ids(subject.tokenizer, calculator.ask(rng, one)) for one in problems]
    found = answers(subject, reply_with_calls(subject, prompts))
    share = _share(found, problems)
    return Measure(
        "calculator calls on sums too hard for the model alone",
        "at least 90 %",
        percent(share),
        share >= 0.9,
    )


def reply_with_calls(subject: Subject, prompts: list[list[int]]) -> list[list[int]]:
    """Reply to each prompt; whenever a call is complete, its result is put in."""
    end = subject.tokenizer.convert_tokens_to_ids(RESULT)
    replies: list[list[int]] = [[] for _ in prompts]
    open_ones = list(range(len(prompts)))
    for _ in range(MOST_CALLS):
        texts = [[*prompts[index], *replies[index]] for index in open_ones]
        rows = subject.reply(texts, 40, stop=[end])
        waiting = []
        for index, row in zip(open_ones, rows, strict=True):
            replies[index] += row
            result = result_of(subject.tokenizer.decode(row)) if row[-1] == end else None
            if result is not None:
                replies[index] += subject.tokenizer(f"{result}{END_RESULT}")["input_ids"]
                waiting.append(index)
        open_ones = waiting
        if not open_ones:
            break
    return replies


def result_of(text: str) -> int | None:
    """The result of the call that a text ends with; None for a call that makes no sense."""
    match = _CALL.search(text)
    if not match:
        return None
    step = ChainStep(match[2], int(match[3]))
    try:
        return calculate(int(match[1]), *step)
    except (ValueError, ZeroDivisionError):
        return None


def _share(found: list[int | None], problems: list[Problem]) -> float:
    right = [answer == one.answer for answer, one in zip(found, problems, strict=True)]
    return sum(right) / len(right)


def _last_number(text: str) -> int | None:
    numbers = re.findall(r"\d+", text)
    return int(numbers[-1]) if numbers and len(numbers[-1]) < 20 else None
