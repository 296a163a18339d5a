"""Runs of an evaluation, question by question in every way; can be stopped and resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.decoding.decode import collect
from core.decoding.errors import (
    DecodingError,
    EvaluationError,
    LoadingStoppedError,
    LostModelError,
    ModelError,
)
from core.decoding.loop.text import visible_bytes
from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.split import split_reply
from core.decoding.reasoning.transcript import pieces_of, read_run
from core.decoding.record.trace import Step, Trace
from core.decoding.speculative.config import Speculative
from core.decoding.validation import brief
from core.evaluation.plan.asking import draft_ids_for, has_template, ids_for, text_for
from core.evaluation.plan.counted import Counted, OwnPrompt
from core.evaluation.plan.leaks import find_leaks
from core.evaluation.plan.types import (
    Evaluation,
    EvaluationPlan,
    EvaluationRow,
    Way,
    failed_row,
)
from core.evaluation.questions.types import Question
from core.evaluation.row_file import gathered
from core.evaluation.scoring.metrics import score
from core.evaluation.scoring.reference import ReferenceScore, score_reference

Models = Mapping[str, LanguageModel]
WayPlace = tuple[str, str, int]
"""Question, way and sample by their names."""


class Rewards(Protocol):
    """A model that scores replies, such as a `RewardModel`."""

    @property
    def revision(self) -> str: ...

    def score(self, question: str, replies: Sequence[str], /) -> Sequence[float | None]: ...


def missing(plan: EvaluationPlan, rows: Sequence[EvaluationRow]) -> list[tuple[Question, Way, int]]:
    """The runs that have no row yet or failed, question by question."""
    done = {(row.question, row.way, row.sample) for row in rows if not row.failure}
    return [
        (question, way, sample)
        for question in plan.questions.questions
        for way in plan.ways
        for sample in range(way.samples)
        if (question.key, way.name, sample) not in done
    ]


def loaded(plan: EvaluationPlan, load: Callable[[str], LanguageModel]) -> dict[str, LanguageModel]:
    """Every model and draft of a plan, by name.

    Raises:
        ModelError: one can't be loaded; says which way needs it.
    """
    models = {}
    for name in plan.models:
        try:
            models[name] = load(name)
        except LoadingStoppedError:
            raise
        except ModelError as error:
            way = next(way.name for way in plan.ways if name in (way.model, way.draft))
            sentence = str(error).removesuffix(".")
            raise ModelError(f"{sentence}; way {brief(way)} needs it.") from None
    return models


def with_revisions(
    plan: EvaluationPlan, models: Models, rewards: Rewards | None = None
) -> EvaluationPlan:
    """The plan with what its models' weights are; an evaluation is not resumed on others."""
    found = [(name, models[name].revision) for name in plan.models]
    if rewards is not None:
        found.append((plan.reward, rewards.revision))
    return replace(plan, revisions=tuple(found))


