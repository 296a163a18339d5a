"""Self-consistency (Wang et al. 2022), best of N, and answers checked by a verifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...decoding.errors import ConfigError
from ...decoding.protocol import LanguageModel
from ...decoding.reasoning.config import Reasoning
from ...decoding.reasoning.types import ThinkMarks
from ...decoding.validation import MAX_SEED
from ...language import Message
from ..attempts import ROWS, AttemptTask, attempt_all
from ..questions.asking import prompt_ids_of
from ..types import Attempt, Problem, Vote
from .ballots import VerifierFunction, vote

ScorerFunction: TypeAlias = Callable[[str, Sequence[str]], Sequence[float | None]]
"""From a question and whole replies to a score of each (`RewardModel.score`)."""

MAX_SAMPLES = 256


def sample_and_vote(
    model: LanguageModel,
    problem: Problem,
    config: Reasoning,
    samples: int,
    *,
    verifier: VerifierFunction | None = None,
    scorer: ScorerFunction | None = None,
    marks: ThinkMarks | None = None,
    on_attempt: Callable[[Attempt], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Vote:
    """Draw N attempts in one batch, with seeds `config.seed`, `+ 1`, ..., and vote.

    Args:
        should_stop: called after every forward; on a stop, the ended attempts vote.

    Raises:
        ConfigError: the config does not sample, so all attempts would be the same.
        Other errors: as `reason_in_batch`.
    """
    ids = prompt_ids_of(model, problem, marks)
    tasks = [AttemptTask(problem, ids, settings) for settings in seeded(config, samples)]
    ended: dict[int, Attempt] = {}
    rows = min(ROWS, samples)
    for at, attempt in attempt_all(model, tasks, rows=rows, should_stop=should_stop):
        ended[at] = attempt
        if on_attempt is not None:
            on_attempt(attempt)
    attempts = [ended[at] for at in sorted(ended)]
    made = vote(problem, attempts, verifier, rewards_of(scorer, problem, attempts, config))
    return replace(made, model_id=model.model_id, config=config)


def sample_each(
    model: LanguageModel,
    problems: Sequence[Problem],
    config: Reasoning,
    samples: int,
    *,
    verifier: VerifierFunction | None = None,
    scorer: ScorerFunction | None = None,
    marks: ThinkMarks | None = None,
    on_attempt: Callable[[Attempt], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> tuple[Vote, ...]:
    """Run `sample_and_vote` on each problem; on a stop, return the problems with all attempts."""
    votes = []
    for problem in problems:
        made = sample_and_vote(
            model,
            problem,
            config,
            samples,
            verifier=verifier,
            scorer=scorer,
            marks=marks,
            on_attempt=on_attempt,
            should_stop=should_stop,
        )
        if len(made.attempts) < samples:
            break
        votes.append(made)
    return tuple(votes)


def rewards_of(
    scorer: ScorerFunction | None, problem: Problem, attempts: Sequence[Attempt], config: Reasoning
) -> Sequence[float | None]:
    """Return the reward of each attempt; empty without a scorer."""
    if scorer is None:
        return ()
    return scorer(problem.question, [whole_reply(attempt, config) for attempt in attempts])


def whole_reply(attempt: Attempt, config: Reasoning) -> str:
    """Return the text of a run, with its thinking between the marks."""
    if not attempt.thinking_tokens:
        return attempt.answer_text
    return f"{config.think_start}{attempt.thinking}{config.think_end}{attempt.answer_text}"


def seeded(config: Reasoning, samples: int) -> list[Reasoning]:
    """Return the configs of N attempts.

    Raises:
        ConfigError: several attempts without a draw, or too many attempts.
    """
    if not 1 <= samples <= MAX_SAMPLES:
        raise ConfigError(
            Message(
                "must lie in [1, {max_samples}], got {samples}.",
                max_samples=MAX_SAMPLES,
                samples=samples,
            ),
            "samples",
            "",
        )
    if samples > 1 and not config.draws:
        raise ConfigError(
            Message(
                "{samples} samples need something to draw: set do_sample, and a "
                "temperature above 0.",
                samples=samples,
            )
        )
    if config.seed > MAX_SEED - samples:
        raise ConfigError(
            Message(
                "leaves no room for {samples} seeds, got {seed}.", samples=samples, seed=config.seed
            ),
            "seed",
            "Reasoning",
        )
    return [replace(config, seed=config.seed + at) for at in range(samples)]
