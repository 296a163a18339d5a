"""Run evaluations: load a plan's models and make its rows; can be stopped and resumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from ...decoding.errors import EvaluationError, LoadingStoppedError, ModelError
from ...decoding.protocol import LanguageModel
from ...decoding.record.steps import Step
from ...decoding.validation import brief
from ...language import N_, Message
from ...models.stopping import ShouldStop, never
from ..runner import PlanWork, gathered
from ..workers.threads import threads_for
from ..workers.work import RunUnit, rows_of
from .files import EVALUATIONS
from .rows import Models, Rewards, evaluation_rows
from .types import Evaluation, EvaluationPlan, EvaluationRow


def loaded(plan: EvaluationPlan, load: Callable[[str], LanguageModel]) -> dict[str, LanguageModel]:
    """Load every model and draft of a plan; return them by name.

    Raises:
        ModelError: a model can't be loaded; the message names the way that needs it.
    """
    models = {}
    for name in plan.models:
        try:
            models[name] = load(name)
        except LoadingStoppedError:
            raise
        except ModelError as error:
            way = next(way.name for way in plan.ways if name in (way.model, way.draft))
            raise ModelError(
                Message("{error} Way {way} needs it.", error=error, way=brief(way))
            ) from None
    return models


def with_revisions(
    plan: EvaluationPlan, models: Models, rewards: Rewards | None = None
) -> EvaluationPlan:
    """Return the plan with its models' revisions; other weights can't resume an evaluation."""
    revisions = [(name, models[name].revision) for name in plan.models]
    if rewards is not None:
        revisions.append((plan.reward, rewards.revision))
    return replace(plan, revisions=tuple(revisions))


def evaluation_work(
    plan: EvaluationPlan,
    dtype: str | None = None,
    device: str | None = None,
    places: Mapping[str, str] | None = None,
) -> PlanWork[EvaluationRow]:
    """Return an evaluation's work for other processes, which load the models themselves.

    Args:
        plan: the plan with its revisions.
        places: argument of `load_model` for a model's name, if it differs from the name.
    """
    return PlanWork(plan, partial(_load, plan, dtype, device, places or {}))


def _load(
    plan: EvaluationPlan, dtype: str | None, device: str | None, places: Mapping[str, str]
) -> RunUnit[EvaluationRow]:
    from ...models.registry import load_model, load_reward_model

    def load(name: str) -> LanguageModel:
        return load_model(places.get(name, name), dtype=dtype, device=device)

    models = loaded(plan, load)
    rewards = load_reward_model(plan.reward) if plan.reward else None
    if with_revisions(plan, models, rewards) != plan:
        raise EvaluationError(N_("A model's weights were changed meanwhile; start again."))
    return partial(evaluation_rows, models, plan, rewards, None)


def _work_here(
    models: Models,
    plan: EvaluationPlan,
    rewards: Rewards | None,
    on_step: Callable[[Step], object] | None = None,
) -> PlanWork[EvaluationRow]:
    return PlanWork(plan, lambda: partial(evaluation_rows, models, plan, rewards, on_step))


def run_evaluation(
    models: Models,
    plan: EvaluationPlan,
    done: Sequence[EvaluationRow] = (),
    *,
    rewards: Rewards | None = None,
    on_row: Callable[[EvaluationRow, int], object] | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: ShouldStop = never,
) -> Evaluation:
    """Run a plan until its end or a stop; `done` rows are kept, except failed runs, which rerun.

    Args:
        on_row: called with each new row and the current number of rows (of `plan.total`).
    """
    work = _work_here(models, plan, rewards, on_step)
    return Evaluation(plan, gathered(rows_of(work, done, should_stop=should_stop), done, on_row))


def evaluate_to_file(
    models: Models,
    plan: EvaluationPlan,
    path: str | Path,
    *,
    rewards: Rewards | None = None,
    on_row: Callable[[EvaluationRow, int], object] | None = None,
    should_stop: ShouldStop = never,
    in_flight: int = 1,
) -> Evaluation:
    """Run a plan into a file, or resume the file; the arguments are those of `run_evaluation`.

    Args:
        in_flight: limit on concurrent questions, if all models are on servers.

    Raises:
        EvaluationError: the file holds another plan (or other weights), another evaluation
            is writing it, or it can't be read or written.
    """
    plan = with_revisions(plan, models, rewards)
    pool = threads_for(models.values(), in_flight) if rewards is None else None
    work = _work_here(models, plan, rewards)
    return Evaluation(plan, EVALUATIONS.extend(path, work, pool, on_row, should_stop))
