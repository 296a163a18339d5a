"""Client for llama.cpp's own `/completion`, which names candidates by id and bytes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...decoding.by_engine.config import ByEngine
from ...decoding.errors import LostModelError, ModelError
from ...decoding.record.servers import LLAMA_CPP
from ...language import Message
from .completions import ids_of
from .engine import Bias, Engine, Facts, Forced, Prompts
from .rows import Said, in_order, list_in, part_of
from .sampling import asked_settings, most_bytes

_BYTES_OF_ENTRY = 256
_MOST_VOCABULARY = 2**20
_MOST_SLOTS = 2**10
_PROMPTS_AT_ONCE = 16


class _Emitted(NamedTuple):
    """A token of a run, with its numbers if the server told them."""

    token_id: int
    said: Said | None


class LlamaCppEngine(Engine):
    """Client of `/completion`, with prompts of token ids."""

    _vocab_size = 0

    def connect(self) -> Facts:
        """Return the facts about the model; llama.cpp gives the log-probability of every token.

        Raises:
            ModelError: the server has no such model.
        """
        rows, names = self._listed()
        row = next((row for row in rows if self._address.model in ("", row["id"])), None)
        size = part_of(row, "meta", "n_vocab")
        if row is None or type(size) is not int or not 1 < size <= _MOST_VOCABULARY:
            raise ModelError(
                Message(
                    "The server of {label} has no model {model!r} of llama.cpp; it has {names}.",
                    label=self.label,
                    model=self._address.model,
                    names=names,
                )
            )
        self._vocab_size = size
        window = part_of(row, "meta", "n_ctx")
        properties = self._client.ask("/props")
        slot = part_of(properties, "default_generation_settings", "n_ctx")
        slots = part_of(properties, "total_slots")
        build = part_of(properties, "build_info")
        version = build[:40] if isinstance(build, str) else ""
        windows = [count for count in (window, slot) if type(count) is int and count > 0]
        known = slots if type(slots) is int and 0 < slots <= _MOST_SLOTS else None
        return Facts(LLAMA_CPP, version, None, size, min(windows, default=None), known)

    def _complete(self, prompts: Prompts, count: int, **more: Any) -> list[Any]:
        body = {
            "prompt": [list(ids) for ids in prompts],
            "n_predict": 1,
            "temperature": 0.0,
            "cache_prompt": True,
            "n_probs": count,
            **({"model": self._address.model} if self._address.model else {}),
            **more,
        }
        most = len(prompts) * (count + 1) * _BYTES_OF_ENTRY + 4 * 2**20
        answer = self._client.ask("/completion", body, most_bytes=most)
        answers = [answer] if isinstance(answer, dict) else answer
        return in_order(answers, len(prompts), self.label)

    def next_tokens(self, prompts: Prompts, count: int, bias: Bias = None) -> list[Said]:
        """Return the likeliest tokens after each prompt."""
        more = {"logit_bias": [list(pair) for pair in bias.items()]} if bias else {}
        return [_said(self._tops(answer)) for answer in self._complete(prompts, count, **more)]

    def _tops(self, answer: Any) -> list[Any]:
        tops = part_of(answer, "completion_probabilities", 0, "top_logprobs")
        if not isinstance(tops, list):
            raise LostModelError(
                Message("The server of {label} gives no log-probabilities.", label=self.label)
            )
        return tops

    def sampled(
        self, ids: Sequence[int], config: ByEngine, limit: int, count: int
    ) -> Iterator[Said]:
        """Stream a run with one request; the client, not the server, looks for stop strings."""
        body = {
            "prompt": list(ids),
            "n_predict": limit,
            "n_probs": count,
            "cache_prompt": True,
            "stream": True,
            "return_tokens": True,
            "repeat_last_n": len(ids) + limit,
            "logit_bias": [list(pair) for pair in dict(config.shaping.logit_bias).items()],
            **({"model": self._address.model} if self._address.model else {}),
            **asked_settings("llamacpp", config),
            "stop": [],
        }
        self.last_speculation = None
        most = most_bytes(limit, count, _BYTES_OF_ENTRY)
        told, later = list(ids), list[_Emitted]()
        for event in self._client.events("/completion", body, most_bytes=most):
            self.last_speculation = part_of(event, "timings") or self.last_speculation
            for emitted in self._emitted(event, len(told) + len(later) - len(ids)):
                if later or emitted.said is None:
                    # The one slot of a server may be busy with this run: it is asked afterwards.
                    later.append(emitted)
                else:
                    told.append(emitted.token_id)
                    yield emitted.said
        yield from self._completed(told, later, count)

    def _emitted(self, event: Any, before: int) -> Iterator[_Emitted]:
        """Yield the tokens of an event.

        Drafted tokens come without numbers, and of a character of several tokens comes the last one
        alone, with the whole text: the others are those of the text's tokens.

        Args:
            before: number of tokens before it in the run.
        """
        named = list_in(event, "completion_probabilities")
        token_ids = [part_of(token, "id") for token in named] or list_in(event, "tokens")
        total = part_of(event, "tokens_predicted")
        if not token_ids:
            return
        if type(total) is int and (left_out := total - before - len(token_ids)) > 0:
            content = part_of(event, "content")
            whole = self._ids(content, add_special=False) if isinstance(content, str) else []
            if len(whole) != left_out + len(token_ids) or whole[left_out:] != token_ids:
                raise LostModelError(
                    Message(
                        "The server of {label} leaves tokens of a character out of its stream: "
                        "take sampling, which asks for each token.",
                        label=self.label,
                    )
                )
            yield from (_Emitted(token_id, None) for token_id in whole[:left_out])
        for at, token_id in enumerate(ids_of(token_ids, self.label)):
            tops = list_in(named[at], "top_logprobs") if named else []
            others = [top for top in tops if part_of(top, "id") != token_id]
            yield _Emitted(token_id, _said([named[at], *others]) if tops else None)

    def _completed(self, told: list[int], later: Sequence[_Emitted], count: int) -> Iterator[Said]:
        """Yield tokens with their numbers, for which the server is asked where it told none.

        Args:
            told: ids of the prompt and of the tokens before.
        """
        text = [*told, *(emitted.token_id for emitted in later)]
        lacking = [len(told) + at for at, emitted in enumerate(later) if emitted.said is None]
        answers = dict[int, Said]()
        for first in range(0, len(lacking), _PROMPTS_AT_ONCE):
            places = lacking[first : first + _PROMPTS_AT_ONCE]
            rows = self.next_tokens([text[:at] for at in places], count)
            answers |= dict(zip(places, rows, strict=True))
        for at, emitted in enumerate(later, start=len(told)):
            yield emitted.said or self._led_by(emitted.token_id, answers[at], text[:at])

    def _led_by(self, token_id: int, answer: Said, before: list[int]) -> Said:
        """Return the numbers of a position with a token first; ask for all where it isn't named."""
        if token_id not in answer.ids:
            whole = self.next_tokens([before], self._vocab_size)[0]
            numbers = dict(zip(whole.ids, whole.values, strict=True))
            value = numbers.get(token_id, -math.inf)
        else:
            value = answer.values[answer.ids.index(token_id)]
        pairs = [(i, v) for i, v in zip(answer.ids, answer.values, strict=True) if i != token_id]
        return Said([token_id, *(i for i, _ in pairs)], [value, *(v for _, v in pairs)])

    def forced(self, token_id: int, count: int) -> Forced:  # noqa: ARG002 - none are asked for
        """Emit a token with a large logit bias, and return its effect."""
        answer = self._complete([[1]], 0, logit_bias=[[token_id, 100.0]])[0]
        text = part_of(answer, "content")
        return Forced(text if isinstance(text, str) else "", answer.get("stop_type") == "eos")

    def encode(self, text: str) -> list[int]:
        """Encode a text with `/tokenize`; the text of a special token becomes that token."""
        return self._ids(text, add_special=True)

    def _ids(self, text: str, *, add_special: bool) -> list[int]:
        body = {"content": text, "add_special": add_special, "parse_special": True}
        return ids_of(part_of(self._client.ask("/tokenize", body), "tokens"), self.label)

    def decode(self, ids: Sequence[int]) -> str:
        """Decode ids with `/detokenize`."""
        body = {"tokens": list(ids)}
        return self._text("/detokenize", body, "content", "turn tokens into text")

    def encode_chat(self, messages: Sequence[dict[str, str]], opened: bool) -> list[int]:
        """Encode a conversation that `/apply-template` renders."""
        body = {"messages": list(messages), "add_generation_prompt": opened}
        text = self._text("/apply-template", body, "prompt", "write a conversation")
        return self._ids(text, add_special=False)

    def vocabulary(self, count: int) -> list[bytes | None]:
        """Return each token's bytes, from a list of all candidates; empty for control tokens."""
        tops = self._tops(self._complete([[1]], count)[0])
        try:
            tokens = {part_of(top, "id"): part_of(top, "bytes") for top in tops}
            return [bytes(tokens[token_id]) for token_id in range(count)]
        except (KeyError, TypeError, ValueError):
            raise ModelError(
                Message(
                    "The server of {label} doesn't say what its tokens are; name a "
                    "tokenizer: ?tokenizer=FOLDER before the # of the address.",
                    label=self.label,
                )
            ) from None


def _said(tops: Sequence[Any]) -> Said:
    return Said([part_of(top, "id") for top in tops], [part_of(top, "logprob") for top in tops])
