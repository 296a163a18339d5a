"""Client for OpenAI's completions API with token ids: vLLM and compatible servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from ...decoding.by_engine.config import NO_BUDGET, ByEngine
from ...decoding.errors import LostModelError, ModelError
from ...decoding.record.servers import OPENAI_SHAPED, VLLM
from ...language import Message
from .address import Address
from .engine import Bias, Engine, Facts, Forced, Prompts
from .http import Client, RefusedError
from .rows import Said, in_order, part_of
from .sampling import asked_settings, most_bytes

_ID = "token_id:"
# Switch off vLLM's sampling settings, which change log-probabilities taken after them.
_NEUTRAL = {
    "top_p": 1.0,
    "top_k": 0,
    "min_p": 0.0,
    "repetition_penalty": 1.0,
    "frequency_penalty": 0.0,
    "presence_penalty": 0.0,
}
# Counts of candidates to try if the server doesn't give all: vLLM's limit, OpenAI's limit.
_TRIED = (1_000, 100, 20, 5)
_BYTES_OF_ENTRY = 96


class CompletionsEngine(Engine):
    """Client of `/v1/completions`, with prompts of token ids."""

    def __init__(self, address: Address, client: Client) -> None:
        super().__init__(address, client)
        self._settings = _NEUTRAL if address.kind == "vllm" else {}

    def connect(self) -> Facts:
        """Return the facts about the model, from the server's list of models and a test request.

        Raises:
            ModelError: the server has no such model, or gives no log-probabilities by token id.
        """
        rows, names = self._listed()
        row = next((row for row in rows if row["id"] == self._address.model), None)
        if row is None:
            raise ModelError(
                Message(
                    "The server of {label} has no model {model!r}; it has {names}.",
                    label=self.label,
                    model=self._address.model,
                    names=names,
                )
            )
        window = row.get("max_model_len")
        most, vocab_size = self._most_candidates()
        window = window if type(window) is int else None
        if self._address.kind != "vllm":
            return Facts(OPENAI_SHAPED, "", most, vocab_size, window)
        version = None
        with suppress(LostModelError):
            version = part_of(self._client.ask("/version"), "version")
        version = version[:40] if isinstance(version, str) else ""
        return Facts(VLLM, version, most, vocab_size, window)

    def _most_candidates(self) -> tuple[int | None, int | None]:
        """Return the maximum number of candidates (None: no limit), and without a limit the
        vocabulary size.
        """
        try:
            answer = self.next_tokens([[1]], -1)[0]
            if set(answer.ids) == set(range(len(answer.ids))):
                return None, len(answer.ids)
            raise LostModelError(
                Message(
                    "The server of {label} answers with other tokens than its "
                    "vocabulary's; check the server.",
                    label=self.label,
                )
            )
        except RefusedError:
            pass
        for count in _TRIED:
            try:
                self.next_tokens([[1]], count)
            except RefusedError:
                continue
            return count, None
        raise ModelError(
            Message(
                "The server of {label} gives no log-probabilities; take another server or model.",
                label=self.label,
            )
        )

    def _complete(self, prompts: Prompts, count: int, **more: Any) -> list[Any]:
        body = {
            "model": self._address.model,
            "prompt": [list(ids) for ids in prompts],
            "max_tokens": 1,
            "temperature": 0.0,
            "return_tokens_as_token_ids": True,
            **self._settings,
            **more,
        }
        entries = 2**20 if count < 0 else count + 1
        most = len(prompts) * entries * _BYTES_OF_ENTRY + 2**20
        answer = self._client.ask("/v1/completions", body, most_bytes=most)
        return in_order(part_of(answer, "choices"), len(prompts), self.label)

    def next_tokens(self, prompts: Prompts, count: int, bias: Bias = None) -> list[Said]:
        """Return the likeliest tokens after each prompt; all tokens for a count of -1."""
        more = {"logit_bias": {str(key): value for key, value in bias.items()}} if bias else {}
        choices = self._complete(prompts, count, logprobs=count, **more)
        tops = [part_of(choice, "logprobs", "top_logprobs", 0) for choice in choices]
        return [self._by_id(values) for values in tops]

    def _by_id(self, values: Any) -> Said:
        if not isinstance(values, dict) or not values:
            raise LostModelError(
                Message("The server of {label} gives no log-probabilities.", label=self.label)
            )
        ids = [key[len(_ID) :] if key.startswith(_ID) else "" for key in values]
        if not all(text.isdecimal() and len(text) < 10 for text in ids):
            raise LostModelError(
                Message(
                    "The server of {label} names tokens by their text and not by their "
                    "ids; take a server that knows return_tokens_as_token_ids, such as "
                    "vLLM.",
                    label=self.label,
                )
            )
        return Said([int(text) for text in ids], list(values.values()))

    def sampled(
        self, ids: Sequence[int], config: ByEngine, limit: int, count: int
    ) -> Iterator[Said]:
        """Stream a run with one request; the last event may report speculative decoding."""
        bias, budget = dict(config.shaping.logit_bias), config.thinking_token_budget
        body = {
            "model": self._address.model,
            "prompt": list(ids),
            "max_tokens": limit,
            "logprobs": count,
            "stream": True,
            "return_tokens_as_token_ids": True,
            **asked_settings(self._address.kind, config),
            **({"logit_bias": {str(key): value for key, value in bias.items()}} if bias else {}),
        }
        if self._address.kind == "vllm":
            body |= {
                "min_tokens": config.min_new_tokens,
                "include_stop_str_in_output": True,
                "stream_options": {"include_usage": True},
                **({"thinking_token_budget": budget} if budget != NO_BUDGET else {}),
            }
        self.last_speculation = None
        most = most_bytes(limit, count, _BYTES_OF_ENTRY)
        for event in self._client.events("/v1/completions", body, most_bytes=most):
            speculation = part_of(event, "metrics", "speculative_decoding")
            self.last_speculation = speculation or self.last_speculation
            yield from self._emitted(part_of(event, "choices", 0, "logprobs"))

    def _emitted(self, logprobs: Any) -> Iterator[Said]:
        """Yield each token of an event with its candidates, the token itself first."""
        if logprobs is None:
            return
        parts = [part_of(logprobs, name) for name in ("tokens", "token_logprobs", "top_logprobs")]
        whole = all(isinstance(part, list) for part in parts) and len({*map(len, parts)}) == 1
        if not whole or not all(isinstance(tops, dict | None) for tops in parts[2]):
            raise LostModelError(
                Message("The server of {label} gives no log-probabilities.", label=self.label)
            )
        for name, value, tops in zip(*parts, strict=True):
            candidates = {key: number for key, number in (tops or {}).items() if key != name}
            yield self._by_id({name: value, **candidates} if isinstance(name, str) else {})

    def forced(self, token_id: int, count: int) -> Forced:
        """Emit a token with a large logit bias, and return its effect."""
        choice = self._complete([[1]], count, logit_bias={str(token_id): 100.0})[0]
        text = part_of(choice, "text")
        ends = part_of(choice, "finish_reason") == "stop"
        return Forced(text if isinstance(text, str) else "", ends)

    def encode(self, text: str) -> list[int]:
        """Encode a text with `/tokenize`."""
        return self._ids({"prompt": text})

    def encode_chat(self, messages: Sequence[dict[str, str]], opened: bool) -> list[int]:
        """Encode a conversation with `/tokenize`, which renders the chat template."""
        return self._ids({"messages": list(messages), "add_generation_prompt": opened})

    def _ids(self, body: dict[str, Any]) -> list[int]:
        answer = self._client.ask("/tokenize", {"model": self._address.model, **body})
        return ids_of(part_of(answer, "tokens"), self.label)

    def decode(self, ids: Sequence[int]) -> str:
        """Decode ids with `/detokenize`."""
        body = {"model": self._address.model, "tokens": list(ids)}
        return self._text("/detokenize", body, "prompt", "turn tokens into text")

    def vocabulary(self, count: int) -> list[bytes | None]:
        """Return each token's bytes, from the log-probabilities of a prompt (vLLM).

        A token that is only part of a character has no text: None.
        """
        choice = self._complete([[1, 1]], -1, prompt_logprobs=-1)[0]
        tokens = part_of(choice, "prompt_logprobs", 1)
        texts = [part_of(tokens, str(token_id), "decoded_token") for token_id in range(count)]
        if not all(isinstance(text, str) for text in texts):
            raise ModelError(
                Message(
                    "The server of {label} doesn't say what its tokens are; name a "
                    "tokenizer: ?tokenizer=FOLDER before the # of the address.",
                    label=self.label,
                )
            )
        whole = (text if "\ufffd" not in text else "" for text in texts)
        return [text.encode("utf-8", "replace") or None for text in whole]


def ids_of(ids: Any, label: str) -> list[int]:
    """Validate a list of token ids from an answer, and return it.

    Raises:
        LostModelError: the value is no list of token ids.
    """
    if not isinstance(ids, list) or not all(type(part) is int and part >= 0 for part in ids):
        raise LostModelError(
            Message(
                "The server of {label} turns text into something else than tokens.", label=label
            )
        )
    return ids
