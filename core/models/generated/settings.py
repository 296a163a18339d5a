"""Settings of a run of transformers' `generate` as a config of this library."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from transformers import GenerationConfig, SynthIDTextWatermarkingConfig

from ...decoding.autoregressive.config import Greedy, Sampling
from ...decoding.beam.config import BeamSearch
from ...decoding.config import MethodConfig
from ...decoding.errors import TraceError
from ...decoding.shaping.config import ACTING, Shaping
from ...decoding.validation import brief
from ...language import Message

# Settings of `generate` that change its tokens and that no config here has.
_REFUSED = (
    *("penalty_alpha", "dola_layers", "num_beam_groups", "diversity_penalty", "constraints"),
    *(
        "force_words_ids",
        "speculation_type",
        "forced_bos_token_id",
        "forced_eos_token_id",
        "token_healing",
    ),
    *("encoder_repetition_penalty", "encoder_no_repeat_ngram_size", "renormalize_logits"),
)
# Settings that make `generate` draft; its output tells neither rounds nor drafts.
_DRAFTING = {
    "prompt_lookup_num_tokens": "prompt_lookup",
    "assistant_early_exit": "early_exit",
    "use_mtp": "mtp",
}


def _watermark(value: Any) -> dict[str, Any]:
    if isinstance(value, SynthIDTextWatermarkingConfig):
        return {
            "synthid_depth": len(value.keys),
            "synthid_ngram": value.ngram_len,
            "synthid_keys": tuple(value.keys),
            "synthid_history": value.context_history_size,
        }
    return {
        "watermark_bias": value.bias,
        "watermark_ratio": value.greenlist_ratio,
        "watermark_key": value.hashing_key,
        "watermark_scheme": value.seeding_scheme,
        "watermark_context": value.context_width,
    }


def _length_decay(value: Any) -> dict[str, Any]:
    start, decay = value
    return {"length_decay": decay, "length_decay_start": start}


def _biases(value: Any) -> dict[str, Any]:
    pairs = value.items() if isinstance(value, Mapping) else value
    longer = next((ids for ids, _ in pairs if len(ids) != 1), None)
    if longer is not None:
        raise TraceError(
            Message(
                "The sequence_bias of this run names {given}: a bias of several tokens "
                "has no setting here.",
                given=brief(list(longer)),
            )
        )
    return {"logit_bias": tuple((ids[0], bias) for ids, bias in pairs)}


# Arguments of `generate` whose value is another than the setting's; the inverse of `passed`.
_TAKEN: dict[str, Callable[[Any], dict[str, Any]]] = {
    "watermarking_config": _watermark,
    "exponential_decay_length_penalty": _length_decay,
    "sequence_bias": _biases,
}


def config_of(settings: GenerationConfig, prompt_length: int, seed: int | None) -> MethodConfig:
    """Return the config of the same run.

    Args:
        settings: complete, as `generate` prepares it, with every default filled in.
        seed: seed of torch's generator at the beginning; None if it isn't known.

    Raises:
        TraceError: a setting has no counterpart here.
        ConfigError: a value lies outside the interval of its setting.
    """
    defaults = settings._get_default_generation_params()
    for name in _REFUSED:
        value = getattr(settings, name, None)
        if value is not None and value != defaults.get(name, False):
            raise TraceError(
                Message(
                    "This run of generate has {name} = {given}, which no method here "
                    "has: a trace of it can't be made.",
                    name=name,
                    given=brief(value),
                )
            )
    require_no_drafts(settings)
    draws, beams = bool(settings.do_sample), settings.num_beams or 1
    shared: dict[str, Any] = {
        "max_new_tokens": _longest(settings, prompt_length),
        "min_new_tokens": _shortest(settings, prompt_length),
        "stop_strings": _stop_strings(settings.stop_strings),
        "shaping": _shaping(settings, draws),
        "use_cache": settings.use_cache is not False,
    }
    if beams > 1:
        return BeamSearch(
            num_beams=beams,
            num_return_sequences=settings.num_return_sequences or 1,
            length_penalty=1.0 if settings.length_penalty is None else settings.length_penalty,
            early_stopping=settings.early_stopping or False,
            do_sample=draws,
            seed=seed or 0,
            **shared,
        )
    if draws:
        return Sampling(seed=seed or 0, draw="multinomial", **shared)
    return Greedy(**shared)


def require_no_drafts(settings: GenerationConfig) -> None:
    """Refuse a run that drafts.

    Raises:
        TraceError: the settings name a source of drafts.
    """
    for name, drafter in _DRAFTING.items():
        value = getattr(settings, name, None)
        if value:
            raise TraceError(
                Message(
                    "This run of generate drafts ({name} = {given}), and its output names no "
                    "drafts and no rounds: make the trace with Speculative(drafter={drafter!r}).",
                    name=name,
                    given=brief(value),
                    drafter=drafter,
                )
            )


def _shaping(settings: GenerationConfig, draws: bool) -> Shaping:
    values: dict[str, Any] = {}
    for name, spec in ACTING.items():
        if spec.generate is None or not (draws or spec.penalises):
            continue
        value = getattr(settings, spec.generate, None)
        if value is not None:
            taken = _TAKEN.get(spec.generate)
            values |= {name: value} if taken is None else taken(value)
    return Shaping(**values)


def _longest(settings: GenerationConfig, prompt_length: int) -> int:
    if settings.max_new_tokens is not None:
        return int(settings.max_new_tokens)
    return int(settings.max_length or 0) - prompt_length


def _shortest(settings: GenerationConfig, prompt_length: int) -> int:
    if settings.min_new_tokens is not None:
        return int(settings.min_new_tokens)
    return max(0, int(settings.min_length or 0) - prompt_length)


def _stop_strings(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value or ())
