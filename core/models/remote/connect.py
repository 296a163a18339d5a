"""Connecting to a server: what it is, what it gives, and whether tokenizer and numbers fit."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from core.decoding.errors import LoadingStoppedError, LostModelError, ModelError
from core.models.remote.address import Address, read_address
from core.models.remote.completions import CompletionsEngine
from core.models.remote.engine import Bias, Engine, Facts, Prompts
from core.models.remote.http import PATIENCE, Client, Patience
from core.models.remote.llamacpp import LlamaCppEngine
from core.models.remote.model import RemoteModel
from core.models.remote.rows import SUM_TOLERANCE, full_row
from core.models.remote.tokens import SAMPLES, LocalTokens, ServerTokens, Tokens
from core.models.reporting import current_report
from core.models.stopping import stoppable

# Two requests of different shape differ by less where the server computes in float32.
_FLOAT32_NATS = 1e-3
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
    engine = _engine(address, client)
    with stoppable(should_stop):
        tell("Asking the server")
        facts = engine.connect()
        vocab_size = _require_all(address, facts, where)
        _stop(should_stop)
        tell("Reading its tokens")
        tokens = _tokens(address, engine, vocab_size, should_stop)
        _stop(should_stop)
        tell("Trying its numbers")
        return _tried(address, engine, client, tokens, facts, vocab_size)


def _engine(address: Address, client: Client) -> Engine:
    if address.kind == "llamacpp":
        return LlamaCppEngine(address, client)
    return CompletionsEngine(address, client)


def _stop(should_stop: Callable[[], bool]) -> None:
    if should_stop():
        raise LoadingStoppedError


def _require_all(address: Address, facts: Facts, where: str) -> int:
    if facts.vocab_size is None:
        advice = " Start vLLM with --max-logprobs -1." if address.kind == "vllm" else ""
        raise ModelError(
            f"The server of {where} gives {facts.most} candidates a token, and steps need the "
            f"whole vocabulary.{advice}"
        )
    return facts.vocab_size


def _tokens(
    address: Address, engine: Engine, vocab_size: int, should_stop: Callable[[], bool]
) -> Tokens:
    if not address.tokenizer:
        return ServerTokens(engine, vocab_size)
    tokens = LocalTokens(address.tokenizer, should_stop)
    _compare(tokens, engine, vocab_size, address.tokenizer)
    return tokens


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
    for text, own, other in pairs:
        if own != other:
            raise ModelError(
                f"The tokenizer {name} isn't that of {engine.label}: of {text!r} it makes "
                f"{own[:6]}, the server {other[:6]}; name the model's own."
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
    alone = _row(engine, [ids], vocab_size)[0]
    together = _row(engine, [ids, ids[:2], ids[:3]], vocab_size)[0]
    gives_logits = address.kind == "vllm" and _are_logits(alone)
    model = RemoteModel(
        engine,
        client,
        tokens,
        facts,
        vocab_size,
        gives_logits=gives_logits,
        processed=_is_processed(engine, ids, alone),
        dtype=_dtype(alone, together),
        advice=_ADVICE[address.kind],
    )
    model.start(ids)
    return model


def _row(engine: Engine, prompts: Prompts, vocab_size: int, bias: Bias = None) -> Tensor:
    said = engine.next_tokens(prompts, vocab_size, bias)
    return torch.stack([full_row(one, vocab_size, engine.label) for one in said])


def _are_logits(row: Tensor) -> bool:
    """vLLM's `--logprobs-mode raw_logits`: many numbers, which add up to no probability."""
    total = float(row.double().logsumexp(-1))
    return abs(total) > 10 * SUM_TOLERANCE and _distinct(row) > len(row) // 10


def _distinct(row: Tensor) -> int:
    return len(set(row.tolist()))


def _is_processed(engine: Engine, ids: list[int], row: Tensor) -> bool:
    """Whether a bias shows in the numbers (vLLM's `--logprobs-mode processed_...`)."""
    top = int(row.argmax())
    biased = _row(engine, [ids], len(row), {top: -20.0})[0]
    return abs(float(biased[top] - row[top])) > 1.0


def _dtype(alone: Tensor, together: Tensor) -> str:
    """What the numbers look like: how far two requests differ, and how many are equal."""
    plain = (alone > _FAINT_NATS) & (together > _FAINT_NATS)
    apart = float((alone - together)[plain].abs().max())
    distinct = _distinct(alone) / len(alone)
    return "float32" if apart <= _FLOAT32_NATS and distinct >= _DISTINCT else "bfloat16"
