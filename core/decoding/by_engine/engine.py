"""Run of a model's server: the tokens that it drew, and their log-probabilities."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple, TypeAlias

from ...language import Message
from ..config import Ended
from ..errors import ConfigError, LostModelError
from ..loop.recording import least_entropy_of
from ..loop.run import token_limit
from ..loop.text import Ending
from ..protocol import LanguageModel
from ..record.steps import Candidate, Draw, Stage, Step, StepSeconds, TokenStep
from .config import ByEngine


class ServerToken(NamedTuple):
    """A token from a server, with log-probabilities by token id, its own included."""

    token_id: int
    logprobs: Mapping[int, float]


# `sample` of a model on a server yields its tokens as they arrive, at most the given number.
ServerSampler: TypeAlias = Callable[[Sequence[int], ByEngine, int], Iterator[ServerToken]]


def generate(model: LanguageModel, prompt_ids: Sequence[int], config: ByEngine) -> Iterator[Step]:
    """Yield a step for each token of the server; positions of the prompt aren't recorded.

    Raises:
        ConfigError: the model isn't on a server, or the server lacks a setting.
        LostModelError: the server fails, or ends for an unknown reason.
    """
    # isinstance would miss a wrapped model.
    sample: ServerSampler | None = getattr(model, "sample", None)
    if sample is None:
        raise ConfigError(
            Message(
                "{model} runs here, and by the engine means a model on a server (vLLM, "
                "llama.cpp): take sampling.",
                model=model.model_id,
            )
        )
    limit = token_limit(model, prompt_ids, config)
    ending, reason = Ending(model, config, limit), None
    started = perf_counter()
    tokens = sample(prompt_ids, config, limit)
    for index, token in enumerate(tokens):
        seconds = perf_counter() - started
        text, reason = ending.after(index, token.token_id)
        yield _step(model, token, index, seconds, text, reason, config.top_candidates)
        if reason == "stop":
            return  # Closing the connection stops a server without stop strings.
        if reason:
            deque(tokens, maxlen=0)  # Events after the last token.
            return
        started = perf_counter()
    if not reason:
        raise LostModelError(
            Message(
                "The server of {model} ended the run before its length, and with no "
                "end that its tokenizer knows.",
                model=model.model_id,
            )
        )


def _step(
    model: LanguageModel,
    token: ServerToken,
    index: int,
    seconds: float,
    text: str,
    reason: Ended | None,
    count: int,
) -> TokenStep:
    """Return the recorded step; an unnamed token gets the next rank, its best possible one."""
    ordered = sorted(token.logprobs.items(), key=lambda pair: (-pair[1], pair[0]))
    listed = ordered[:count]
    if token.token_id not in dict(listed):
        listed.append((token.token_id, token.logprobs[token.token_id]))
    probs = tuple(math.exp(value) for _, value in listed)
    # No later token is likelier than the tokens named before it.
    least = probs[min(count, len(probs)) - 1]
    tail = min(max(0.0, 1 - math.fsum(probs)), (model.vocab_size - len(probs)) * least)
    shares = tuple(float(token_id == token.token_id) for token_id, _ in listed)
    prob_before = probs[shares.index(1.0)]
    return TokenStep(
        index=index,
        token_id=token.token_id,
        text=text,
        candidates=tuple(
            Candidate(
                candidate_id,
                model.token_text(candidate_id),
                rank,
                value,
                prob,
                is_own,
                None if is_own else "server",
            )
            for rank, ((candidate_id, value), prob, is_own) in enumerate(
                zip(listed, probs, shares, strict=True), start=1
            )
        ),
        entropy=max(0.0, least_entropy_of(probs, tail, least)),
        tail_mass=tail,
        surprisal=-token.logprobs[token.token_id],
        origin="server",
        phase="answer",
        draw=Draw("server"),
        stages=(
            Stage("raw", probs, tail, model.vocab_size, 0.0),
            Stage("server", shares, 0.0, 1, 1 - prob_before),
            Stage("final", shares, 0.0, 1, 0.0),
        ),
        seconds=StepSeconds(seconds, 0.0, 0.0),
        finish_reason=reason,
    )
