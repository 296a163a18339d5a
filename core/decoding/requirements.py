"""Checks of models, draft, settings and prompt before a run's first step."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from pathlib import Path

from ..language import N_, Message
from .by_engine.config import ByEngine
from .config import MethodConfig
from .constraints.grammar import grammars_of
from .errors import ConfigError, ContextLengthError, ModelError, PromptError
from .methods import METHODS, method_of
from .protocol import Decodes, LanguageModel, offers
from .shaping.config import LOGIT_PENALTIES, SETTINGS
from .validation import brief


def require_models(model: object, draft: object = None) -> None:
    """Raise ModelError if an argument is a name or another library's model, not a loaded model."""
    for given in (model,) if draft is None else (model, draft):
        if isinstance(given, str | Path):
            raise ModelError(
                Message(
                    "{given} is a model's name, not a loaded model; give load_model(name).",
                    given=brief(str(given)),
                )
            )
        if not hasattr(given, "start"):
            raise ModelError(
                Message(
                    "{name} is not the type of a loaded model; give load_model(name), "
                    "or from_transformers(model, tokenizer) for one of transformers.",
                    name=type(given).__name__,
                )
            )


def require_draft(config: MethodConfig, draft: str | None) -> None:
    """Raise ConfigError if a needed draft model is missing, or an unneeded one is given."""
    method = method_of(config)
    if method.require_draft:
        method.require_draft(config, draft)
    elif draft is not None:
        drafting = " and ".join(m.config.__name__ for m in METHODS if m.require_draft)
        raise ConfigError(
            Message(
                "Only {drafting} take a draft model, got one with a {name}; leave it out.",
                drafting=drafting,
                name=type(config).__name__,
            )
        )


def require_given(model: LanguageModel, given: Sequence[int], config: MethodConfig) -> None:
    """Raise ConfigError for given tokens that don't suit the method, the model or the bound."""
    if not method_of(config).takes_given:
        takers = " and ".join(m.config.__name__ for m in METHODS if m.takes_given)
        raise ConfigError(
            Message(
                "Only {takers} take given tokens, got {given}; leave them out.",
                takers=takers,
                given=len(given),
            )
        )
    require_all_tokens(model, N_("a given token"))
    wrong = next((token for token in given if not 0 <= token < model.vocab_size), None)
    if wrong is not None:
        raise ConfigError(
            Message(
                "A given token is #{wrong}, and this model's tokens go from #0 to "
                "#{vocab_size}; give one of them.",
                wrong=wrong,
                vocab_size=model.vocab_size - 1,
            )
        )
    if len(given) > config.max_new_tokens:
        raise ConfigError(
            Message(
                "{given} tokens are given and max_new_tokens is {max_new_tokens}; "
                "raise it, or give fewer.",
                given=len(given),
                max_new_tokens=config.max_new_tokens,
            )
        )


def require_settings(model: LanguageModel, config: MethodConfig) -> None:
    """Raise ConfigError for a token that the model lacks, or a penalty or constraint that the model
    doesn't allow.

    A penalty that scales logits needs logits; log-probabilities differ from them by one number.
    """
    for name, tokens in config.shaping.token_ids().items():
        if tokens and max(tokens) >= model.vocab_size:
            unknown = min(token for token in tokens if token >= model.vocab_size)
            raise ConfigError(
                Message(
                    "The {name} names token #{unknown}, and this model's tokens go "
                    "from #0 to #{vocab_size}; take one of them.",
                    name=Message(SETTINGS[name].name),
                    unknown=unknown,
                    vocab_size=model.vocab_size - 1,
                ),
                name,
            )
    if config.shaping.contrastive_beta and method_of(config).require_draft is None:
        raise ConfigError(
            N_("compares with a draft model: take contrastive decoding, or set it to 0."),
            "contrastive_beta",
            "Shaping",
        )
    constraint = config.shaping.constraint
    if constraint is not None and not isinstance(config, ByEngine):
        require_all_tokens(model, N_("a constraint"), N_("switch it off"))
        grammars_of(model).start(constraint)
    if getattr(model, "gives_logits", True):
        return
    for name in config.shaping.active(LOGIT_PENALTIES):
        if SETTINGS[name].stretch(getattr(config.shaping, name)) > 1:
            raise ConfigError(
                Message(
                    "The {name} scales logits, and {model} gives log-probabilities, "
                    "which differ from them by an unknown number: switch it "
                    "off{or_start_vllm}.",
                    name=Message(SETTINGS[name].name),
                    model=model.model_id,
                    or_start_vllm=_or_start_vllm(model, "--logprobs-mode raw_logits"),
                ),
                name,
            )


