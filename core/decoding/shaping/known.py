"""Shaping for a server that names only the likeliest tokens; the others form a tail of known mass.

In the model's row unnamed tokens are NaN. The named tokens are shaped twice: once with the mass of
the tail on the fewest tokens that can hold it, once on the most. If the two results differ, the
result is unknown and an error is raised; nothing is guessed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from ...language import N_, Message
from ..counting import listed
from ..errors import DecodingError, UnknownTokensError
from .config import BANS, CONTRASTS, SETTINGS, WARPERS, WATERMARKS
from .long_rows import first_maximum
from .stages import (
    NO_DISTRIBUTION,
    Distribution,
    Processor,
    raw_distribution,
    shape,
)

# Rounding tolerance for a tail heavier than its tokens allow.
_MASS_ERROR = 1e-4


def known_distribution(row: Tensor) -> Distribution:
    """Return the named tokens of `[vocab]` log-probabilities (NaN for others), and the tail's mass.

    Raises:
        DecodingError: the tail has more mass than tokens below the named ones can have.
    """
    unnamed = row.isnan()
    logits = row.masked_fill(unnamed, -math.inf)
    probs = logits.exp()
    most = int(unnamed.sum()) * math.exp(_ceiling(row))
    tail = max(0.0, 1 - float(probs.double().sum()))
    if tail > most + _MASS_ERROR:
        raise DecodingError(NO_DISTRIBUTION)
    return Distribution("raw", None, logits, probs, 0.0, len(row), tail=min(tail, most))


def _ceiling(row: Tensor) -> float:
    """Return the highest log-probability that a token of the tail can have."""
    named = row[~row.isnan()]
    if not len(named):
        raise DecodingError(NO_DISTRIBUTION)
    return float(named.min())


def shape_known(row: Tensor, processors: Sequence[Processor]) -> list[Distribution]:
    """Apply `shape` to a row with unnamed tokens; every distribution holds only named tokens.

    After a temperature the tail's mass is unknown: its upper bound is given, and the last
    distribution isn't `exact`.

    Args:
        row: `[vocab]` log-probabilities; NaN for unnamed tokens.
        processors: temperature and filters last, if something is drawn.

    Raises:
        UnknownTokensError: the result depends on unnamed tokens; the message names the stage.
    """
    refuse = partial(_refuse, int((~row.isnan()).sum()))
    if favouring := [p for p in processors if p.name in (*WATERMARKS, *CONTRASTS)]:
        refuse(Message("the {names} favours tokens", names=_names(favouring)), switch_off=favouring)
    stages, unnamed, ceiling = [known_distribution(row)], row.isnan(), _ceiling(row)
    if not stages[0].tail:
        return shape(stages[0], processors)
    warpers = [processor for processor in processors if processor.name in WARPERS]
    penalties = processors[: len(processors) - len(warpers)]
    least = stages[0].tail
    for processor in penalties:
        stage, lost = _penalised(stages[-1], processor, unnamed, ceiling, stages[0].tail)
        if math.isnan(lost):
            what = Message("the {names} raises a token", names=_names([processor]))
            refuse(what, switch_off=[processor])
        least = max(0.0, least - lost)
        stages.append(stage)
    last = stages[-1]
    if not warpers:
        best = float(last.logits[first_maximum(last.logits)])
        if best < ceiling or (penalties and best == ceiling):
            what = Message(
                "after the {names} the likeliest token may be one", names=_names(penalties)
            )
            refuse(what, switch_off=penalties)
        return [*stages[:-1], replace(last, exact=least == stages[0].tail)]
    for warper in warpers:
        if SETTINGS[warper.name].reads_each:
            refuse(
                Message("the effect of {names} depends on each", names=_names([warper])),
                switch_off=[warper],
            )
    masses = sorted({least, stages[0].tail}, reverse=True)
    rows = [r for mass in masses for r in _completed(last.logits, unnamed, mass, ceiling)]
    runs = [shape(raw_distribution(completed), warpers) for completed in rows]
    _see_equal_cuts(runs, unnamed, refuse)
    heaviest = max(runs, key=lambda run: float(run[1].probs[_places(run[1], unnamed)].sum()))
    stages += [_named(stage, unnamed, last.kept) for stage in heaviest[1:]]
    return [*stages[:-1], replace(stages[-1], exact=not stages[-1].tail)]


def require_drawable(stage: Distribution, method: str, noise: Tensor) -> None:
    """Raise an error unless a draw falls on a named token.

    Args:
        noise: noise from `draws.draw_noise`.

    Raises:
        UnknownTokensError: the draw falls on an unnamed token, or may fall on one.
    """
    if not stage.tail:
        return
    named = int((stage.logits > -math.inf).sum())
    if not stage.exact:
        _refuse(named, N_("the temperature changes the mass of those"), setting="temperature")
    if method != "inverse_cdf":
        _refuse(named, Message("the draw by {method} may take one", method=method))
    if float(noise) >= float(stage.probs.double().sum()):
        what = Message("the number {number:.4f} of the draw falls on one", number=float(noise))
        _refuse(named, what)


def _refuse(
    named: int, what: str, switch_off: Sequence[Processor] = (), setting: str = "top_k"
) -> None:
    """Raise an error that the result depends on unnamed tokens.

    Args:
        switch_off: processors to switch off, named if no top-k would help.
    """
    advice = Message("take greedy")
    if named > 1:
        advice = Message("set top-k to {count} or less", count=named - 1)
    if switch_off:
        advice = Message("switch {names} off", names=_names(switch_off))
        setting = switch_off[0][0]
    raise UnknownTokensError(
        Message(
            "The server names {named} tokens of this step, and {what} that it doesn't "
            "name: {advice}, or take a server that gives the whole vocabulary (vLLM: "
            "--max-logprobs -1).",
            named=named,
            what=Message(what),
            advice=advice,
        ),
        setting,
    )


def _names(processors: Sequence[Processor]) -> Message:
    names = (SETTINGS[name].name if name in SETTINGS else name for name, *_ in processors)
    return listed(names, N_("{one} and {other}"))


def _penalised(
    before: Distribution, processor: Processor, unnamed: Tensor, ceiling: float, tail: float
) -> tuple[Distribution, float]:
    """Return the stage after a penalty or ban, and the tail mass that it may have removed.

    The mass is NaN if a token of the tail may now exceed its former bound.
    """
    name, act, arguments = processor
    after = act(before.logits.masked_fill(unnamed, ceiling), *arguments)
    moved = after[unnamed]
    lost = float((moved < ceiling).sum()) * math.exp(ceiling)
    if bool((moved > ceiling).any()):
        lost = math.nan
    logits = after.masked_fill(unnamed, -math.inf)
    log_norm = math.log(float(logits.double().exp().sum()) + tail)
    probs = (logits - log_norm).exp()
    kept, removed = before.kept, 0.0
    if name in BANS:
        gone = (before.logits > -math.inf) & (logits == -math.inf)
        kept -= int(gone.sum()) + int((moved == -math.inf).sum())
        removed = float(before.probs[gone].sum())
    share = math.exp(-log_norm) * tail
    return Distribution(name, None, logits, probs, log_norm, kept, removed, share), lost


def _completed(logits: Tensor, unnamed: Tensor, mass: float, ceiling: float) -> Iterator[Tensor]:
    """Yield the row completed by a tail of some mass: with as few tokens as possible, and with as
    many.
    """
    places = unnamed.nonzero().squeeze(-1)
    if not mass:
        yield logits
        return
    full = min(len(places), int(mass / math.exp(ceiling)))
    few = logits.clone()
    few[places[:full]] = ceiling
    left = mass - full * math.exp(ceiling)
    if left > 0 and full < len(places):
        few[places[full]] = math.log(left)
    yield few
    yield logits.masked_fill(unnamed, min(ceiling, math.log(mass / len(places))))


def _places(stage: Distribution, unnamed: Tensor) -> Tensor:
    """Return a mask of the positions in a distribution that hold unnamed tokens."""
    return unnamed if stage.ids is None else unnamed[stage.ids]


def _see_equal_cuts(
    runs: Sequence[Sequence[Distribution]], unnamed: Tensor, refuse: partial[None]
) -> None:
    """Require that a filter keeps the same named tokens under every tail, and the whole tail or
    none of it.
    """
    for at in range(1, len(runs[0])):
        after = [_alive(run[at], unnamed) for run in runs]
        before = [_alive(run[at - 1], unnamed) for run in runs]
        named = [alive & ~unnamed for alive in after]
        same = all(bool((alive == named[0]).all()) for alive in named)
        none = not any(bool((alive & unnamed).any()) for alive in after)
        untouched = all(bool((new == old).all()) for new, old in zip(after, before, strict=True))
        if not (same and (none or untouched)):
            name = Message(SETTINGS[runs[0][at].name].name)
            refuse(Message("the cut of {name} may fall among those", name=name))


def _alive(stage: Distribution, unnamed: Tensor) -> Tensor:
    alive = torch.zeros_like(unnamed)
    if stage.ids is None:
        return stage.logits > -math.inf
    alive[stage.ids] = stage.logits > -math.inf
    return alive


def _named(stage: Distribution, unnamed: Tensor, everything: int) -> Distribution:
    """Return a stage without the tokens that stand for those that the server did not name."""
    places = _places(stage, unnamed)
    tail = float(stage.probs[places].sum())
    if not tail:
        return stage
    if stage.ids is None:
        logits = stage.logits.masked_fill(places, -math.inf)
        probs = stage.probs.masked_fill(places, 0.0)
        return replace(stage, logits=logits, probs=probs, kept=everything, tail=tail)
    ids, logits, probs = (part[~places] for part in (stage.ids, stage.logits, stage.probs))
    return replace(stage, ids=ids, logits=logits, probs=probs, kept=everything, tail=tail)
