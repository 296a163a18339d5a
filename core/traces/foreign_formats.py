"""Table of the formats in which other tools store tokens with log-probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """A format of another tool.

    Args:
        name: for the reader.
        ask: what to ask that tool for, so that its answer has log-probabilities.
        lacks: one sentence on what such an answer doesn't tell.
        matches: returns whether an object of the answer is of this format.
        likeliest: whether the named tokens are the most probable ones.
    """

    name: str
    ask: str
    lacks: str
    matches: Callable[[JsonObject], bool]
    likeliest: bool = True


def _has(*keys: str) -> Callable[[JsonObject], bool]:
    return lambda body: all(key in body for key in keys)


def _is_vllm(body: JsonObject) -> bool:
    outputs = body.get("outputs")
    first = outputs[0] if isinstance(outputs, list) and outputs else None
    return isinstance(first, Mapping) and "token_ids" in first


def _is_chat(body: JsonObject) -> bool:
    choices = body.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, Mapping)
        and ("message" in choice or "delta" in choice or "content" in (_logprobs(choice)))
        for choice in choices
    )


def _logprobs(choice: JsonObject) -> JsonObject:
    value = choice.get("logprobs")
    return value if isinstance(value, Mapping) else {}


def _is_response(body: JsonObject) -> bool:
    return "output" in body or str(body.get("type")).startswith("response.")


_SETTINGS = "the settings, the seed and the draws"
_OF_TEXTS = f"It names tokens by their text, without ids; it lacks {_SETTINGS}."
# The first that matches is taken; Ollama's objects have the fewest own keys, so they come last.
FORMATS: tuple[ForeignFormat, ...] = (
    ForeignFormat(
        "vLLM's RequestOutput",
        "SamplingParams(logprobs=5)",
        f"It lacks the model's name, {_SETTINGS}.",
        _is_vllm,
    ),
    ForeignFormat(
        "a samples file of lm-evaluation-harness",
        "--log_samples, with a task of log-likelihoods",
        "It has the log-likelihood of each whole choice, and nothing of the tokens in it; ranks "
        "are among the choices.",
        _has("doc_id", "resps"),
        likeliest=False,
    ),
    ForeignFormat(
        "SGLang's /generate",
        "return_logprob, top_logprobs_num and return_text_in_logprobs",
        f"It lacks the model's name, {_SETTINGS}.",
        _has("meta_info"),
    ),
    ForeignFormat(
        "llama.cpp's /completion",
        "n_probs",
        "It lacks the prompt's tokens and the draws; its probabilities are the model's own unless "
        "post_sampling_probs was asked for.",
        lambda body: "completion_probabilities" in body or ("content" in body and "stop" in body),
    ),
    ForeignFormat("chat completions", "logprobs and top_logprobs", _OF_TEXTS, _is_chat),
    ForeignFormat("completions", "logprobs", _OF_TEXTS, _has("choices")),
    ForeignFormat(
        "responses",
        "include=message.output_text.logprobs and top_logprobs",
        _OF_TEXTS,
        _is_response,
    ),
    ForeignFormat(
        "Ollama's native answer",
        "logprobs and top_logprobs (Ollama 0.12.11 or newer)",
        _OF_TEXTS,
        lambda body: "logprobs" in body or ("done" in body and "model" in body),
    ),
)


def format_of(bodies: Sequence[JsonObject]) -> ForeignFormat | None:
    """Return the format of an answer's objects; None for an unknown one."""
    return next((each for each in FORMATS if any(map(each.matches, bodies))), None)
