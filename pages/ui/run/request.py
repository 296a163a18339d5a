"""What one press on Run asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.decoding.config import MethodConfig
from core.decoding.errors import PromptError
from core.decoding.trace import Trace
from pages.ui.shell import sidebar
from pages.ui.widgets.control import value


@dataclass(frozen=True, slots=True)
class Request:
    """A model, a prompt and a config.

    Args:
        chat: send the prompt through the chat template, after `system` where it says something.
        ids: the token ids themselves, of a run that is made again.
        draft: the second model of speculative decoding.
    """

    model: str
    prompt: str
    config: MethodConfig
    chat: bool = False
    system: str = ""
    ids: tuple[int, ...] | None = None
    draft: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """Every model that the run needs."""
        return (self.model, self.draft) if self.draft else (self.model,)

    def prompt_for(self, model: Any) -> str | Sequence[int]:
        """The prompt as this model takes it: text, or the ids of a rendered chat."""
        if self.ids is not None:
            return self.ids
        if not self.chat or not self.prompt.strip():
            return self.prompt
        if not model.has_chat_template:
            raise PromptError(
                getattr(model, "template_fault", "")
                or "This model has no chat template: switch the chat template off."
            )
        messages = [{"role": "system", "content": self.system}] if self.system.strip() else []
        ids: list[int] = model.encode_chat([*messages, {"role": "user", "content": self.prompt}])
        return ids

    def config_for(self, model: Any) -> MethodConfig:  # noqa: ARG002
        """The settings as this model takes them."""
        return self.config

    @staticmethod
    def again(trace: Trace, *, use_cache: bool) -> Request:
        """The same run from its token ids, with the KV cache on or off."""
        length = max(len(trace.token_ids), 1)
        config = replace(
            trace.config,
            use_cache=use_cache,
            max_new_tokens=length,
            min_new_tokens=min(trace.config.min_new_tokens, length),
        )
        return Request(trace.model_id, trace.prompt, config, ids=trace.prompt_ids)


def from_sidebar(config: MethodConfig, draft: str = "") -> Request:
    """The sidebar's model and prompt under a config, with a draft model where it needs one."""
    return Request(
        model=sidebar.model(),
        prompt=str(value("prompt")),
        config=config,
        chat=sidebar.chat(),
        system=str(value("system")),
        draft=draft,
    )