def evaluation_rows(
    models: Models,
    plan: EvaluationPlan,
    done: Sequence[EvaluationRow] = (),
    *,
    rewards: Rewards | None = None,
    only: Sequence[WayPlace] | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[EvaluationRow]:
    """Yield the rows that `done` lacks, each as soon as it is there.

    A run that its model, its draft, its template or its settings refuse, or that its server cuts
    off, has a row that says why; the others go on.

    Args:
        models: every model and draft of the plan, by name.
        rewards: the plan's reward model; rows have no reward without one.
        only: these runs and no others; all where it is left out.
        on_step: called with each step of each run.
        should_stop: asked after every step; a run that it ends has no row.

    Raises:
        EvaluationError: a server gives no answer any more.
    """
    runners = _Runners(models, plan, on_step, should_stop)
    wanted = None if only is None else set(only)
    for question, way, sample in missing(plan, done):
        if wanted is not None and (question.key, way.name, sample) not in wanted:
            continue
        if should_stop():
            return
        try:
            run = runners.decode(way, question, sample)
        except (LostModelError, EvaluationError) as error:
            raise EvaluationError(str(error)) from None
        except DecodingError as error:
            if should_stop() or isinstance(error, LoadingStoppedError):
                return
            yield failed_row(way.name, question.key, sample, str(error))
            continue
        if run is None:
            return
        row = _row(plan, way, question, sample, run, models[way.model])
        if rewards is not None:
            row = replace(row, reward=rewards.score(question.asked, [row.text])[0])
        yield row


@dataclass(frozen=True, slots=True)
class _Run:
    trace: Trace
    forwards: int
    draft_forwards: int
    reference: ReferenceScore | None


class _Runners:
    """The models of a plan, each wrapped once for its part."""

    def __init__(
        self,
        models: Models,
        plan: EvaluationPlan,
        on_step: Callable[[Step], object] | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self._models, self._on_step, self._should_stop = models, on_step, should_stop
        self._references: dict[tuple[str, tuple[int, ...], str], ReferenceScore | None] = {}
        self._asked = ""
        self._targets = {way.model: Counted(models[way.model]) for way in plan.ways}
        self._prompts = {way.draft: OwnPrompt(models[way.draft]) for way in plan.ways if way.draft}
        self._drafts = {name: Counted(one.as_model()) for name, one in self._prompts.items()}

    def decode(self, way: Way, question: Question, sample: int) -> _Run | None:
        """One run; None where it was stopped.

        Raises:
            LostModelError: a server gives no answer any more.
            DecodingError: the run can't be done, or was cut off.
        """
        target, draft = self._targets[way.model], self._drafts.get(way.draft)
        ids = ids_for(self._models[way.model], question, way.system, way.use_chat_template)
        if draft is not None:
            own = draft_ids_for(draft.as_model(), question, way, ids)
            self._prompts[way.draft].read(ids, own)
            draft.forwards = 0
        target.forwards = 0
        trace = collect(
            target.as_model(),
            ids,
            way.config_of(sample),
            draft=draft.as_model() if draft else None,
            on_step=self._on_step,
            should_stop=self._should_stop,
            prompt_text=question.asked,
        )
        if trace.finish_reason == "cancelled":
            if not self._should_stop() and trace.notes:
                raise DecodingError(trace.notes[-1])
            return None
        counts = target.forwards, draft.forwards if draft else 0
        return _Run(trace, *counts, self._reference(way, ids, question))

    def _reference(self, way: Way, ids: list[int], question: Question) -> ReferenceScore | None:
        """The log-likelihood of the reference answer, once for all runs of a prompt."""
        if question.key != self._asked:
            self._asked = question.key
            self._references.clear()
        answer = question.answers[0]
        place = (way.model, tuple(ids), answer)
        if place not in self._references:
            model = self._models[way.model]
            chat = way.use_chat_template and has_template(model)
            prompt = ids if chat else text_for(question, way.system)
            self._references[place] = score_reference(model, prompt, answer)
        return self._references[place]


def _row(
    plan: EvaluationPlan,
    way: Way,
    question: Question,
    sample: int,
    run: _Run,
    model: LanguageModel,
) -> EvaluationRow:
    trace, reply, reference = run.trace, reply_of(run.trace, model), run.reference
    text = written_out(trace, model)
    judged = score(reply, question.answers, plan.metrics)
    rounds = trace.rounds if isinstance(trace.config, Speculative) else ()
    return EvaluationRow(
        way=way.name,
        question=question.key,
        sample=sample,
        reply=reply,
        text=text,
        right=judged.right,
        counted=judged.counted,
        f1=judged.f1,
        reference_logprob=reference.logprob if reference else None,
        reference_tokens=reference.tokens if reference else 0,
        leaks=find_leaks(text, way.system),
        prompt_tokens=len(trace.prompt_ids),
        tokens=len(trace.token_ids),
        forwards=run.forwards,
        draft_forwards=run.draft_forwards,
        drafted=sum(len(one.drafted) for one in rounds),
        accepted=sum(len(one.accepted) for one in rounds),
        finish_reason=trace.finish_reason,
        seconds=trace.timings.total,
        mean_logprob=_mean_logprob(trace),
    )


def _mean_logprob(trace: Trace) -> float | None:
    """Of the model's own distributions, in nats; None where steps emit more than a token."""
    steps = trace.token_steps
    if not steps or len(steps) != len(trace.token_ids):
        return None
    return -sum(step.surprisal for step in steps) / len(steps)


def reply_of(trace: Trace, model: LanguageModel) -> str:
    """The answer without the thinking; empty where the thinking never ended."""
    if isinstance(trace.config, Reasoning):
        return read_run(pieces_of(trace.token_steps), trace.config).answer.strip()
    return split_reply(model, trace.prompt_ids, trace.token_ids).answer.strip()


def written_out(trace: Trace, model: LanguageModel) -> str:
    """All that was generated with special tokens written out, but for those that end a run."""
    ids = [token for token in trace.token_ids if token not in model.eos_ids]
    return b"".join(visible_bytes(model, token) for token in ids).decode("utf-8", "replace")


def run_evaluation(
    models: Models,
    plan: EvaluationPlan,
    done: Sequence[EvaluationRow] = (),
    *,
    rewards: Rewards | None = None,
    on_row: Callable[[EvaluationRow, int], object] | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Evaluation:
    """All rows of a plan, or those up to the stop; `done` ones are kept and not run again.

    A run among them that failed is done again.

    Args:
        on_row: called with each new row and how many rows there are now (of `plan.total`).
    """
    coming = evaluation_rows(
        models, plan, done, rewards=rewards, on_step=on_step, should_stop=should_stop
    )
    kept = [row for row in done if not row.failure]
    return Evaluation(plan, gathered(coming, kept, on_row))
