"""`decode`, the one generator of steps, and `collect`, which makes a trace of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pkgutil import resolve_name

from core.decoding.config import MethodConfig
from core.decoding.loop.run import doubled_start, record_run
from core.decoding.loop.text import join_prompt
from core.decoding.method import Config
from core.decoding.methods import method_of
from core.decoding.protocol import LanguageModel
from core.decoding.record.steps import Step
from core.decoding.record.trace import Trace
from core.decoding.requirements import (
    encode_prompt,
    require_all_tokens,
    require_draft,
    require_given,
    require_models,
    require_settings,
)


def decode(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: MethodConfig,
    *,
    draft: LanguageModel | None = None,
    given: Sequence[int] = (),
) -> Iterator[Step]:
    """Yield the steps of a run as they happen: a `PromptStep` (by the engine none), then its own.

    Args:
        model: of `load_model` or `from_transformers`.
        prompt: text, or token ids (a rendered chat, for example).
        config: the method and its settings.
        draft: the second model of `Speculative`.
        given: ids of the first generated tokens, which take the place of what greedy decoding or
            sampling picks there.

    Raises:
        PromptError: an empty prompt, an id outside the vocabulary, or a prompt that doesn't fit.
        ConfigError: a config of no known method, a draft that the method has no use for, or a
            setting for a token that the model doesn't have.
        ModelError: a name or something else than a loaded model, or a draft with another
            vocabulary.
    """
    require_models(model, draft)
    method_of(config)  # A wrong config is named before a wrong prompt.
    return steps_of(model, encode_prompt(model, prompt), config, draft, given)


def steps_of(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    draft: LanguageModel | None = None,
    given: Sequence[int] = (),
) -> Iterator[Step]:
    """Start a run whose models and prompt are checked already."""
    method, drafts = method_of(config), () if draft is None else (draft,)
    require_draft(config, draft.model_id if draft else None)
    require_settings(model, config)
    if not method.takes_known:
        for loaded in (model, *drafts):
            require_all_tokens(loaded, method.words)
    if given:
        require_given(model, given, config)
        drafts = (*drafts, given)
    steps: Iterator[Step] = resolve_name(method.engine)(model, prompt_ids, config, *drafts)
    return steps


def collect(
    model: LanguageModel,
    prompt: str | Sequence[int],
    config: Config,
    *,
    draft: LanguageModel | None = None,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
    prompt_text: str | None = None,
    given: Sequence[int] = (),
) -> Trace[Config]:
    """Run `decode` to its end and return everything it recorded.

    Args:
        model: of `load_model` or `from_transformers`.
        prompt: text, or token ids (a rendered chat, for example).
        config: the method and its settings: `Greedy()`, `Sampling(seed=7)`, `BeamSearch()`, ...
        on_step: called with each step as soon as it is there.
        should_stop: asked first and after each step; True ends the run with finish reason
            `cancelled`. So does a server that gives no answer any more; a note says why.
        draft: the second model of `Speculative`.
        prompt_text: what the user wrote, where `prompt` is the ids of a rendered chat.
        given: as of `decode`.

    Raises:
        as `decode`.
    """
    require_models(model, draft)
    ids = encode_prompt(model, prompt)
    rendered = prompt if isinstance(prompt, str) else join_prompt(model, ids)
    return record_run(
        model,
        config,
        draft,
        prompt=rendered if prompt_text is None else prompt_text,
        rendered=rendered,
        prompt_ids=tuple(ids),
        steps=steps_of(model, ids, config, draft, given),
        told=doubled_start(model, prompt, ids) if isinstance(prompt, str) else (),
        on_step=on_step,
        should_stop=should_stop,
    )
