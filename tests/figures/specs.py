"""Speculative runs over a small vocabulary, for tests of what is drawn from one."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache
from typing import Any

from core import Shaping, Speculative, Trace, check, collect
from core.decoding.record.steps import StepSeconds
from core.decoding.speculative.measurement.metrics import Costs, VerifyCost
from core.decoding.speculative.measurement.report import (
    Comparison,
    ExitCell,
    ExitLayer,
    ExitLayers,
    Latency,
    LengthSweep,
    Losslessness,
    SweepPoint,
    TargetRun,
    TextCount,
)
from core.decoding.speculative.types import DraftRound, RoundSeconds, SourceToken
from core.models.scripted import END, ScriptedModel
from tests.figures.traces import HOSTILE, WORDS

SWEEP = LengthSweep(
    (
        SweepPoint(1, 0.8, 0.9, 1.7, 0.7, None, 1, 40, (0.6, 0.8), (1.6, 1.8)),
        SweepPoint(4, 1.3, 1.2, 3.1, 0.6, None, 1, 25, (0.5, 0.7), (2.8, 3.4)),
    ),
    0.8,
    Costs(0.002, 0.01, (VerifyCost(1, 0.012), VerifyCost(4, 0.015))),
)
COUNTED = Losslessness(
    100,
    3,
    (TextCount((1, 2), "<b>a</b>", 60, 55), TextCount((), "others", 40, 45)),
    0.5,
    1,
    0.48,
)
_PLAIN = (END, *WORDS[:23])
_HOSTILE = (END, *(text for text in HOSTILE if text), *WORDS[:12])


def spec_model(name: str = "target", *, hostile: bool = False) -> ScriptedModel:
    """A model whose probabilities depend on the last two tokens; the draft is a noisy target."""
    tokens = _HOSTILE if hostile else _PLAIN

    def row(ids: tuple[int, ...]) -> list[float]:
        dice, own_dice = random.Random(f"{ids[-2:]}"), random.Random(f"{name} {ids[-2:]}")
        noise = 0.0 if name == "target" else 0.9
        base = [dice.gauss(-0.5, 0.5), *(dice.gauss(0, 1.6) for _ in tokens[1:])]
        return [logit + noise * own_dice.gauss(0, 1) for logit in base]

    return ScriptedModel(row, tokens=tokens, given="logits", model_id=f"embedded:{name}")


@cache
def make_spec(tokens: int = 30, *, hostile: bool = False, **settings: object) -> Trace:
    """A proved run."""
    temperature = float(settings.pop("temperature", 1.0))  # type: ignore[arg-type]
    rule: Any = settings.pop("constraint", None)
    config = Speculative(
        max_new_tokens=tokens,
        shaping=Shaping(temperature=temperature, constraint=rule),
        **{"seed": 3, **settings},  # type: ignore[arg-type]
    )
    draft = spec_model("draft", hostile=hostile) if config.source.needs_draft else None
    run = collect(spec_model(hostile=hostile), [1, 2, 3], config, draft=draft)
    return run.with_checks(tuple(check(run)))


def timed(trace: Trace, propose: float, score: float, verify: float) -> Trace:
    """The same run with rounds that took just this, seconds."""
    seconds = RoundSeconds(propose, score, verify, 0.0)
    steps = tuple(
        replace(step, seconds=seconds) if isinstance(step, DraftRound) else step
        for step in trace.steps
    )
    return replace(trace, steps=steps)


def make_comparison(spec_seconds: float, target_seconds: float) -> Comparison:
    """A comparison whose tokens took these seconds; half of a round is proposing."""
    trace = make_spec()
    emitted, rounds = len(trace.token_ids), len(trace.rounds)
    each = spec_seconds * emitted / rounds
    steps = (StepSeconds(0.0, 0.001, 0.002), StepSeconds(0.004, 0.001, 0.002))
    costs = Costs(each / 8, target_seconds, (VerifyCost(4, each / 2),))
    return Comparison(
        speculative=timed(trace, each / 2, each / 4, each / 4),
        target_only=TargetRun((4, 5), 0.1, steps),
        speculative_latency=Latency((0.1, 0.3, 0.2, 0.4)),
        target_latency=Latency((0.4,) * 4),
        speculative_token_seconds=(spec_seconds,) * 3,
        target_token_seconds=(target_seconds,) * 3,
        costs=costs,
    )


def exits_of(trace: Trace, layers: int = 4) -> ExitLayers:
    """Three exit layers of a run, each surer than the one below."""
    texts = tuple(step_text for step in trace.rounds for step_text in step.texts)
    ids = tuple(trace.token_ids)
    exits = tuple(
        ExitLayer(
            layer,
            tuple(
                ExitCell(
                    ids[at - (at + layer) % 2],
                    texts[at - (at + layer) % 2],
                    layer / layers,
                    0.2 * layer,
                )
                for at in range(len(ids))
            ),
        )
        for layer in range(1, layers)
    )
    return ExitLayers(layers, 4, ids, texts, exits)


def translated(trace: Trace) -> Trace:
    """The run as if a draft of single characters had proposed every text."""
    rounds = [
        replace(
            step,
            translation=tuple(
                SourceToken(at, character)
                for at, character in enumerate("".join(t.text for t in step.drafted)[:64])
            ),
        )
        for step in trace.rounds
    ]
    config = replace(trace.config, drafter="other_tokenizer")  # type: ignore[call-arg]
    return replace(trace, steps=(*trace.steps[: -len(rounds)], *rounds), config=config)
