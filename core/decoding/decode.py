"""`decode` yields the steps of a run; `collect` makes a trace of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pkgutil import resolve_name

from .config import MethodConfig
from .loop.run import doubled_start, record_run
from .loop.text import join_prompt
from .method import Config
from .methods import method_of
from .protocol import LanguageModel
from .record.steps import Step
from .record.trace import Trace
from .requirements import (
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
    """Yield the steps of a run as they happen: first a `PromptStep` (not for a run by the engine),
    then the method's steps.

    Args:
        model: a model from `load_model` or `from_transformers`.
        prompt: text, or token ids (for example of a rendered chat).
        config: the method and its settings.
        draft: the draft model of `Speculative`.
        given: ids of the first generated tokens, which replace the picks of greedy decoding or
            sampling.

    Raises:
        PromptError: an empty prompt, an id outside the vocabulary, or a prompt that doesn't fit.
        ConfigError: a config of an unknown method, a draft that the method doesn't take, or a
            setting for a token that the model lacks.
        ModelError: a name or another object instead of a loaded model, or a draft with another
            vocabulary.

    Example:
        >>> model = load_model("embedded:target")
        >>> steps = decode(model, "Once upon a time", Greedy(max_new_tokens=3))
        >>> [step.kind for step in steps]
        ['prompt', 'token', 'token', 'token']
    """
    require_models(model, draft)
    method_of(config)  # A wrong config is reported before a wrong prompt.
    return steps_of(model, encode_prompt(model, prompt), config, draft, given)


def steps_of(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    draft: LanguageModel | None = None,
    given: Sequence[int] = (),
) -> Iterator[Step]:
    """Start a run; its models and prompt are already checked."""
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
    """Run `decode` to its end and return the trace.

    Args:
        model: a model from `load_model` or `from_transformers`.
        prompt: text, or token ids (for example of a rendered chat).
        config: the method and its settings: `Greedy()`, `Sampling(seed=7)`, `BeamSearch()`, ...
        on_step: called with each step as soon as it is made.
        should_stop: called first and after each step; True ends the run with finish reason
            `cancelled`. A server that stops answering ends it the same way; a note gives the
            reason.
        draft: the draft model of `Speculative`.
        prompt_text: the user's text, if `prompt` holds the ids of a rendered chat.
        given: as in `decode`.

    Raises:
        as `decode`.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
        >>> trace.text, trace.finish_reason
        (', there was a little girl whose name', 'length')
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
