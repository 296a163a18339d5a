"""Connecting to a server: what it is, what it gives, and whether tokenizer and numbers fit."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from core.decoding.errors import LostModelError, ModelError
from core.models.remote.address import Address, read_address
from core.models.remote.completions import CompletionsEngine
from core.models.remote.engine import Bias, Engine, Facts, Prompts
from core.models.remote.http import PATIENCE, Client, Patience, RefusedError
from core.models.remote.llamacpp import LlamaCppEngine
from core.models.remote.model import RemoteModel
from core.models.remote.rows import SUM_TOLERANCE, full_row, known_row, named_row
from core.models.remote.tokens import SAMPLES, LocalTokens, ServerTokens, Tokens
from core.models.reporting import current_report
from core.models.stopping import raise_if_stopped, stoppable

# The beginnings of so long a text that are compared, by so many of their likeliest tokens; OpenAI's
# completions name 5.
_LONGEST, _EVERY, _COMPARED = 48, 4, 5
# By how much, a unit of log-probability, answers to requests of different shape may differ where a
# server computes in a type: a third of what proofs allow it (`checks.model_checks`).
_APART = {"float32": 4e-6, "float16": 2.6e-3}
# Of bfloat16 logits many are equal; of float32 ones hardly any.
_DISTINCT = 0.7
# What is faint differs more, relative to itself.
_FAINT_NATS = -20.0
_ADVICE = {
    "llamacpp": "start llama.cpp without speculation, which makes it report 0",
    "vllm": "start vLLM with --logprobs-mode raw_logprobs",
    "openai": "check the server",
}


def connect(
    where: str, should_stop: Callable[[], bool], patience: Patience = PATIENCE
) -> RemoteModel:
    """The model at an address such as `vllm:http://localhost:8000#model`.

    Raises:
        ModelError: the address is none, the server can't be reached or lacks something; says what.
        LoadingStoppedError: `should_stop` said so.
    """
    address, tell = read_address(where), current_report()
    client = Client(address, where, patience)
    kind = LlamaCppEngine if address.kind == "llamacpp" else CompletionsEngine
    engine: Engine = kind(address, client)
    with stoppable(should_stop):
        tell("Asking the server")
        facts = engine.connect()
        raise_if_stopped(should_stop)
        tell("Reading its tokens")
        tokens, vocab_size = _tokens(address, engine, facts, should_stop)
        raise_if_stopped(should_stop)
        tell("Trying its numbers")
        return _tried(address, engine, client, tokens, facts, vocab_size)


def _tokens(
    address: Address, engine: Engine, facts: Facts, should_stop: Callable[[], bool]
) -> tuple[Tokens, int]:
    """The tokenizer, and how many tokens there are."""
    if address.tokenizer:
        tokens = LocalTokens(address.tokenizer, should_stop)
        vocab_size = facts.vocab_size or len(tokens.tokenizer)
        _compare(tokens, engine, vocab_size, address.tokenizer)
        return tokens, vocab_size
    if facts.vocab_size is None:
        advice = ", or start vLLM with --max-logprobs -1" if address.kind == "vllm" else ""
        raise ModelError(
            f"The server of {engine.label} names {facts.most} tokens of each step and not its "
            f"vocabulary; name a tokenizer: ?tokenizer=FOLDER before the # of the address{advice}."
        )
    return ServerTokens(engine, facts.vocab_size), facts.vocab_size


def _compare(tokens: LocalTokens, engine: Engine, vocab_size: int, name: str) -> None:
    """See that the local tokenizer reads the samples as the server does.

    Raises:
        ModelError: it doesn't, or knows tokens that the model lacks.
    """
    pairs = []
    for text in SAMPLES:
        try:
            pairs.append((text, tokens.encode(text), engine.encode(text)))
        except LostModelError:
            break  # It has no tokenizer that can be asked.
    for text, local, remote in pairs:
        if local != remote:
            raise ModelError(
                f"The tokenizer {name} isn't that of {engine.label}: of {text!r} it makes "
                f"{local[:6]}, the server {remote[:6]}; name the model's own."
            )
    if len(tokens.tokenizer) > vocab_size:
        raise ModelError(
            f"The tokenizer {name} has {len(tokens.tokenizer)} tokens, more than the "
            f"{vocab_size} of {engine.label}; name the model's own."
        )


def _tried(
    address: Address,
    engine: Engine,
    client: Client,
    tokens: Tokens,
    facts: Facts,
    vocab_size: int,
) -> RemoteModel:
    """The model, after its numbers were looked at."""
    ids = tokens.encode(SAMPLES[0])[:8]
    alone = _row(engine, [ids], facts, vocab_size)[0]
    longest = tokens.encode(" ".join(SAMPLES))[:_LONGEST]
    # vLLM's `--logprobs-mode raw_logits`: many numbers, which add up to no probability.
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
    """Return True where a bias shows in the numbers (vLLM's `--logprobs-mode processed_...`)."""
    top = int(row.nan_to_num(nan=-math.inf).argmax())
    try:
        biased = _row(engine, [ids], facts, len(row), {top: -20.0})[0]
    except RefusedError:
        return False  # vLLM takes no bias while it speculates; its standard is raw.
    return not abs(float(biased[top] - row[top])) <= 1.0  # It may not be named any more.


def _twice(engine: Engine, ids: list[int], vocab_size: int) -> tuple[Tensor, Tensor]:
    """The likeliest tokens after several beginnings, `[n, vocab]`, NaN for others.

    First each is asked for by itself, then all in one request, which is computed in another shape.
    """
    prompts = [ids[:n] for n in range(_EVERY, len(ids), _EVERY)] or [ids]
    apart = [engine.next_tokens([ids], _COMPARED)[0] for ids in reversed(prompts)][::-1]
    together = engine.next_tokens(prompts, _COMPARED)
    rows = [named_row(answer, vocab_size, engine.label) for answer in (*apart, *together)]
    return torch.stack(rows[: len(prompts)]), torch.stack(rows[len(prompts) :])


def _dtype(row: Tensor, apart: Tensor, together: Tensor) -> str:
    """Guess the number type from how many numbers are equal and how far two answers differ.

    A server may compute in float32 and hold what it computed in halves (llama.cpp's cache).
    """
    named = row[~row.isnan()]
    if _distinct(named) / len(named) < _DISTINCT:
        return "bfloat16"
    plain = (apart > _FAINT_NATS) & (together > _FAINT_NATS)
    gaps = (apart - together).abs().where(plain, 0.0).amax(dim=-1)
    largest = apart.abs().nan_to_num(0.0, posinf=0.0).amax(dim=-1).clamp_(min=1.0)
    worst = float((gaps / largest).max())
    return next((name for name, most in _APART.items() if worst <= most), "bfloat16")
