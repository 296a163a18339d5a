"""Turns the steps of a run into parts of the answer, as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, cast

from core.decoding.beam.types import BeamStep
from core.decoding.config import MethodConfig
from core.decoding.loop.text import join_prompt, join_text
from core.decoding.protocol import LanguageModel
from core.decoding.speculative.types import DraftRound
from core.decoding.trace import PromptStep, Step, TokenStep, Trace
from core.server.api.final import Taken, final_of
from core.server.api.history import Record
from core.server.api.logprobs import TokenLogprobs, Wanted
from core.server.api.parts import (
    AnswerPart,
    ChoiceEnded,
    ChoiceText,
    Delta,
    PartPhase,
    finish_reason_of,
    reasoning_tokens,
    tokens_in,
)
from core.server.api.plan import Plan
from core.server.api.scoring import PromptReader, Scorer, StepReader, Tap

# Methods whose steps are made of the logits of the last forward, one token a step.
STEPWISE = ("greedy", "sampling", "reasoning")


class RequestRun(NamedTuple):
    """One run of a request.

    Args:
        choices: whose text it gives: of a search several, best first.
        prompt_text: what the user wrote, of a conversation.
    """

    choices: tuple[int, ...]
    prompt_ids: list[int]
    prompt_text: str | None
    config: MethodConfig


class Writer:
    """Writes the parts of one run.

    Log-probabilities come from the logits that a step was made of, or, where a method's steps
    aren't made of one forward's, from a forward pass of their own.
    """

    def __init__(
        self,
        plan: Plan,
        record: Record,
        model: LanguageModel,
        run: RequestRun,
        put: Callable[[AnswerPart], None],
    ) -> None:
        self._plan, self._record, self._run, self._put = plan, record, run, put
        self._bare, wanted = model, plan.logprobs
        self._text = ChoiceText(run.config)
        self._prompt = None
        if plan.echo and wanted:
            self._prompt = PromptReader(model, run.prompt_ids, wanted)
        self._tap = Tap(model, self._prompt)
        self._reader: StepReader | None = None
        self._scorer: Scorer | None = None
        if wanted and run.config.method in STEPWISE:
            self._reader = StepReader(self._tap, run.prompt_ids, run.config, wanted)

    @property
    def model(self) -> LanguageModel:
        """The model to run with."""
        tapped = self._reader is not None or self._prompt is not None
        return cast(LanguageModel, self._tap) if tapped else self._bare

    def on_step(self, step: Step) -> None:
        """Take in a step as soon as it is there."""
        self._record.steps.append(step)
        self._record.count(tokens_in(step))
        if isinstance(step, PromptStep):
            self._write_prompt()
        elif isinstance(step, TokenStep):
            logprobs = (self._reader.read(step),) if self._reader else self._score(step.token_ids)
            self._send(self._text.push(step), step.token_ids, logprobs)
        elif isinstance(step, DraftRound):
            written = self._text.push_answer(step.text)
            self._send(written, step.token_ids, self._score(step.token_ids))
        else:
            # A search is sure of its text at its end.
            assert isinstance(step, BeamStep)

    def _write_prompt(self) -> None:
        if self._plan.echo:
            ids = tuple(self._run.prompt_ids)
            logprobs = tuple(self._prompt.tokens) if self._prompt else ()
            for choice in self._run.choices:
                self._put(Delta(choice, join_prompt(self._bare, ids), "prompt", ids, logprobs))

    def _score(self, token_ids: Sequence[int]) -> tuple[TokenLogprobs, ...]:
        wanted = self._plan.logprobs
        if wanted is None:
            return ()
        if self._scorer is None:
            self._scorer = self._new_scorer(wanted)
        return self._scorer.read(token_ids)

    def _new_scorer(self, wanted: Wanted, taken: Taken = lambda _: ()) -> Scorer:
        model, run = self._bare, self._run
        final = final_of(model, run.config, taken) if wanted.mode == "final" else None
        return Scorer(model, run.prompt_ids, wanted, final)

    def _send(
        self,
        written: Sequence[tuple[PartPhase, str]],
        token_ids: Sequence[int],
        logprobs: tuple[TokenLogprobs, ...],
    ) -> None:
        """The tokens go with the last of the texts."""
        choice = self._run.choices[0]
        *before, (phase, text) = written
        for early, held in before:
            self._put(Delta(choice, held, early, ()))
        self._put(Delta(choice, text, phase, tuple(token_ids), logprobs))

    def finish(self, trace: Trace) -> None:
        """Say how the run ended, and of a search what it found."""
        if trace.hypotheses:
            self._write_hypotheses(trace)
            return
        choice = self._run.choices[0]
        for phase, text in self._text.flush():
            self._put(Delta(choice, text, phase, ()))
        if trace.finish_reason != "cancelled" or self._plan.only_prompt:
            reason = finish_reason_of(trace.finish_reason)
            count = len(trace.token_ids)
            self._put(ChoiceEnded(choice, reason, count, reasoning_tokens(trace)))

    def _write_hypotheses(self, trace: Trace) -> None:
        for choice, found in zip(self._run.choices, trace.hypotheses, strict=False):
            text, ids = ChoiceText(self._run.config), found.token_ids
            if wanted := self._plan.logprobs:
                self._scorer = self._new_scorer(wanted, partial(_taken, trace, found.group))
            said = "".join(one for _, one in text.push_answer(join_text(self._bare, ids)))
            said += "".join(one for _, one in text.flush())
            self._put(Delta(choice, said, "answer", ids, self._score(ids)))
            self._put(ChoiceEnded(choice, finish_reason_of(found.finish_reason), len(ids)))


def _taken(trace: Trace, group: int, index: int) -> Sequence[int]:
    """What the groups before one took at a step of a search."""
    return trace.beam_steps[index].taken_before(group)
