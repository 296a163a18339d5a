"""Connect to a server and test its tokenizer and its log-probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ...decoding.errors import LostModelError, ModelError
from ...language import N_, Message
from ..reporting import current_report
from ..stopping import raise_if_stopped, stoppable
from .address import Address, read_address
from .completions import CompletionsEngine
from .engine import Bias, Engine, Facts, Prompts
from .http import PATIENCE, Client, Patience, RefusedError
from .llamacpp import LlamaCppEngine
from .model import RemoteModel
from .rows import SUM_TOLERANCE, full_row, known_row, named_row
from .tokens import SAMPLES, LocalTokens, ServerTokens, Tokens

# Longest test text (tokens), step between its prefixes, and likeliest tokens compared; OpenAI's
# completions name 5.
_LONGEST, _EVERY, _COMPARED = 48, 4, 5
# Largest difference between answers to requests of different batch shape, per unit of
# log-probability, for each number type: a third of the tolerance in `checks.model_checks`.
_APART = {"float32": 4e-6, "float16": 2.6e-3}
# Many bfloat16 logits are equal; hardly any float32 logits are.
_DISTINCT = 0.7
# Very small probabilities have a larger relative difference.
_FAINT_NATS = -20.0
_ADVICE = {
    "llamacpp": N_("start llama.cpp without speculation, which makes it report 0"),
    "vllm": N_("start vLLM with --logprobs-mode raw_logprobs"),
    "openai": N_("check the server"),
}


def connect(
    where: str, should_stop: Callable[[], bool], patience: Patience = PATIENCE
) -> RemoteModel:
    """Return the model at an address such as `vllm:http://localhost:8000#model`.

    Raises:
        ModelError: the address is invalid, or the server can't be reached or lacks a feature.
        LoadingStoppedError: `should_stop` returned true.
    """
    address, tell = read_address(where), current_report()
    client = Client(address, where, patience)
    kind = LlamaCppEngine if address.kind == "llamacpp" else CompletionsEngine
    engine: Engine = kind(address, client)
    with stoppable(should_stop):
        tell(N_("Asking the server"))
        facts = engine.connect()
        raise_if_stopped(should_stop)
        tell(N_("Reading its tokens"))
        tokens, vocab_size = _tokens(address, engine, facts, should_stop)
        raise_if_stopped(should_stop)
        tell(N_("Trying its numbers"))
        return _tried(address, engine, client, tokens, facts, vocab_size)


def _tokens(
    address: Address, engine: Engine, facts: Facts, should_stop: Callable[[], bool]
) -> tuple[Tokens, int]:
    """Return the tokenizer and the vocabulary size."""
    if address.tokenizer:
        tokens = LocalTokens(address.tokenizer, should_stop)
        vocab_size = facts.vocab_size or len(tokens.tokenizer)
        _compare(tokens, engine, vocab_size, address.tokenizer)
        return tokens, vocab_size
    if facts.vocab_size is None:
        advice = ""
        if address.kind == "vllm":
            advice = Message(", or start vLLM with {options}", options="--max-logprobs -1")
        raise ModelError(
            Message(
                "The server of {label} names {most} tokens of each step and not its "
                "vocabulary; name a tokenizer: ?tokenizer=FOLDER before the # of the "
                "address{advice}.",
                label=engine.label,
                most=facts.most,
                advice=advice,
            )
        )
    return ServerTokens(engine, facts.vocab_size), facts.vocab_size


def _compare(tokens: LocalTokens, engine: Engine, vocab_size: int, name: str) -> None:
    """Check that the local tokenizer encodes the samples as the server does.

    Raises:
        ModelError: the encodings differ, or the tokenizer has more tokens than the model.
    """
    pairs = []
    for text in SAMPLES:
        try:
            pairs.append((text, tokens.encode(text), engine.encode(text)))
        except LostModelError:
            break  # The server has no tokenizer endpoint.
    for text, local, remote in pairs:
        if local != remote:
            raise ModelError(
                Message(
                    "The tokenizer {name} isn't that of {label}: of {text!r} it makes "
                    "{local}, the server {remote}; name the model's own.",
                    name=name,
                    label=engine.label,
                    text=text,
                    local=local[:6],
                    remote=remote[:6],
                )
            )
    if len(tokens.tokenizer) > vocab_size:
        raise ModelError(
            Message(
                "The tokenizer {name} has {tokenizer} tokens, more than the "
                "{vocab_size} of {label}; name the model's own.",
                name=name,
                tokenizer=len(tokens.tokenizer),
                vocab_size=vocab_size,
                label=engine.label,
            )
        )


def _tried(
    address: Address,
    engine: Engine,
    client: Client,
    tokens: Tokens,
    facts: Facts,
    vocab_size: int,
) -> RemoteModel:
    """Return the model, after test requests have determined the kind of its numbers."""
    ids = tokens.encode(SAMPLES[0])[:8]
    alone = _row(engine, [ids], facts, vocab_size)[0]
    longest = tokens.encode(" ".join(SAMPLES))[:_LONGEST]
    # vLLM's `--logprobs-mode raw_logits`: the sum of probabilities isn't 1; most numbers differ.
    improbable = abs(float(alone.double().logsumexp(-1))) > 10 * SUM_TOLERANCE
    many = improbable and _distinct(alone) > len(alone) // 10
    model = RemoteModel(
        engine,
        client,
        tokens,
        facts,
        vocab_size,
        gives_logits=address.kind == "vllm" and not facts.most and many,
        processed=_is_processed(engine, ids, alone, facts),
        dtype=_dtype(alone, *_twice(engine, longest, vocab_size)),
        advice=_ADVICE[address.kind],
    )
    model.start(ids)
    return model


def _row(
    engine: Engine, prompts: Prompts, facts: Facts, vocab_size: int, bias: Bias = None
) -> Tensor:
    answers = engine.next_tokens(prompts, facts.most or vocab_size, bias)
    read = known_row if facts.most else full_row
    return torch.stack([read(answer, vocab_size, engine.label) for answer in answers])


def _distinct(row: Tensor) -> int:
    return len(set(row.tolist()))


def _is_processed(engine: Engine, ids: list[int], row: Tensor, facts: Facts) -> bool:
    """Return True if a bias changes the numbers (vLLM's `--logprobs-mode processed_...`)."""
    top = int(row.nan_to_num(nan=-math.inf).argmax())
    try:
        biased = _row(engine, [ids], facts, len(row), {top: -20.0})[0]
    except RefusedError:
        return False  # vLLM takes no bias while it speculates; its default is raw.
    return not abs(float(biased[top] - row[top])) <= 1.0  # The biased token may be missing (NaN).


def _twice(engine: Engine, ids: list[int], vocab_size: int) -> tuple[Tensor, Tensor]:
    """Return the likeliest tokens after several prefixes as two tensors `[n, vocab]`, else NaN.

    The first tensor is from separate requests, the second from one request in another batch shape.
    """
    prompts = [ids[:n] for n in range(_EVERY, len(ids), _EVERY)] or [ids]
    apart = [engine.next_tokens([ids], _COMPARED)[0] for ids in reversed(prompts)][::-1]
    together = engine.next_tokens(prompts, _COMPARED)
    rows = [named_row(answer, vocab_size, engine.label) for answer in (*apart, *together)]
    return torch.stack(rows[: len(prompts)]), torch.stack(rows[len(prompts) :])


def _dtype(row: Tensor, apart: Tensor, together: Tensor) -> str:
    """Guess the number type from the share of equal numbers and the difference of two answers.

    A server may compute in float32 and store the results in float16 (llama.cpp's cache).
    """
    named = row[~row.isnan()]
    if _distinct(named) / len(named) < _DISTINCT:
        return "bfloat16"
    plain = (apart > _FAINT_NATS) & (together > _FAINT_NATS)
    gaps = (apart - together).abs().where(plain, 0.0).amax(dim=-1)
    largest = apart.abs().nan_to_num(0.0, posinf=0.0).amax(dim=-1).clamp_(min=1.0)
    worst = float((gaps / largest).max())
    return next((name for name, most in _APART.items() if worst <= most), "bfloat16")
