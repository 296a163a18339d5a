"""Convert the steps of a run to parts of the answer, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import NamedTuple

from ....decoding.beam.types import BeamStep
from ....decoding.config import MethodConfig
from ....decoding.diffusion.types import CanvasStep
from ....decoding.loop.text import TextStream, join_prompt
from ....decoding.protocol import LanguageModel
from ....decoding.reasoning.split import END_OF_PROMPT, marks_of, special_name
from ....decoding.record.notes import CONSTRAINT_LEFT, CONSTRAINT_OPEN, GAVE_WAY
from ....decoding.record.steps import PromptStep, Step, TokenStep
from ....decoding.record.trace import Trace
from ....decoding.speculative.types import DraftRound
from ...job import tokens_in
from ..answer.logprobs import TokenLogprobs
from ..answer.parts import (
    AnswerPart,
    ApiFinishReason,
    CallDelta,
    ChoiceEnded,
    Delta,
    PartPhase,
    PromptScored,
)
from ..history import Record
from ..request.calls import CallSyntax
from ..request.formats import NAMES
from ..request.plan import LogprobsOptions, Plan
from .call_reader import reader_of
from .scored import ScoredRun, ScoreRequest, Scores
from .text import ChoiceText

# Keys of the notes that an answer repeats: a setting could not act as it should.
_SENT_NOTES = (CONSTRAINT_LEFT, CONSTRAINT_OPEN, GAVE_WAY)


class RequestRun(NamedTuple):
    """One run of a request.

    Args:
        choices: choices that get its text; for a beam search several, best first.
        prompt_text: the user's text in a conversation.
    """

    choices: tuple[int, ...]
    prompt_ids: list[int]
    prompt_text: str | None
    config: MethodConfig


class Emitter:
    """Emits the parts of one run."""

    def __init__(
        self,
        plan: Plan,
        record: Record,
        model: LanguageModel,
        run: RequestRun,
        put: Callable[[AnswerPart], None],
        syntax: CallSyntax | None = None,
    ) -> None:
        self._plan, self._record, self._run, self._put = plan, record, run, put
        self._model, self._syntax = model, syntax
        self._text = self._new_text()

    @property
    def scoring(self) -> ScoreRequest:
        """The log-probabilities to compute during the run."""
        plan = self._plan
        counted = plan.prompt_logprobs
        return ScoreRequest(
            plan.logprobs,
            plan.logprobs if plan.echo else None,
            None if counted is None else LogprobsOptions(counted),
        )

    def _new_text(self) -> ChoiceText:
        """Return the text of a choice; chat and responses separate the thinking from the answer."""
        run, syntax = self._run, self._syntax
        # A format acts from the first token on: what looks like a mark is text of the answer.
        whole = self._plan.endpoint == "completions" or self._plan.settings.constraint in NAMES
        marks = ("", "") if whole else marks_of(self._model)
        prompt = join_prompt(self._model, run.prompt_ids[-END_OF_PROMPT:])
        reader = reader_of(syntax) if syntax else None
        return ChoiceText(run.config, marks, prompt, self._plan.keep_stop, reader)

    def on_step(self, step: Step, scores: Scores, made: float) -> None:
        """Emit the parts of a new step; `made` is its time in the process that computes."""
        self._record.steps.append(step)
        self._record.count(tokens_in(step), made)
        if isinstance(step, PromptStep) or (isinstance(step, CanvasStep) and step.index == 0):
            self._write_prompt(scores)
        if isinstance(step, PromptStep):
            return
        if isinstance(step, TokenStep):
            added = self._text.push_step(step, special_name(self._model, step.token_id))
            shown = [self._shown(added, step.token_id)]
            self._send(self._text, shown, step.token_ids, scores.tokens)
        elif isinstance(step, DraftRound | CanvasStep):
            rounds = self._push(self._text, step.texts, step.token_ids)
            self._send(self._text, rounds, step.token_ids, scores.tokens)
        else:
            # A beam search knows its text only at the end.
            assert isinstance(step, BeamStep)

    def _write_prompt(self, scores: Scores) -> None:
        if self._plan.prompt_logprobs is not None:
            for choice in self._run.choices:
                self._put(PromptScored(choice, scores.prompt, scores.ranks))
        if self._plan.echo:
            ids = tuple(self._run.prompt_ids)
            text = join_prompt(self._model, ids)
            for choice in self._run.choices:
                self._put(Delta(choice, text, "prompt", ids, scores.echo))

    def _push(
        self, text: ChoiceText, texts: Sequence[str], ids: Sequence[int]
    ) -> list[list[tuple[PartPhase, str]]]:
        """Return the text that each token adds to a choice, by phase."""
        return [
            self._shown(text.push(added, special_name(self._model, token_id)), token_id)
            for added, token_id in zip(texts, ids, strict=True)
        ]

    def _shown(
        self, added: list[tuple[PartPhase, str]], token_id: int
    ) -> list[tuple[PartPhase, str]]:
        """Append a special token's name if the request wants it; not for an end of sequence, nor
        for the marks of a call.
        """
        if not self._plan.special or self._syntax or token_id in self._model.eos_ids:
            return added
        *before, (phase, text) = added
        return [*before, (phase, text + special_name(self._model, token_id))]

    def _send(
        self,
        text: ChoiceText,
        added: Sequence[Sequence[tuple[PartPhase, str]]],
        token_ids: Sequence[int],
        logprobs: Sequence[TokenLogprobs],
        choice: int | None = None,
    ) -> None:
        """Send the text that each token adds; consecutive texts of one phase are joined.

        Args:
            text: text of the choice, whose calls are sent after it.
        """
        choice = self._run.choices[0] if choice is None else choice
        parts: list[Delta] = []
        for at, (token_id, (*before, (phase, last))) in enumerate(
            zip(token_ids, added, strict=True)
        ):
            parts += [Delta(choice, held, early, ()) for early, held in before if held]
            part = Delta(choice, last, phase, (token_id,), tuple(logprobs[at : at + 1]))
            # Tokens of a call add no text; the log-probabilities of a text end before them.
            joined = last or not self._syntax or not (parts and parts[-1].text)
            if parts and parts[-1].phase == phase and joined:
                part = parts.pop().then(part)
            parts.append(part)
        for part in parts:
            self._put(part)
        self._send_calls(text, choice)

    def _send_calls(self, text: ChoiceText, choice: int) -> None:
        for call in text.take_calls():
            self._record.add_call(choice, call)
            self._put(CallDelta(choice, *call))

    def finish(self, run: ScoredRun) -> None:
        """Emit the end of the run, and the hypotheses of a beam search."""
        trace = run.trace
        if trace.hypotheses:
            self._write_hypotheses(run)
            return
        choice = self._run.choices[0]
        for phase, text in self._text.flush():
            self._put(Delta(choice, text, phase, ()))
        self._send_calls(self._text, choice)
        if trace.finish_reason != "cancelled" or self._plan.only_prompt:
            self._end(self._text, choice, trace, trace.finish_reason, len(trace.token_ids))

    def _write_hypotheses(self, run: ScoredRun) -> None:
        logprobs = chain(run.hypotheses, repeat(()))
        for choice, hypothesis, scores in zip(
            self._run.choices, run.trace.hypotheses, logprobs, strict=False
        ):
            text, ids = self._new_text(), hypothesis.token_ids
            stream = TextStream(self._model)
            texts = [stream.push(token_id) for token_id in ids]
            texts[-1] += stream.flush()
            added = self._push(text, texts, ids)
            added[-1] += text.flush()
            self._send(text, added, ids, scores, choice)
            self._end(text, choice, run.trace, hypothesis.finish_reason, len(ids))

    def _end(self, text: ChoiceText, choice: int, trace: Trace, reason: str, tokens: int) -> None:
        word: ApiFinishReason = "length"
        if reason in ("eos", "stop"):
            word = "tool_calls" if text.called else "stop"
        notes = tuple(note.words for note in trace.notes if note.key in _SENT_NOTES)
        self._put(ChoiceEnded(choice, word, tokens, text.thinking_tokens(trace), notes))
