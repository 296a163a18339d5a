"""How a way puts a question to its models: as a conversation, or as a line of text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from core.decoding.counting import counted
from core.decoding.loop.text import join_prompt
from core.decoding.protocol import Chats, LanguageModel, offers
from core.evaluation.plan.types import EvaluationPlan, Way
from core.evaluation.questions.types import Question


def has_template(model: LanguageModel) -> bool:
    """Whether the model can be asked as a conversation."""
    return offers(model, Chats) and model.has_chat_template


def ids_for(model: LanguageModel, question: Question, system: str, chat: bool) -> list[int]:
    """The prompt; a model without a template is asked as text, whatever `chat` says.

    Raises:
        PromptError: the template refuses the conversation, or the text can't be encoded.
    """
    if chat and offers(model, Chats) and model.has_chat_template:
        messages = [{"role": "system", "content": system}] if system else []
        return model.encode_chat([*messages, {"role": "user", "content": question.asked}])
    return model.encode(text_for(question, system))


def text_for(question: Question, system: str) -> str:
    """The prompt of a model that is asked by plain text."""
    before = f"{system}\n\n" if system else ""
    return f"{before}{question.asked}\n"


def draft_ids_for(
    draft: LanguageModel, question: Question, way: Way, target_ids: list[int]
) -> list[int]:
    """What the draft reads: the target's ids unless the way says otherwise."""
    if way.draft_use_chat_template in (None, way.use_chat_template):
        return target_ids
    return ids_for(draft, question, way.system, bool(way.draft_use_chat_template))


def rendered(model: LanguageModel, ids: list[int]) -> str:
    """A prompt as text with its special tokens written out."""
    return join_prompt(model, ids)


def warnings(plan: EvaluationPlan, models: Mapping[str, LanguageModel]) -> Iterator[str]:
    """Sentences on questions left out, and on ways whose models lack the template asked for."""
    if plan.questions.left_out:
        yield (
            f"{counted(plan.questions.left_out, 'question')} of the file without an answer left "
            "out: an unanswerable question can't be judged."
        )
    for way in plan.ways:
        asked = [(way.model, way.use_chat_template), (way.draft, way.draft_use_chat_template)]
        for name, chat in asked:
            if chat and not has_template(models[name]):
                yield (
                    f"{name} has no chat template: way {way.name!r} asks it with plain text, as "
                    "use_chat_template: false would."
                )
