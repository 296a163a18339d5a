"""Emitter: turns the steps of a run into parts of the answer, as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, cast

from core.decoding.beam.types import BeamStep
from core.decoding.config import MethodConfig
from core.decoding.loop.text import TextStream, join_prompt
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.split import END_OF_PROMPT, marks_of, special_name
from core.decoding.record.steps import PromptStep, Step, TokenStep
from core.decoding.record.trace import Trace
from core.decoding.speculative.types import DraftRound
from core.server.api.answer.logprobs import TokenLogprobs
from core.server.api.answer.parts import (
    AnswerPart,
    ApiFinishReason,
    ChoiceEnded,
    Delta,
    PartPhase,
    PromptScored,
)
from core.server.api.history import Record
from core.server.api.request.plan import LogprobsOptions, Plan
from core.server.api.run.reading import STEPWISE, Taken, reader_of
from core.server.api.run.scoring import PromptReader, Scorer, StepReader, Tap
from core.server.api.run.text import ChoiceText
from core.server.job import tokens_in


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


class Emitter:
    """Emits the parts of one run.

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
        self._bare, options = model, plan.logprobs
        self._text = self._new_text()
        self._prompt = self._scored = None
        if plan.echo and options:
            self._prompt = PromptReader(model, run.prompt_ids, options)
        if plan.prompt_logprobs is not None:
            self._scored = PromptReader(
                model, run.prompt_ids, LogprobsOptions(plan.prompt_logprobs)
            )
        tap = Tap(model, [reader for reader in (self._prompt, self._scored) if reader])
        self._reader: StepReader | None = None
        self._scorer: Scorer | None = None
        if options and run.config.method in STEPWISE:
            self._reader = StepReader(tap, run.prompt_ids, run.config, options)
        tapped = self._reader or self._prompt or self._scored
        # The model to run with.
        self.model = cast(LanguageModel, tap) if tapped else model

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
            added = self._text.push_step(step, special_name(self._bare, step.token_id))
            self._send([self._shown(added, step.token_id)], step.token_ids, logprobs)
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
        if self._plan.logprobs is None:
            return ()
        if self._scorer is None:
            self._scorer = self._new_scorer(self._plan.logprobs)
        return self._scorer.read(token_ids)

    def _new_scorer(self, options: LogprobsOptions, taken: Taken = lambda _: ()) -> Scorer:
        read = reader_of(self._bare, self._run.config, options, taken)
        return Scorer(self._bare, self._run.prompt_ids, read)

    def _push(
        self, text: ChoiceText, texts: Sequence[str], ids: Sequence[int]
    ) -> list[list[tuple[PartPhase, str]]]:
        """Return what each token adds to the texts of a choice."""
        return [
            self._shown(text.push(added, special_name(self._bare, token_id)), token_id)
            for added, token_id in zip(texts, ids, strict=True)
        ]

    def _shown(
        self, added: list[tuple[PartPhase, str]], token_id: int
    ) -> list[tuple[PartPhase, str]]:
        """Write out a special token where the request wants it; an end is none."""
        if not self._plan.special or token_id in self._bare.eos_ids:
            return added
        *before, (phase, text) = added
        return [*before, (phase, text + special_name(self._bare, token_id))]

    def _send(
        self,
        added: Sequence[Sequence[tuple[PartPhase, str]]],
        token_ids: Sequence[int],
        logprobs: Sequence[TokenLogprobs],
        choice: int | None = None,
    ) -> None:
        """Send what each token adds; neighbours of one phase go together."""
        choice = self._run.choices[0] if choice is None else choice
        parts: list[Delta] = []
        for at, (token_id, (*before, (phase, text))) in enumerate(
            zip(token_ids, added, strict=True)
        ):
            parts += [Delta(choice, held, early, ()) for early, held in before if held]
            part = Delta(choice, text, phase, (token_id,), tuple(logprobs[at : at + 1]))
            if parts and parts[-1].phase == phase:
                part = parts.pop().then(part)
            parts.append(part)
        for part in parts:
            self._put(part)

    def finish(self, trace: Trace) -> None:
        """Emit how the run ended, and of a search what it found."""
        if trace.hypotheses:
            self._write_hypotheses(trace)
            return
        choice = self._run.choices[0]
        for phase, text in self._text.flush():
            self._put(Delta(choice, text, phase, ()))
        if trace.finish_reason != "cancelled" or self._plan.only_prompt:
            thinking = self._text.thinking_tokens(trace)
            self._end(choice, trace.finish_reason, len(trace.token_ids), thinking)

    def _write_hypotheses(self, trace: Trace) -> None:
        for choice, hypothesis in zip(self._run.choices, trace.hypotheses, strict=False):
            text, ids = self._new_text(), hypothesis.token_ids
            if options := self._plan.logprobs:
                taken = partial(_taken, trace, hypothesis.group)
                self._scorer = self._new_scorer(options, taken)
            stream = TextStream(self._bare)
            texts = [stream.push(token_id) for token_id in ids]
            texts[-1] += stream.flush()
            added = self._push(text, texts, ids)
            added[-1] += text.flush()
            self._send(added, ids, self._score(ids), choice)
            self._end(choice, hypothesis.finish_reason, len(ids), text.thinking_tokens(trace))

    def _end(self, choice: int, reason: str, tokens: int, thinking_tokens: int) -> None:
        word: ApiFinishReason = "stop" if reason in ("eos", "stop") else "length"
        self._put(ChoiceEnded(choice, word, tokens, thinking_tokens))


def _taken(trace: Trace, group: int, index: int) -> Sequence[int]:
    """Return the tokens that the groups before one took at a step of a search."""
    return trace.beam_steps[index].taken_before(group)
