"""Turns the steps of a run into parts of the answer, as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, cast

from core.decoding.beam.types import BeamStep
from core.decoding.config import MethodConfig
from core.decoding.loop.text import TextStream, join_prompt
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.split import END_OF_PROMPT, marks_of, special_name
from core.decoding.record.trace import PromptStep, Step, TokenStep, Trace
from core.decoding.speculative.types import DraftRound
from core.server.api.final import Taken, final_of
from core.server.api.history import Record
from core.server.api.logprobs import TokenLogprobs, Wanted
from core.server.api.parts import (
    AnswerPart,
    ChoiceEnded,
    ChoiceText,
    Delta,
    PartPhase,
    PromptScored,
    finish_reason_of,
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
        self._text = self._new_text()
        self._prompt = self._scored = None
        if plan.echo and wanted:
            self._prompt = PromptReader(model, run.prompt_ids, wanted)
        if plan.prompt_logprobs is not None:
            self._scored = PromptReader(model, run.prompt_ids, Wanted(plan.prompt_logprobs))
        self._tap = Tap(model, [one for one in (self._prompt, self._scored) if one])
        self._reader: StepReader | None = None
        self._scorer: Scorer | None = None
        if wanted and run.config.method in STEPWISE:
            self._reader = StepReader(self._tap, run.prompt_ids, run.config, wanted)

    @property
    def model(self) -> LanguageModel:
        """The model to run with."""
        tapped = self._reader or self._prompt or self._scored
        return cast(LanguageModel, self._tap) if tapped else self._bare

    def _new_text(self) -> ChoiceText:
        """Completions give the whole text; a message and a response give thinking apart."""
        run, whole = self._run, self._plan.endpoint == "completions"
        marks = ("", "") if whole else marks_of(self._bare)
        prompt = join_prompt(self._bare, run.prompt_ids[-END_OF_PROMPT:])
        return ChoiceText(run.config, marks, prompt, self._plan.keep_stop)

    def on_step(self, step: Step) -> None:
        """Take in a step as soon as it is there."""
        self._record.steps.append(step)
        self._record.count(tokens_in(step))
        if isinstance(step, PromptStep):
            self._write_prompt()
        elif isinstance(step, TokenStep):
            logprobs = (self._reader.read(step),) if self._reader else self._score(step.token_ids)
            said = self._text.push_step(step, self._special(step.token_id))
            self._send([self._shown(said, step.token_id)], step.token_ids, logprobs)
        elif isinstance(step, DraftRound):
            rounds = self._push(self._text, step.texts, step.token_ids)
            self._send(rounds, step.token_ids, self._score(step.token_ids))
        else:
            # A search is sure of its text at its end.
            assert isinstance(step, BeamStep)

    def _write_prompt(self) -> None:
        if self._scored:
            tokens, ranks = tuple(self._scored.tokens), tuple(self._scored.ranks)
            for choice in self._run.choices:
                self._put(PromptScored(choice, tokens, ranks))
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

    def _special(self, token_id: int) -> str:
        return special_name(self._bare, token_id)

    def _push(
        self, text: ChoiceText, texts: Sequence[str], ids: Sequence[int]
    ) -> list[list[tuple[PartPhase, str]]]:
        """Return what each token adds to the texts of a choice."""
        pairs = zip(texts, ids, strict=True)
        return [self._shown(text.push(own, self._special(at)), at) for own, at in pairs]

    def _shown(self, said: list[tuple[PartPhase, str]], at: int) -> list[tuple[PartPhase, str]]:
        """With a special token written out where the request wants it; an end is none."""
        name = self._special(at) if self._plan.special and at not in self._bare.eos_ids else ""
        *before, (phase, text) = said
        return [*before, (phase, text + name)]

    def _send(
        self,
        said: Sequence[Sequence[tuple[PartPhase, str]]],
        token_ids: Sequence[int],
        logprobs: Sequence[TokenLogprobs],
        choice: int | None = None,
    ) -> None:
        """Send what each token adds; neighbours of one phase go together."""
        choice = self._run.choices[0] if choice is None else choice
        parts: list[Delta] = []
        for at, (token_id, (*before, (phase, text))) in enumerate(
            zip(token_ids, said, strict=True)
        ):
            parts += [Delta(choice, held, early, ()) for early, held in before if held]
            own = Delta(choice, text, phase, (token_id,), tuple(logprobs[at : at + 1]))
            if parts and parts[-1].phase == phase:
                own = parts.pop().then(own)
            parts.append(own)
        for part in parts:
            self._put(part)

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
            thinking = self._text.thinking_tokens(trace)
            self._put(ChoiceEnded(choice, reason, count, thinking))

    def _write_hypotheses(self, trace: Trace) -> None:
        for choice, found in zip(self._run.choices, trace.hypotheses, strict=False):
            text, ids = self._new_text(), found.token_ids
            if wanted := self._plan.logprobs:
                self._scorer = self._new_scorer(wanted, partial(_taken, trace, found.group))
            stream = TextStream(self._bare)
            texts = [stream.push(token_id) for token_id in ids]
            texts[-1] += stream.flush()
            said = self._push(text, texts, ids)
            said[-1] += text.flush()
            self._send(said, ids, self._score(ids), choice)
            reason = finish_reason_of(found.finish_reason)
            self._put(ChoiceEnded(choice, reason, len(ids), text.thinking_tokens(trace)))


def _taken(trace: Trace, group: int, index: int) -> Sequence[int]:
    """What the groups before one took at a step of a search."""
    return trace.beam_steps[index].taken_before(group)
