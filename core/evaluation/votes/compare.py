"""Compare one long attempt with many short ones at the same total of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ...decoding.errors import ConfigError
from ...decoding.protocol import LanguageModel
from ...decoding.reasoning.config import MARK_TOKENS, Reasoning
from ...decoding.reasoning.types import ThinkMarks
from ...language import Message
from ..attempts import ROWS, AttemptTask, attempt_all
from ..questions.asking import prompt_ids_of
from ..scoring.intervals import wilson
from ..types import (
    AnswerRule,
    Attempt,
    Problem,
    ProblemSet,
    Rivalry,
    StrategyResult,
    Vote,
)
from .ballots import VerifierFunction, vote
from .sampling import ScorerFunction, rewards_of, seeded


def bounded(config: Reasoning, tokens: int) -> Reasoning:
    """Return the config of an attempt with at most this number of tokens and room for the answer.

    Raises:
        ConfigError: there are fewer tokens than marks and answer need.
    """
    thinking = tokens - config.max_answer_tokens - MARK_TOKENS
    if thinking < 0:
        raise ConfigError(
            Message(
                "{tokens} tokens an attempt leave no room to think beside "
                "{max_answer_tokens} for the answer; give more tokens, fewer samples, "
                "or fewer tokens for the answer.",
                tokens=tokens,
                max_answer_tokens=config.max_answer_tokens,
            )
        )
    return replace(config, max_new_tokens=tokens, max_thinking_tokens=thinking)


def compare_rivals(
    model: LanguageModel,
    problems: ProblemSet,
    config: Reasoning,
    *,
    total_tokens: int = 1024,
    samples: int = 8,
    verifier: VerifierFunction | None = None,
    scorer: ScorerFunction | None = None,
    marks: ThinkMarks | None = None,
    rows: int = ROWS,
    on_attempt: Callable[[int, int], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Rivalry:
    """Compare one attempt (1 x total), greedy and drawn, with N drawn ones (N x total / N).

    Only the limits are equal: a finished attempt spends no more, and none gets more tokens than fit
    into the model's window with the longest question.

    Args:
        config: must draw; its limits are replaced, `max_answer_tokens` is kept.
        verifier: adds a strategy: the answer with the highest score.
        scorer: adds a strategy: the attempt with the highest reward.
        on_attempt: called with the number of ended attempts and of all attempts.
        should_stop: called after every forward; on a stop, problems with all attempts count.

    Raises:
        ConfigError: nothing is drawn, or the tokens don't suffice.
        as `reason_in_batch`.
    """
    prompts = [prompt_ids_of(model, problem, marks) for problem in problems.problems]
    longest = max(map(len, prompts), default=0)
    long = bounded(config, _within(model, longest, total_tokens))
    short = bounded(config, _within(model, longest, total_tokens // max(1, samples)))
    configs = [replace(long, do_sample=False), long, *seeded(short, samples)]
    attempts: dict[int, Attempt] = {}
    pairs = zip(problems.problems, prompts, strict=True)
    tasks = [AttemptTask(problem, ids, settings) for problem, ids in pairs for settings in configs]
    for at, attempt in attempt_all(model, tasks, rows=rows, should_stop=should_stop):
        attempts[at] = attempt
        if on_attempt is not None:
            on_attempt(len(attempts), len(tasks))

    def judged(problem: Problem, samples: list[Attempt]) -> Vote:
        return vote(problem, samples, verifier, rewards_of(scorer, problem, samples, short))

    greedy, singles, votes = _grouped(problems.problems, attempts, len(configs), judged)
    alone = _result("greedy", greedy, 1, long), _result("single", singles, 1, long)
    rivals, done = (*alone, *_voting(votes, samples, short)), _those_done(problems, votes)
    return Rivalry(done, total_tokens, rivals, tuple(votes), model.model_id, config)


def _within(model: LanguageModel, longest: int, tokens: int) -> int:
    """Return the tokens that fit into the model's window with the longest prompt."""
    return tokens if model.context_window is None else min(tokens, model.context_window - longest)


def _those_done(problems: ProblemSet, votes: Sequence[Vote]) -> ProblemSet:
    """Return the problems that have all their attempts; the name states a stop."""
    total = len(problems.problems)
    part = f"stopped after {len(votes)} of {total}, " if len(votes) < total else ""
    return ProblemSet(part + problems.name, tuple(vote.problem for vote in votes))


def _grouped(
    problems: Sequence[Problem],
    attempts: dict[int, Attempt],
    size: int,
    judged: Callable[[Problem, list[Attempt]], Vote],
) -> tuple[list[Vote], list[Vote], list[Vote]]:
    """Return votes on the two long attempts and on the short ones, for complete problems."""
    greedy, singles, votes = list[Vote](), list[Vote](), list[Vote]()
    for place, problem in enumerate(problems):
        slots = [attempts.get(place * size + at) for at in range(size)]
        whole = [attempt for attempt in slots if attempt is not None]
        if len(whole) == size:
            greedy.append(vote(problem, whole[:1]))
            singles.append(vote(problem, whole[1:2]))
            votes.append(judged(problem, whole[2:]))
    return greedy, singles, votes


def _voting(votes: Sequence[Vote], samples: int, config: Reasoning) -> list[StrategyResult]:
    """Return each rule's result on the samples; scores and checks are optional."""
    rules: list[AnswerRule] = ["majority", "best_of_n"]
    if any(vote_.rewards for vote_ in votes):
        rules.append("reward")
    if any(vote_.scores for vote_ in votes):
        rules.append("verifier")
    return [_result(rule, votes, samples, config) for rule in rules]


def _result(
    rule: AnswerRule, votes: Sequence[Vote], samples: int, config: Reasoning
) -> StrategyResult:
    total = max(1, len(votes))
    return StrategyResult(
        rule=rule,
        samples=samples,
        budget=config.max_new_tokens,
        correct=wilson(sum(each.is_right(rule) for each in votes), len(votes)),
        tokens=sum(each.tokens for each in votes) / total,
        seconds=sum(attempt.seconds for each in votes for attempt in each.attempts) / total,
    )
