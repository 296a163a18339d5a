"""How a problem is put to a model."""

from __future__ import annotations

from core.decoding.protocol import Chats, LanguageModel, offers
from core.decoding.reasoning.types import ThinkMarks
from core.evaluation.types import Problem


def prompt_ids_of(
    model: LanguageModel, problem: Problem, marks: ThinkMarks | None = None
) -> list[int]:
    """The problem as a chat where the model has a template, else as a line of text.

    Args:
        marks: the model's; one without marks of its own is told by its prompt how to think.
    """
    instruction = marks.instruction if marks is not None and marks.source == "prompt" else ""
    system = instruction or problem.system
    if offers(model, Chats) and model.has_chat_template:
        messages = [{"role": "system", "content": system}] if system else []
        return model.encode_chat([*messages, {"role": "user", "content": problem.question}])
    before = f"{instruction}\n\n" if instruction else ""
    return model.encode(f"{before}{problem.question}\n")
