"""Prompts for a way's models, with a chat template or as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ...decoding.counting import counted
from ...decoding.errors import DecodingError
from ...decoding.loop.text import join_prompt
from ...decoding.protocol import Chats, LanguageModel, offers
from ...language import Message
from ..questions.asking import as_text, chat_ids
from ..questions.types import Question
from .types import EvaluationPlan, Way


def has_template(model: LanguageModel) -> bool:
    """Return True if the model has a chat template."""
    return offers(model, Chats) and model.has_chat_template


def ids_for(model: LanguageModel, question: Question, system: str, chat: bool) -> list[int]:
    """Return the prompt's ids; plain text for a model without a template, even if `chat`.

    Raises:
        PromptError: the template refuses the conversation, or the text can't be encoded.
    """
    ids = chat_ids(model, question.asked, system) if chat else None
    return ids or model.encode(as_text(question.asked, system))


def draft_ids_for(
    draft: LanguageModel, question: Question, way: Way, target_ids: list[int]
) -> list[int]:
    """Return the draft's prompt: the target's ids unless the way says otherwise."""
    if way.draft_use_chat_template in (None, way.use_chat_template):
        return target_ids
    return ids_for(draft, question, way.system, bool(way.draft_use_chat_template))


class Rendered(NamedTuple):
    """Prompts of a way's models for a question, with special tokens written out.

    Args:
        failure: the reason why there is no prompt; the other fields are empty then.
    """

    way: str
    target: str
    target_ids: tuple[int, ...]
    draft: str
    draft_ids: tuple[int, ...]
    warnings: tuple[str, ...]
    failure: str = ""


def rendered(
    plan: EvaluationPlan, models: Mapping[str, LanguageModel], question: Question
) -> list[Rendered]:
    """Return the prompts of every way for one question."""
    rows = []
    of_plan = tuple(warnings(plan, models))
    for way in plan.ways:
        own = tuple(warning for warning in of_plan if repr(way.name) in warning)
        try:
            ids = ids_for(models[way.model], question, way.system, way.use_chat_template)
            draft_ids = draft_ids_for(models[way.draft], question, way, ids) if way.draft else []
        except DecodingError as error:
            rows.append(Rendered(way.name, "", (), "", (), own, str(error)))
            continue
        target = join_prompt(models[way.model], ids)
        draft = join_prompt(models[way.draft], draft_ids) if way.draft else ""
        rows.append(Rendered(way.name, target, tuple(ids), draft, tuple(draft_ids), own))
    return rows


def warnings(plan: EvaluationPlan, models: Mapping[str, LanguageModel]) -> Iterator[str]:
    """Yield warnings of questions left out, and of ways whose models lack a chat template."""
    if plan.questions.left_out:
        yield Message(
            "{questions} of the file without an answer left out: an unanswerable question can't be "
            "judged.",
            questions=counted(plan.questions.left_out, "question"),
        )
    for way in plan.ways:
        pairs = [(way.model, way.use_chat_template), (way.draft, way.draft_use_chat_template)]
        for name, chat in pairs:
            if chat and not has_template(models[name]):
                yield Message(
                    "{model} has no chat template: way {way!r} asks it with plain text, as "
                    "use_chat_template: false would.",
                    model=name,
                    way=way.name,
                )
