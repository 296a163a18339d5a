"""Read a given text with a model: a trace whose tokens are all given."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ...language import N_, Message
from ..autoregressive.config import Greedy
from ..autoregressive.engine import read_given
from ..config import MAX_NEW_TOKENS, MethodConfig
from ..decode import collect
from ..errors import ContextLengthError, PromptError
from ..loop.run import doubled_start, record_run
from ..loop.text import join_prompt, single_token, visible_bytes
from ..protocol import LanguageModel
from ..record.steps import Step
from ..record.trace import Trace
from ..requirements import (
    encode_prompt,
    require_all_tokens,
    require_given,
    require_models,
)
from ..shaping.config import SETTINGS, Shaping
from ..shaping.functions.watermarks import is_green
from ..shaping.settings.bias import token_in
from .watermarks import Opening, hashed_before


def read_text(
    model: LanguageModel,
    text: str | Sequence[int],
    *,
    top_candidates: int = 20,
    on_step: Callable[[Step], object] | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> Trace[Greedy]:
    """Return the trace of a greedy run to which every token of the text is given.

    A token that the model predicts too makes an ordinary step, another one a forced step. The
    prompt is the first token, before which nothing stands. It is longer where that token is a part
    of a character, and reaches up to the last end-of-sequence token inside the text, as a run ends
    with such a token.

    Args:
        text: text, or token ids.
        on_step, should_stop: as of `collect`.

    Raises:
        PromptError: less than two tokens, more than the context window holds, or an unknown id.
        ConfigError: the model's server names only the likeliest tokens.
        DecodingError: the model gives a token of the text no probability.
    """
    require_models(model)
    require_all_tokens(model, "reading a text", N_("take another model"))
    ids = text_ids(model, text)
    ends = (at for at, token_id in enumerate(ids[:-1]) if token_id in model.eos_ids)
    start = max(ends, default=0) + 1
    while start < len(ids) - 1 and _breaks_character(model, ids[:start]):
        start += 1
    prompt_ids, given = ids[:start], ids[start:]
    config = Greedy(max_new_tokens=len(given), top_candidates=top_candidates)
    encode_prompt(model, prompt_ids)
    require_given(model, given, config)
    rendered = join_prompt(model, prompt_ids)
    return record_run(
        model,
        config,
        None,
        prompt=rendered,
        rendered=rendered,
        prompt_ids=tuple(prompt_ids),
        steps=read_given(model, prompt_ids, config, given),
        told=doubled_start(model, rendered, prompt_ids),
        on_step=on_step,
        should_stop=should_stop,
    )


def own_text(
    model: LanguageModel,
    trace: Trace,
    opening: int,
    config: MethodConfig,
    *,
    should_stop: Callable[[], bool] | None = None,
) -> Trace[Greedy]:
    """Return the reading of the model's own text after the first tokens of another text.

    Args:
        trace: of `read_text`.
        opening: number of tokens that are kept, at least 1; all are kept if there are fewer.
        config: how the model goes on.

    Raises:
        DecodingError: as `collect`.
    """
    ids = [*trace.prompt_ids, *trace.token_ids][: max(1, opening)]
    run = collect(model, ids, config, should_stop=should_stop)
    return read_text(model, [*ids, *run.token_ids])


def read_edited(model: LanguageModel, trace: Trace, at_step: int, text: str) -> Trace[Greedy]:
    """Return the reading of a run's text with another token at a step, with the run's watermarks.

    Args:
        text: the token's text, or `#id`.

    Raises:
        ConfigError: a text that is no single token, or an id of no token.
    """
    token_id = token_in(text, partial(single_token, model, taker="edited text"))
    given = [*trace.token_ids[:at_step], token_id, *trace.token_ids[at_step + 1 :]]
    shaping = trace.config.shaping
    marks = {
        name: getattr(shaping, name) for name, spec in SETTINGS.items() if spec.role == "watermark"
    }
    return read_marked(model, replace(trace, token_ids=tuple(given)), Shaping(**marks))


def read_marked(model: LanguageModel, trace: Trace, shaping: Shaping) -> Trace[Greedy]:
    """Return the reading of a trace's tokens with the settings of a watermark.

    Raises:
        ConfigError: a token that the model lacks.
    """
    given = trace.token_ids
    config = Greedy(max_new_tokens=len(given), top_candidates=1, shaping=shaping)
    require_given(model, given, config)
    return record_run(
        model,
        config,
        None,
        prompt=trace.prompt,
        rendered=trace.rendered_prompt,
        prompt_ids=trace.prompt_ids,
        steps=read_given(model, trace.prompt_ids, config, given),
    )


def opening_of(model: LanguageModel, trace: Trace) -> Opening:
    """Return the beginning of a text that `read_marked` read after `read_text`.

    A special token that the tokenizer puts first is no part of the text, as in transformers'
    `WatermarkDetector`.
    """
    shaping, ids = trace.config.shaping, trace.prompt_ids
    own = ids if model.token_bytes(ids[0]) else ids[1:]
    if not shaping.watermark_bias:
        return Opening(len(own))
    text, value = (*own, *trace.token_ids), shaping.value_of("watermark_bias")
    marked = (
        step.index
        for step in trace.token_steps
        for stage in step.stages
        if stage.name == "watermark_bias" and stage.mark is not None
    )
    end = len(own) + next(marked, len(trace.token_ids))
    greens = (
        is_green(text[: at + 1], model.vocab_size, value)
        for at in range(hashed_before(shaping), end)
    )
    return Opening(len(own), tuple(map(float, greens)))


def _breaks_character(model: LanguageModel, ids: Sequence[int]) -> bool:
    """Return whether the last bytes of the tokens are a part of a character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(b"".join(visible_bytes(model, token_id) for token_id in ids[-4:]))
    return bool(decoder.getstate()[0])


def text_ids(model: LanguageModel, text: str | Sequence[int]) -> list[int]:
    """Return the token ids of a text, with those that the tokenizer puts before it.

    Raises:
        PromptError: less than two tokens, or more than the context window holds.
    """
    ids = model.encode(text) if isinstance(text, str) else list(text)
    if not text or not ids:
        raise PromptError(N_("The text is empty: write or paste at least two words."))
    if len(ids) == 1:
        raise PromptError(
            N_(
                "The text is a single token, before which nothing stands to predict it "
                "from: add text."
            )
        )
    window = min(model.context_window or MAX_NEW_TOKENS, MAX_NEW_TOKENS)
    if len(ids) > window:
        raise ContextLengthError(
            Message(
                "The text has {ids:,} tokens; this model reads at most {window:,} at "
                "once: give a part of it.",
                ids=len(ids),
                window=window,
            ),
            len(ids),
            window,
        )
    return ids
