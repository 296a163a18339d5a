"""Completions: text or token ids in, what follows them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from openai.types import Completion, CompletionChoice
from openai.types.completion_create_params import CompletionCreateParamsBase

from core.decoding.record.bounds import MAX_COUNT
from core.decoding.validation import Interval
from core.server.api import vllm_fields
from core.server.api.answer import DONE, Choices, StreamUsage, data, plain
from core.server.api.chat import MOST_TOP, read_mode, read_stream_options
from core.server.api.config import Asked, read_settings
from core.server.api.errors import ApiError, unsupported
from core.server.api.fields import MAX_TEXT, Fields
from core.server.api.logprobs import LegacyLogprobs, TokenLogprobs, Wanted
from core.server.api.parts import AllEnded, AnswerPart, ChoiceEnded, Delta
from core.server.api.plan import MAX_CHOICES, Plan, Prompt

KNOWN = frozenset(CompletionCreateParamsBase.__annotations__) | {"stream"}
# OpenAI's own default.
DEFAULT_TOKENS = 16


class CompletionOptions:
    """How an answer is written.

    Args:
        usage: when a stream says it.
        ids_as_text: whether a token is written as `token_id:383`, as vLLM can.
    """

    def __init__(self, usage: StreamUsage, ids_as_text: bool) -> None:
        self.usage, self.ids_as_text = usage, ids_as_text


def read_completion(body: Mapping[str, Any]) -> tuple[Plan, CompletionOptions]:
    """The plan of a request, and how its answer is written.

    Raises:
        ApiError: a parameter that is wrong or not supported.
    """
    fields = Fields(body)
    model = fields.required_text("model")
    prompts = read_prompts(fields)
    asked, echo = read_settings(fields, "completions"), fields.flag("echo")
    n = fields.whole("n", Interval(1, MAX_CHOICES), 1) or 1
    if len(prompts) * n > MAX_CHOICES:
        raise ApiError(
            f"{len(prompts)} prompts with {n} choices each are more than {MAX_CHOICES}; send "
            "several requests.",
            param="n",
        )
    only_prompt = asked.limit == 0
    if only_prompt and not echo:
        raise fields.wrong("max_tokens", "may be 0 only with echo")
    logprobs = _logprobs(fields)
    if echo and logprobs and logprobs.mode == "final":
        raise fields.wrong(
            "logprobs_mode", "final isn't there for a prompt (echo): nothing drew it"
        )
    plan = Plan(
        endpoint="completions",
        model=model,
        prompts=prompts,
        asked=_limited(asked, only_prompt),
        n=n,
        logprobs=logprobs,
        echo=echo,
        only_prompt=only_prompt,
        stream=fields.flag("stream"),
        **vllm_fields.read_shown(fields),
        body=body,
    )
    options = CompletionOptions(
        read_stream_options(fields), fields.flag("return_tokens_as_token_ids")
    )
    _read_what_changes_nothing(fields)
    fields.finish(KNOWN)
    return plan, options


def _limited(asked: Asked, only_prompt: bool) -> Asked:
    if only_prompt:
        return replace(asked, limit=1)
    if asked.limit is None and "max_new_tokens" not in (asked.decoding or {}):
        return replace(asked, limit=DEFAULT_TOKENS)
    return asked


def read_prompts(fields: Fields) -> tuple[Prompt, ...]:
    """One prompt or several, each a text or token ids."""
    fields.require_prompt("completions")
    value = fields.any("prompt")
    if isinstance(value, list) and value and isinstance(value[0], list | str):
        if len(value) > MAX_CHOICES:
            raise fields.wrong("prompt", f"must hold at most {MAX_CHOICES} prompts")
        return tuple(_prompt(fields, one) for one in value)
    return (_prompt(fields, value),)


def _prompt(fields: Fields, value: Any) -> Prompt:
    if value in ("", []):
        raise fields.wrong("prompt", "is empty: write at least one word")
    if isinstance(value, str) and 0 < len(value) <= MAX_TEXT:
        return value
    if isinstance(value, list) and value and all(_is_id(one) for one in value):
        return tuple(value)
    raise fields.wrong("prompt", "must be text, a list of token ids, or a list of either")


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MAX_COUNT


def _logprobs(fields: Fields) -> Wanted | None:
    top, mode = fields.whole("logprobs", MOST_TOP), read_mode(fields)
    if top is None and fields.has("logprobs_mode"):
        raise fields.wrong("logprobs_mode", "says how log-probabilities are given; set logprobs")
    return None if top is None else Wanted(top, mode)


def _read_what_changes_nothing(fields: Fields) -> None:
    for name in ("frequency_penalty", "presence_penalty"):
        fields.inert(name, 0)
    fields.ignored("user")
    if fields.any("best_of") not in (None, fields.any("n"), 1):
        raise unsupported("best_of", "It can only equal n; beam search is in decoding.")
    if fields.any("suffix"):
        raise unsupported("suffix", "Models here continue a text, they don't fill it in.")


class CompletionAnswer(Choices):
    """A completion."""

    def __init__(self, plan: Plan, options: CompletionOptions) -> None:
        super().__init__(plan, "cmpl-")
        self._options = options
        self._lists: dict[int, LegacyLogprobs] = {}
        # Choices whose stream has begun.
        self._begun: set[int] = set()

    def body(self) -> dict[str, Any]:
        """The whole answer."""
        written = plain(
            self._envelope([self._choice(at) for at in range(len(self.choices))]),
            usage=plain(self.usage()),
            **self.extras(),
        )
        for at, (choice, own) in enumerate(zip(written["choices"], self.choices, strict=True)):
            if self.plan.logprobs:
                prompt = _prompt_tokens(own.prompt_ids, own.logprobs.get("prompt", ()))
                tokens = [*prompt, *own.logprobs.get("thinking", ()), *own.answer_logprobs]
                choice["logprobs"] = self._legacy(at).lists(tokens)
            if self.plan.token_ids:
                choice["token_ids"] = own.token_ids
            choice.update(self.prompt_extras(at))
        return written

    def _choice(self, at: int) -> CompletionChoice:
        own = self.choices[at]
        text = own.texts.get("prompt", "") + own.thinking + own.answer
        reason = own.finish_reason or "length"
        return CompletionChoice(index=at, text=text, finish_reason=reason, logprobs=None)

    def _legacy(self, at: int) -> LegacyLogprobs:
        if at not in self._lists:
            as_id = "token_id:{}".format
            text_of = as_id if self._options.ids_as_text else self.vocabulary.token_text
            self._lists[at] = LegacyLogprobs(self.vocabulary, text_of)
        return self._lists[at]

    def events(self, part: AnswerPart) -> Iterator[str]:
        """What a stream says of a part."""
        self.take(part)
        if isinstance(part, Delta) and self.says(part):
            yield self._delta(part)
        elif isinstance(part, ChoiceEnded):
            yield self._chunk(part.choice, "", part.finish_reason, None)
        elif isinstance(part, AllEnded):
            if self._options.usage != "never":
                yield data(plain(self._envelope([]), usage=plain(self.usage()), **self.extras()))
            yield DONE

    def _delta(self, part: Delta) -> str:
        logprobs = None
        if self.plan.logprobs:
            own = part.logprobs
            tokens = _prompt_tokens(part.token_ids, own) if part.phase == "prompt" else own
            logprobs = self._legacy(part.choice).lists(tokens)
        ids = () if part.phase == "prompt" else part.token_ids
        return self._chunk(part.choice, part.text, None, logprobs, ids)

    def _chunk(
        self,
        at: int,
        text: str,
        reason: Any,
        logprobs: dict[str, Any] | None,
        ids: Sequence[int] = (),
    ) -> str:
        written = plain(self._envelope([]), **self.usage_so_far(self._options.usage))
        # Their type has no chunk without a finish reason; their server has.
        choice = {"index": at, "text": text, "finish_reason": reason, "logprobs": logprobs}
        if self.plan.token_ids:
            choice["token_ids"] = list(ids)
            if at not in self._begun:
                choice.update(self.prompt_extras(at))
            self._begun.add(at)
        return data({**written, "choices": [choice]})

    def _envelope(self, choices: list[CompletionChoice]) -> Completion:
        return Completion(
            id=self.id,
            object="text_completion",
            created=self.created,
            model=self.plan.model,
            choices=choices,
            system_fingerprint=self.fingerprint,
        )

    def error_events(self, error: ApiError) -> Iterator[str]:
        """An error that ends the stream."""
        yield data(error.body())


def _prompt_tokens(
    ids: Sequence[int], logprobs: Sequence[TokenLogprobs]
) -> list[TokenLogprobs | int]:
    """A prompt's tokens; the first has no probability."""
    return [*ids[:1], *logprobs]
