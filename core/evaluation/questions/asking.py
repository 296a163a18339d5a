"""Prompts of questions and problems: a conversation if the model has a template, else text."""

from __future__ import annotations

from ...decoding.protocol import Chats, LanguageModel, offers
from ...decoding.reasoning.types import ThinkMarks
from ..types import Problem


def prompt_ids_of(
    model: LanguageModel, problem: Problem, marks: ThinkMarks | None = None
) -> list[int]:
    """Return the prompt's token ids for a problem.

    Args:
        marks: the model's thinking marks; a model without marks gets an instruction instead.
    """
    instruction = marks.instruction if marks is not None and marks.source == "prompt" else ""
    chat = chat_ids(model, problem.question, instruction or problem.system)
    return chat or model.encode(as_text(problem.question, instruction))


def chat_ids(model: LanguageModel, question: str, system: str) -> list[int] | None:
    """Return the ids of a question as a conversation; None if the model has no chat template.

    Raises:
        PromptError: the template refuses the conversation.
    """
    if not (offers(model, Chats) and model.has_chat_template):
        return None
    messages = [{"role": "system", "content": system}] if system else []
    return model.encode_chat([*messages, {"role": "user", "content": question}])


def as_text(question: str, system: str) -> str:
    """Return the plain-text prompt of a question."""
    return f"{system}\n\n{question}\n" if system else f"{question}\n"
