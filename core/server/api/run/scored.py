"""A run with the requested log-probabilities, computed in the model's process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple, TypeAlias, cast

from ....decoding.config import MethodConfig
from ....decoding.decode import collect
from ....decoding.protocol import LanguageModel
from ....decoding.record.steps import PromptStep, Step, TokenStep
from ....decoding.record.trace import Trace
from ....decoding.speculative.types import DraftRound
from ..answer.logprobs import TokenLogprobs
from ..request.plan import LogprobsOptions
from .reading import STEPWISE, Taken, reader_of
from .scoring import PromptReader, Scorer, StepReader, Tap

Logprobs: TypeAlias = tuple[TokenLogprobs, ...]


class ScoreRequest(NamedTuple):
    """Log-probabilities to read: of the run's tokens, and of its prompt's tokens for two fields."""

    tokens: LogprobsOptions | None = None
    echo: LogprobsOptions | None = None
    prompt: LogprobsOptions | None = None


class Scores(NamedTuple):
    """Log-probabilities of a step's tokens.

    Args:
        echo, prompt: of the prompt's tokens from the second on; only with the prompt's step.
        ranks: rank of each token in `prompt`, 1 for the most probable at its position.
    """

    tokens: Logprobs = ()
    echo: Logprobs = ()
    prompt: Logprobs = ()
    ranks: tuple[int, ...] = ()


class ScoredRun(NamedTuple):
    """A run's trace, and the log-probabilities of each hypothesis of a beam search."""

    trace: Trace
    hypotheses: tuple[Logprobs, ...]


def collect_scored(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    scoring: ScoreRequest,
    *,
    draft: LanguageModel | None,
    prompt_text: str | None,
    only_prompt: bool,
    on_step: Callable[[Step, Scores, float], object],
    should_stop: Callable[[], bool],
) -> ScoredRun:
    """Run the model, and call `on_step` with each step, its scores and the time of the step.

    Raises the errors of `collect`.

    Args:
        only_prompt: stop after the prompt's step.
        on_step: gets the time by `perf_counter` of the process that computes.

    Raises:
        as `collect`.
    """
    scorer = _RunScorer(model, draft, prompt_ids, config, scoring)
    over = False

    def on_each(step: Step) -> None:
        nonlocal over
        on_step(step, scorer.read(step), perf_counter())
        over = only_prompt

    trace = collect(
        scorer.model,
        prompt_ids,
        config,
        draft=draft,
        on_step=on_each,
        # Also called before the first step; the prompt counts as a step.
        should_stop=lambda: should_stop() or over,
        prompt_text=prompt_text,
    )
    return ScoredRun(trace, scorer.hypotheses(trace))


class _RunScorer:
    """Reader of a run's log-probabilities.

    It uses the logits that a step was chosen from or, for a method whose steps use several
    forwards, an extra forward pass.
    """

    def __init__(
        self,
        model: LanguageModel,
        draft: LanguageModel | None,
        prompt_ids: Sequence[int],
        config: MethodConfig,
        scoring: ScoreRequest,
    ) -> None:
        self._bare, self._ids, self._config, self._options = (
            model,
            prompt_ids,
            config,
            scoring.tokens,
        )
        self._echo, self._prompt = (
            options and PromptReader(model, prompt_ids, options)
            for options in (scoring.echo, scoring.prompt)
        )
        tap = Tap(model, [reader for reader in (self._echo, self._prompt) if reader])
        self._reader: StepReader | None = None
        self._scorer: Scorer | None = None
        if scoring.tokens and config.method in STEPWISE:
            self._reader = StepReader(tap, draft, prompt_ids, config, scoring.tokens)
        tapped = self._reader or self._echo or self._prompt
        # The model to run with.
        self.model = cast(LanguageModel, tap) if tapped else model

    def read(self, step: Step) -> Scores:
        """Return a step's scores; call it before the next step."""
        if isinstance(step, PromptStep):
            echo, prompt = self._echo, self._prompt
            return Scores(
                echo=tuple(echo.tokens) if echo else (),
                prompt=tuple(prompt.tokens) if prompt else (),
                ranks=tuple(prompt.ranks) if prompt else (),
            )
        if self._reader and isinstance(step, TokenStep):
            return Scores((self._reader.read(step),))
        if self._options and isinstance(step, TokenStep | DraftRound):
            self._scorer = self._scorer or self._new_scorer(self._options)
            return Scores(self._scorer.read(step.token_ids))
        return Scores()

    def hypotheses(self, trace: Trace) -> tuple[Logprobs, ...]:
        """Return the log-probabilities of each hypothesis."""
        if not self._options:
            return ()
        return tuple(
            self._new_scorer(self._options, partial(_taken, trace, hypothesis.group)).read(
                hypothesis.token_ids
            )
            for hypothesis in trace.hypotheses
        )

    def _new_scorer(self, options: LogprobsOptions, taken: Taken = lambda _: ()) -> Scorer:
        read = reader_of(self._bare, self._config, options, taken)
        return Scorer(self._bare, self._ids, read)


def _taken(trace: Trace, group: int, index: int) -> Sequence[int]:
    """Return the tokens that earlier groups of a beam search took at a step."""
    return trace.beam_steps[index].taken_before(group)
