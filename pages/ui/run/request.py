"""Request of one press on Run: model, prompt and config."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from core.decoding.config import MethodConfig
from core.decoding.errors import PromptError
from core.decoding.record.trace import Trace
from core.language import Message
from pages.ui.run import shared
from pages.ui.widgets.controls.control import Control, Read, value


@dataclass(frozen=True, slots=True)
class Fork:
    """A step of another run, from which a run goes on with other tokens.

    Args:
        text: used in place of `token_ids`; the loaded model encodes it.
    """

    trace: Trace
    at_step: int
    token_ids: tuple[int, ...] = ()
    text: str = ""

    def ids_for(self, model: Any) -> Sequence[int]:
        """Return the tokens at the step."""
        if not self.text:
            return self.token_ids
        from core.decoding.loop.text import encode_continuation

        return encode_continuation(model, self.text)


@dataclass(frozen=True, slots=True)
class Request:
    """A model, a prompt and a config.

    Args:
        chat: send the prompt through the chat template, after `system` if that isn't empty.
        ids: token ids of the prompt, for a run that is repeated.
        draft: the draft model of speculative decoding.
        given: ids of the first generated tokens, as a link has them.
        fork: the step of another run from which this run goes on.
        reads: the prompt is a text that the model reads; it writes nothing.
        dtype: number type of the weights; by default the loaded model's.
    """

    model: str
    prompt: str
    config: MethodConfig
    chat: bool = False
    system: str = ""
    ids: tuple[int, ...] | None = None
    draft: str = ""
    given: tuple[int, ...] = ()
    fork: Fork | None = field(default=None, compare=False)
    reads: bool = False
    dtype: str = ""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of all models that the run needs."""
        return (self.model, self.draft) if self.draft else (self.model,)

    def prompt_for(self, model: Any) -> str | Sequence[int]:
        """Return the prompt for this model: text, or the ids of a rendered chat."""
        if self.ids is not None:
            return self.ids
        if not self.chat or not self.prompt.strip():
            return self.prompt
        if not model.has_chat_template:
            raise PromptError(
                getattr(model, "template_fault", "")
                or Message("This model has no chat template: switch the chat template off.")
            )
        messages = [{"role": "system", "content": self.system}] if self.system.strip() else []
        ids: list[int] = model.encode_chat([*messages, {"role": "user", "content": self.prompt}])
        return ids

    def config_for(self, model: Any) -> MethodConfig:  # noqa: ARG002
        """Return the settings for this model."""
        return self.config

    @staticmethod
    def again(trace: Trace, *, use_cache: bool) -> Request:
        """Return the request for the same run from its token ids, with the KV cache on or off."""
        length = max(len(trace.token_ids), 1)
        config = replace(
            trace.config,
            use_cache=use_cache,
            max_new_tokens=length,
            min_new_tokens=min(trace.config.min_new_tokens, length),
        )
        return Request(trace.model_id, trace.prompt, config, ids=trace.prompt_ids)


def given_tokens(trace: Trace) -> str:
    """Return the ids of a run's tokens up to the last given one, as a link names them."""
    steps = trace.token_steps
    last = max((step.index for step in steps if step.forced_as == "given"), default=-1)
    return ".".join(str(token_id) for token_id in trace.token_ids[: last + 1])


MakeRequest: TypeAlias = Callable[[Read], Request]
"""Makes the request of a run from a function that gives a control's value by its key."""


@dataclass(frozen=True)
class RunControls:
    """The controls of a page that make a run.

    Args:
        rows: the controls, without the sidebar's.
        config: makes the config from a function that gives a control's value by its key.
        control_values: gives the control values that describe a trace, by key, where in range.
        request: makes the request of Run.
        draft: the key of the menu of the draft model; empty for none.
        acting: keys of controls that act on the shown run, without another run.
        given: the key under which a link names given tokens; empty if it names none.
    """

    rows: tuple[Control, ...]
    config: Callable[[Read], MethodConfig]
    control_values: Callable[[Trace], dict[str, Any]]
    request: MakeRequest
    draft: str = ""
    acting: frozenset[str] = frozenset()
    given: str = ""

    @property
    def by_key(self) -> dict[str, Control]:
        """All controls of a run, with the sidebar's, by key.

        A page may restrict a row of the sidebar, and two strategies share a row.
        """
        return {row.key: row for row in (*shared.ROWS, *self.rows)}


def from_sidebar(config: MethodConfig, draft: str = "", read: Read = value) -> Request:
    """Return a request with the sidebar's model and prompt, a config, and a draft model if any."""
    chat = shared.chat(read)
    return Request(
        model=shared.model(read),
        prompt=str(read("prompt")),
        config=config,
        chat=chat,
        system=str(read("system")) if chat else "",
        draft=draft,
    )
