"""An evaluation's runs in pieces that any process can do: a question in every way at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.decoding.errors import EvaluationError
from core.decoding.protocol import LanguageModel
from core.evaluation.plan.run import evaluation_rows, loaded, missing, with_revisions
from core.evaluation.plan.types import EvaluationPlan, EvaluationRow


@dataclass(frozen=True, slots=True)
class EvaluationWork:
    """A plan with its revisions, and how its models are loaded.

    Args:
        places: what `load_model` takes for a model's name, where that is something else.
    """

    plan: EvaluationPlan
    dtype: str | None = None
    device: str | None = None
    places: Mapping[str, str] = field(default_factory=dict)

    def key(self, row: EvaluationRow) -> tuple[str, str, int]:
        """What names a row's run."""
        return row.question, row.way, row.sample

    def units(self, done: Sequence[EvaluationRow]) -> list[list[tuple[str, str, int]]]:
        """The runs that are missing, those of one question together."""
        found: dict[str, list[tuple[str, str, int]]] = {}
        for question, way, sample in missing(self.plan, done):
            found.setdefault(question.key, []).append((question.key, way.name, sample))
        return list(found.values())

    def begin(self) -> Callable[[list[tuple[str, str, int]]], Iterator[EvaluationRow]]:
        """Load the models; the function does the runs of a unit.

        Raises:
            EvaluationError: the models are others than the plan's.
        """
        from core.models.registry import load_model, load_reward_model

        def load(name: str) -> LanguageModel:
            return load_model(self.places.get(name, name), dtype=self.dtype, device=self.device)

        models = loaded(self.plan, load)
        rewards = load_reward_model(self.plan.reward) if self.plan.reward else None
        if with_revisions(self.plan, models, rewards) != self.plan:
            raise EvaluationError("A model's weights were changed meanwhile; start again.")

        def rows(unit: list[tuple[str, str, int]]) -> Iterator[EvaluationRow]:
            return evaluation_rows(models, self.plan, rewards=rewards, only=unit)

        return rows
