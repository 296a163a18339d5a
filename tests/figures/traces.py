"""Synthetic traces with honest arithmetic, for tests of what is drawn from a trace."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.config import DrawMethod, MethodConfig
from core.decoding.shaping.config import Shaping
from core.decoding.trace import (
    Candidate,
    Draw,
    PromptPosition,
    PromptStep,
    Stage,
    Step,
    StepSeconds,
    Timings,
    TokenStep,
    Trace,
)

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

Weights = dict[int, float]


def token_text(token_id: int, hostile: bool = False) -> str:
    """The text of a synthetic token."""
    if hostile and token_id < len(HOSTILE):
        return HOSTILE[token_id]
    return WORDS[token_id] if token_id < len(WORDS) else f" w{token_id}"


def softmax(logits: Weights) -> Weights:
    """Probabilities of the tokens that are in."""
    highest = max(logits.values())
    exps = {token: math.exp(value - highest) for token, value in logits.items()}
    total = sum(exps.values())
    return {token: value / total for token, value in exps.items()}


@dataclass(frozen=True)
class Recipe:
    """What a synthetic run is made from."""

    config: MethodConfig
    hostile: bool
    rng: random.Random


def _logits(rng: random.Random, peak: float) -> Weights:
    values = sorted((rng.gauss(0, 1.4) - 2.2 for _ in range(VOCAB)), reverse=True)
    tokens = list(range(60))
    rng.shuffle(tokens)
    tokens += list(range(60, VOCAB))
    logits = dict(zip(tokens, values, strict=True))
    for place, token in enumerate(tokens[:6]):
        logits[token] += peak * (1 - place / 6)
    return logits


def _cut_top_k(probs: Weights, k: int) -> set[int]:
    return set(_by_prob(probs)[:k])


def _cut_top_p(probs: Weights, p: float) -> set[int]:
    kept, mass = set(), 0.0
    for token in _by_prob(probs):
        if mass >= p and kept:
            break
        kept.add(token)
        mass += probs[token]
    return kept


def _by_prob(probs: Weights) -> list[int]:
    return sorted(probs, key=lambda token: (-probs[token], token))


def _distributions(logits: Weights, config: MethodConfig) -> list[tuple[str, Weights, float]]:
    """Name, probabilities and removed mass of every stage, `raw` first, `final` not yet."""
    shaping = config.shaping
    stages = [("raw", softmax(logits), 0.0)]
    if isinstance(config, Greedy):
        best = _by_prob(stages[0][1])[0]
        return [*stages, ("argmax", {best: 1.0}, 1 - stages[0][1][best])]
    if shaping.temperature not in (0, 1):
        logits = {token: value / shaping.temperature for token, value in logits.items()}
        stages.append(("temperature", softmax(logits), 0.0))
    for name, active in (("top_k", shaping.top_k > 0), ("top_p", shaping.top_p < 1)):
        if not active:
            continue
        probs = stages[-1][1]
        kept = (
            _cut_top_k(probs, shaping.top_k)
            if name == "top_k"
            else _cut_top_p(probs, shaping.top_p)
        )
        mass = sum(probs[token] for token in kept)
        stages.append((name, {token: probs[token] / mass for token in kept}, 1 - mass))
    return stages


def _draw(probs: Weights, config: MethodConfig, rng: random.Random) -> tuple[int, Draw, Weights]:
    """The token, its record without scores, and the scores of all tokens."""
    if not isinstance(config, Sampling):
        return _by_prob(probs)[0], Draw("argmax"), {}
    if config.draw == "inverse_cdf":
        uniform, low = rng.random(), 0.0
        for token in _by_prob(probs):
            if low + probs[token] > uniform:
                break
            low += probs[token]
        return token, Draw("inverse_cdf", uniform, (low, low + probs[token])), {}
    noise = {token: -math.log(-math.log(rng.random())) for token in sorted(probs)}
    scores = {token: math.log(probs[token]) + noise[token] for token in probs}
    return max(scores, key=scores.__getitem__), Draw(config.draw), scores


def _token_step(index: int, recipe: Recipe, last: bool) -> TokenStep:
    rng, config = recipe.rng, recipe.config
    logits = _logits(rng, peak=rng.choice((1.0, 2.5, 5.0, 9.0)))
    stages = _distributions(logits, config)
    raw, final = stages[0][1], stages[-1][1]
    chosen, draw, scores = _draw(final, config, rng)
    order = _by_prob(raw)
    shown = order[: config.top_candidates]
    shown += [] if chosen in shown else [chosen]
    records = [
        Stage(
            name,
            tuple(probs.get(token, 0.0) for token in shown),
            max(0.0, 1 - sum(probs.get(token, 0.0) for token in shown)),
            len(probs),
            removed,
        )
        for name, probs, removed in [*stages, ("final", final, 0.0)]
    ]
    if scores:
        draw = draw._replace(scores=tuple(scores.get(token) for token in shown))
    candidates = tuple(
        Candidate(
            token,
            token_text(token, recipe.hostile),
            order.index(token) + 1,
            logits[token],
            raw[token],
            final.get(token, 0.0),
            next((name for name, probs, _ in stages if token not in probs), None),
        )
        for token in shown
    )
    growth = 0.0 if config.use_cache else 0.0004 * (index + 8)
    forward = 0.0 if index == 0 else 0.004 + growth + rng.random() * 0.0006
    return TokenStep(
        index=index,
        token_id=chosen,
        candidates=candidates,
        entropy=-sum(p * math.log(p) for p in raw.values()),
        tail_mass=records[0].tail_mass,
        surprisal=-math.log(raw[chosen]),
        origin="sampled" if isinstance(config, Sampling) else "argmax",
        phase="answer",
        draw=draw,
        stages=tuple(records),
        text=token_text(chosen, recipe.hostile),
        seconds=StepSeconds(forward, 0.0003 + rng.random() * 0.0001, 0.0001),
        finish_reason="length" if last else None,
    )


def _prompt_step(ids: Sequence[int], recipe: Recipe) -> PromptStep:
    positions = []
    for index, token in enumerate(ids):
        following = ids[index + 1] if index + 1 < len(ids) else None
        logits = _logits(recipe.rng, peak=recipe.rng.choice((1.0, 4.0, 8.0)))
        if following is not None and recipe.rng.random() < 0.6:
            logits[following] = max(logits.values()) + recipe.rng.choice((-2.0, 0.5, 2.0))
        probs = softmax(logits)
        order = _by_prob(probs)
        candidates = tuple(
            Candidate(
                candidate,
                token_text(candidate, recipe.hostile),
                rank,
                logits[candidate],
                probs[candidate],
                probs[candidate],
            )
            for rank, candidate in enumerate(order[:5], start=1)
        )
        positions.append(
            PromptPosition(
                index=index,
                token_id=token,
                text=token_text(token, recipe.hostile),
                entropy=-sum(p * math.log(p) for p in probs.values()),
                candidates=candidates,
                next_token_id=following,
                next_prob=None if following is None else probs[following],
                next_rank=None if following is None else order.index(following) + 1,
            )
        )
    return PromptStep(positions=tuple(positions), seconds=0.0123)


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
    """A run of so many steps over a vocabulary of 512, probabilities summing to one."""
    shaping = shaping or Shaping(temperature=0.8, top_p=0.9)
    shared = {"max_new_tokens": max(steps, 1), "shaping": shaping, "use_cache": use_cache}
    shared["top_candidates"] = top_candidates
    config: MethodConfig = (
        Greedy(**shared) if method == "greedy" else Sampling(seed=seed, draw=draw, **shared)
    )
    recipe = Recipe(config, hostile, random.Random(seed))
    ids = tuple(recipe.rng.randrange(55) for _ in range(prompt_tokens))
    if hostile:
        ids = tuple(range(len(HOSTILE)))[:prompt_tokens]
    run: list[Step] = [_prompt_step(ids, recipe)] if ids else []
    tokens = [_token_step(index, recipe, index + 1 == steps) for index in range(steps)]
    decode = sum(step.seconds.total for step in tokens) * 1.04
    return Trace(
        model_id=model_id,
        prompt="".join(token_text(token, hostile) for token in ids),
        prompt_ids=ids,
        config=config,
        steps=(*run, *tokens),
        token_ids=tuple(step.token_id for step in tokens),
        text="".join(step.text for step in tokens),
        finish_reason="length",
        timings=Timings(0.0123, decode, 0.0123 + decode),
    )
