"""Runs of a scripted model, for tests of what is drawn from a trace."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import Literal

from core import collect
from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.config import DrawMethod, MethodConfig
from core.decoding.record.steps import StepSeconds
from core.decoding.record.trace import Timings, Trace
from core.decoding.shaping.config import Shaping
from core.models.scripted import ScriptedModel

VOCAB = 512
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<b>x</b>",
    "🙂",
    "日本語",
    "\n",
    "<E2><98>",
    " a very long token of a web address/path",
    "$x^2$",
    "\u202eevil",
    "",
    '"><script>alert(1)</script>',
    "한국어",
    "%{meta.caption}",
)
WORDS = (
    " the, a, was, and, he, she,., to, of, little, big, boat, river, sea, tree, house, very, said,"
    " went, saw, day, sun, wind, They, It, One, named, who, lived, in, on, with, happy, sad, old,"
    " small, red, blue, green, dog, cat, fox,!,?,ing,ed,er, un, for, her, his, that, at, from, one"
).split(",")


def token_text(token_id: int, hostile: bool = False) -> str:
    """The text of a synthetic token."""
    if hostile and token_id < len(HOSTILE):
        return HOSTILE[token_id]
    return WORDS[token_id] if token_id < len(WORDS) else f" w{token_id}"


def _logits(rng: random.Random) -> list[float]:
    """Return random logits: the first tokens are the likeliest, some by far."""
    values = sorted((rng.gauss(0, 1.4) - 2.2 for _ in range(VOCAB)), reverse=True)
    first, peak = list(range(60)), rng.choice((1.0, 2.5, 5.0, 9.0))
    rng.shuffle(first)
    order = (*first, *range(60, VOCAB))
    peaks = (peak * max(0.0, 1 - place / 6) for place in range(VOCAB))
    logits = dict(zip(order, map(sum, zip(values, peaks, strict=True)), strict=True))
    return [logits[token] for token in range(VOCAB)]


@cache
def make_trace(
    steps: int = 12,
    method: Literal["sampling", "greedy"] = "sampling",
    hostile: bool = False,
    *,
    shaping: Shaping | None = None,
    draw: DrawMethod = "inverse_cdf",
    seed: int = 7,
    prompt_tokens: int = 9,
    top_candidates: int = 20,
    use_cache: bool = True,
    model_id: str = "embedded:target",
) -> Trace:
    """A run of so many steps over a vocabulary of 512."""
    shaping = shaping or Shaping(temperature=0.8, top_p=0.9)
    shared = {"max_new_tokens": steps, "shaping": shaping, "use_cache": use_cache}
    shared["top_candidates"] = top_candidates
    config: MethodConfig = (
        Greedy(**shared) if method == "greedy" else Sampling(seed=seed, draw=draw, **shared)
    )
    rng = random.Random(seed)
    prompt = [at if hostile else rng.randrange(55) for at in range(prompt_tokens)]

    def row(ids: tuple[int, ...]) -> list[float]:
        dice = random.Random(f"{seed} {len(ids)} {ids[-1]}")
        logits = _logits(dice)
        # The model guesses many of the prompt's tokens.
        if len(ids) < prompt_tokens and dice.random() < 0.6:
            logits[prompt[len(ids)]] = max(logits) + dice.choice((-2.0, 0.5, 2.0))
        return logits

    tokens = [token_text(token, hostile) for token in range(VOCAB)]
    model = ScriptedModel(row, tokens=tokens, given="logits", eos=None, model_id=model_id)
    return _timed(collect(model, prompt, config))


def _timed(run: Trace) -> Trace:
    """The run with times that are the same on every machine; without a cache steps grow longer."""
    growth = 0.0 if run.config.use_cache else 0.0004
    steps = [
        replace(step, seconds=StepSeconds(bool(at) * (0.004 + growth * at), 0.0003, 0.0001))
        for at, step in enumerate(run.token_steps)
    ]
    decode = 1.04 * sum(step.seconds.total for step in steps)
    prompt = replace(run.prompt_step, seconds=0.0123)
    timings = Timings(0.0123, decode, 0.0123 + decode)
    return replace(run, steps=(prompt, *steps), timings=timings)
