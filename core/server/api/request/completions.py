"""Reader of requests to the completions API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ....decoding.validation import Interval
from ..errors import ApiError, unsupported
from . import vllm_fields
from .config import read_settings
from .fields import MAX_TEXT, Fields, is_token_id
from .plan import MAX_CHOICES, MODES, LogprobsOptions, Plan, Prompt
from .shared import MOST_TOP, finish, read_usage

# OpenAI's own default.
DEFAULT_TOKENS = 16


def read_completion(body: Mapping[str, Any]) -> Plan:
    """Read a request for a completion.

    Raises:
        ApiError: a parameter is wrong or not supported.
    """
    fields = Fields(body)
    model = fields.required_text("model")
    prompts = _prompts(fields)
    settings, echo = read_settings(fields, "completions"), fields.flag("echo")
    n = fields.whole("n", Interval(1, MAX_CHOICES)) or 1
    if len(prompts) * n > MAX_CHOICES:
        raise ApiError(
            f"{len(prompts)} prompts with {n} choices each are more than {MAX_CHOICES}; send "
            "several requests.",
            param="n",
        )
    only_prompt = settings.limit == 0
    if only_prompt and not echo:
        raise fields.wrong("max_tokens", "may be 0 only with echo")
    if only_prompt:
        settings = replace(settings, limit=1)
    elif settings.limit is None and "max_new_tokens" not in (settings.decoding or {}):
        settings = replace(settings, limit=DEFAULT_TOKENS)
    plan = Plan(
        endpoint="completions",
        model=model,
        prompts=prompts,
        settings=settings,
        n=n,
        logprobs=_logprobs(fields, echo),
        echo=echo,
        only_prompt=only_prompt,
        stream=fields.flag("stream"),
        **vllm_fields.read_shown(fields),
        usage=read_usage(fields),
        ids_as_text=fields.flag("return_tokens_as_token_ids"),
        body=body,
    )
    if fields.any("best_of") not in (None, fields.any("n"), 1):
        raise unsupported("best_of", "It can only equal n; beam search is in decoding.")
    if fields.any("suffix"):
        raise unsupported("suffix", "Models here continue a text, they don't fill it in.")
    finish(fields, "completions")
    return plan


def _prompts(fields: Fields) -> tuple[Prompt, ...]:
    """Read one prompt or several, each a text or token ids."""
    fields.require_prompt("completions")
    value = fields.any("prompt")
    if isinstance(value, list) and value and isinstance(value[0], list | str):
        if len(value) > MAX_CHOICES:
            raise fields.wrong("prompt", f"must hold at most {MAX_CHOICES} prompts")
        return tuple(_prompt(fields, prompt) for prompt in value)
    return (_prompt(fields, value),)


def _prompt(fields: Fields, value: Any) -> Prompt:
    if value in ("", []):
        raise fields.wrong("prompt", "is empty: write at least one word")
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return value
    if isinstance(value, list) and all(map(is_token_id, value)):
        return tuple(value)
    raise fields.wrong("prompt", "must be text, a list of token ids, or a list of either")


def _logprobs(fields: Fields, echo: bool) -> LogprobsOptions | None:
    top = fields.whole("logprobs", MOST_TOP)
    mode: Any = fields.choice("logprobs_mode", MODES, "raw")
    if top is None:
        if fields.has("logprobs_mode"):
            what = "says how log-probabilities are given; set logprobs"
            raise fields.wrong("logprobs_mode", what)
        return None
    if echo and mode == "final":
        raise fields.wrong(
            "logprobs_mode", "final isn't there for a prompt (echo): nothing drew it"
        )
    return LogprobsOptions(top, mode)
