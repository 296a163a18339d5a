"""Table of the formats in which other tools store tokens with log-probabilities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..language import N_

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


_NO_MODEL = N_("It lacks the model's name, the settings, the seed and the draws.")
_OF_TEXTS = N_(
    "It names tokens by their text, without ids; it lacks the settings, the seed and the draws."
)
# The first that matches is taken; Ollama's objects have the fewest own keys, so they come last.
FORMATS: tuple[ForeignFormat, ...] = (
    ForeignFormat(
        "vLLM's RequestOutput",
        "SamplingParams(logprobs=5)",
        _NO_MODEL,
        _is_vllm,
    ),
    ForeignFormat(
        N_("a samples file of lm-evaluation-harness"),
        "--log_samples, with a task of log-likelihoods",
        N_(
            "It has the log-likelihood of each whole choice, and nothing of the tokens in it; "
            "ranks are among the choices."
        ),
        _has("doc_id", "resps"),
        likeliest=False,
    ),
    ForeignFormat(
        "SGLang's /generate",
        "return_logprob, top_logprobs_num and return_text_in_logprobs",
        _NO_MODEL,
        _has("meta_info"),
    ),
    ForeignFormat(
        "llama.cpp's /completion",
        "n_probs",
        N_(
            "It lacks the prompt's tokens and the draws; its probabilities are the model's own "
            "unless post_sampling_probs was asked for."
        ),
        lambda body: "completion_probabilities" in body or ("content" in body and "stop" in body),
    ),
    ForeignFormat(N_("chat completions"), "logprobs and top_logprobs", _OF_TEXTS, _is_chat),
    ForeignFormat(N_("completions"), "logprobs", _OF_TEXTS, _has("choices")),
    ForeignFormat(
        N_("responses"),
        "include=message.output_text.logprobs and top_logprobs",
        _OF_TEXTS,
        _is_response,
    ),
    ForeignFormat(
        N_("Ollama's native answer"),
        "logprobs and top_logprobs (Ollama 0.12.11 or newer)",
        _OF_TEXTS,
        lambda body: "logprobs" in body or ("done" in body and "model" in body),
    ),
)


def format_of(bodies: Sequence[JsonObject]) -> ForeignFormat | None:
    """Return the format of an answer's objects; None for an unknown one."""
    return next((each for each in FORMATS if any(map(each.matches, bodies))), None)


_INTRODUCTION = """# Files and runs of other tools

## A run of transformers' `generate`

`RecordGenerate` is a `custom_generate` that changes nothing and leaves the run's trace (where the
wheel is installed, the name is `decoding_explorer` instead of `core`):

```python
import torch

from core import RecordGenerate, check, load_model

model = load_model("embedded:target")
recorder = RecordGenerate(model.tokenizer, model_id=model.model_id)
inputs = model.tokenizer("Once upon a time", return_tensors="pt")
torch.manual_seed(7)
model.hf_model.generate(**inputs, do_sample=True, max_new_tokens=20, custom_generate=recorder)
print(all(outcome.passed for outcome in check(recorder.trace, model)))
```

`from_generate(model, tokenizer, output, arguments, seed=7)` makes the same trace of an output with
`return_dict_in_generate=True` and `output_logits=True`. Greedy decoding, sampling, beam search and
beam sampling work, with every setting that this library has too; `output_scores=True` lets the
settings be compared with the scores. The trace equals that of `collect` with the same settings.

- Logits and tokens are those of the run; a forward of its own reads the prompt. `from_generate`
  doesn't know the times; the recorder has the time of each step, not of its parts.
- The numbers that tokens were drawn by follow from the seed, on a CPU, for a single prompt. Without
  it a note says that they are unknown, and no check compares them; beam sampling needs it.
- A logits processor of one's own, other end-of-sequence tokens than the model's, and other ways of
  generating (assisted, prompt lookup, ...) are refused with a sentence.
- transformers passes no streamer, no `assistant_model` and no tokenizer of `stop_strings` on to a
  `custom_generate`: a recorded run has none of them. Record runs with stop strings by
  `from_generate`.

## Answers with log-probabilities

`from_answer(answer)` returns the trace of another tool's answer: its JSON, or the tool's own object
(vLLM's `RequestOutput`, an answer of the clients of OpenAI and Ollama). `Trace.from_jsonl(path)`
reads many, a line each, or the chunks of a stream. Decode and Compare open such a file like a
trace; the Requests page takes its text.

A trace of an answer holds what the answer tells. Tokens that no place names are unknown, so
entropies and ranks beyond the named tokens are lower bounds, and no draw can be checked.

| format | ask for | what is missing |
|---|---|---|
"""


def document() -> str:
    """Return the page on files of other tools as Markdown."""
    rows = (f"| {each.name} | {each.ask} | {each.lacks} |\n" for each in FORMATS)
    return _INTRODUCTION + "".join(rows)


if __name__ == "__main__":
    print(document(), end="")