def require_all_tokens(
    model: LanguageModel, words: str, advice: str = N_("take greedy or sampling")
) -> None:
    """Raise an error if a model doesn't give the whole vocabulary.

    Args:
        words: name of the feature that needs it, for the sentence.
        advice: what to do instead.

    Raises:
        ConfigError: the model's server names only the likeliest tokens.
    """
    known = getattr(model, "known", None)
    if known is not None:
        raise ConfigError(
            Message(
                "The server of {model} names {known} tokens of each step, and {words} "
                "needs them all: {advice}{or_start_vllm}.",
                model=model.model_id,
                known=known,
                words=Message(words),
                advice=Message(advice),
                or_start_vllm=_or_start_vllm(model, "--max-logprobs -1"),
            )
        )


def in_dtype(model: LanguageModel, dtype: str) -> LanguageModel:
    """Return the model in another number type of its weights.

    Raises:
        ConfigError: the model is on a server.
    """
    convert: Callable[[str], LanguageModel] | None = getattr(model, "in_dtype", None)
    if convert is None:
        raise ConfigError(
            Message(
                "{model} has no copy in {dtype}: choose something else.",
                model=model.model_id,
                dtype=dtype,
            )
        )
    return convert(dtype)


def _or_start_vllm(model: LanguageModel, options: str) -> str:
    """Return the end of the advice; empty for another kind of server."""
    if "vLLM" not in getattr(model, "versions", {}):
        return ""
    return Message(", or start vLLM with {options}", options=options)


def encode_prompt(model: LanguageModel, prompt: str | Sequence[int]) -> list[int]:
    """Return the prompt's token ids, checked against the vocabulary and the context window.

    Raises:
        PromptError: the prompt is empty, has an id outside the vocabulary, or is too long.
    """
    ids = model.encode(prompt) if isinstance(prompt, str) else _whole_numbers(prompt)
    if not ids or prompt == "":
        raise PromptError(N_("The prompt is empty: write at least one word."))
    wrong = next((token for token in ids if not 0 <= token < model.vocab_size), None)
    if wrong is not None:
        words = N_(
            "Token id {wrong} is outside the model's vocabulary of {vocab_size} tokens: leave it "
            "out of the prompt."
        )
        name = ""
        if offers(model, Decodes):
            name = brief(model.token_text(wrong))
            words = N_(
                "Token id {wrong} is outside the model's vocabulary of {vocab_size} tokens: leave "
                "{name} out of the prompt."
            )
        raise PromptError(Message(words, wrong=wrong, vocab_size=model.vocab_size, name=name))
    window = model.context_window
    if window is not None and len(ids) >= window:
        raise ContextLengthError(
            Message(
                "The prompt has {count} tokens; this model's context window holds "
                "{window}, so at most {most} fit with room for one new token: "
                "shorten the prompt.",
                count=len(ids),
                window=window,
                most=window - 1,
            ),
            len(ids),
            window,
        )
    return ids


def _whole_numbers(prompt: object) -> list[int]:
    # Bytes are a sequence of whole numbers too, but no prompt.
    is_bytes = isinstance(prompt, bytes | bytearray)
    ids = list(prompt) if isinstance(prompt, Sequence) and not is_bytes else None
    if ids is None or not all(isinstance(i, int) and not isinstance(i, bool) for i in ids):
        raise PromptError(
            Message(
                "The prompt must be text or a list of token ids, got {prompt}.",
                prompt=reprlib.repr(prompt),
            )
        )
    return ids
