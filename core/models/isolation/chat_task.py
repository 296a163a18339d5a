"""Render a conversation with an untrusted chat template; runs in a child process."""

from __future__ import annotations

from typing import Any

from transformers import AddedToken, PreTrainedTokenizerBase

from ...decoding.errors import PromptError

# A template may raise a text of any length; the app shortens it further, between words.
REASON_LENGTH = 2_000


def write_chat(
    template: str,
    messages: list[dict[str, Any]],
    open_answer: bool,
    marked: bool,
    special_tokens: dict[str, Any],
    added_tokens: list[tuple[str, bool]],
    control_tokens: list[str] | None,
    tools: list[dict[str, Any]] | None = None,
) -> str:
    """Return the conversation as text.

    Args:
        marked: put transformers' marks around the control tokens that messages contain.
        tools: tools that the template writes.

    Raises:
        PromptError: the template refuses the messages; the text is the reason alone.
    """
    writer = _Writer(template, special_tokens, added_tokens, control_tokens)
    options: dict[str, Any] = {"tools": tools} if tools else {}
    options |= {"return_dict": False, "sanitize_control_tokens": True} if marked else {}
    try:
        text: str = writer.apply_chat_template(
            messages, add_generation_prompt=open_answer, tokenize=marked, **options
        )
    except MemoryError:
        raise
    except Exception as error:  # The template is the model's own program: it may raise anything.
        raise PromptError(str(error)[:REASON_LENGTH]) from None
    return text


class _Writer(PreTrainedTokenizerBase):  # type: ignore[misc]
    """Minimal tokenizer for a chat template; `input_ids` is the text itself."""

    def __init__(
        self,
        template: str,
        special_tokens: dict[str, Any],
        added_tokens: list[tuple[str, bool]],
        control_tokens: list[str] | None,
    ) -> None:
        self.chat_template = template
        self.chat_control_tokens = control_tokens
        self._names = special_tokens
        self._added = {
            place: AddedToken(text, special=special)
            for place, (text, special) in enumerate(added_tokens)
        }

    @property
    def special_tokens_map(self) -> dict[str, Any]:
        return self._names

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        return self._added

    def __call__(self, text: str, **_: Any) -> dict[str, str]:
        return {"input_ids": text}
