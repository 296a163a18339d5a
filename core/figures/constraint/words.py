"""Sentences about the tokens that a constraint allowed at a step; plain text."""

from __future__ import annotations

import math
from dataclasses import replace

from ...decoding.beam.replay import lineage
from ...decoding.beam.types import BeamCandidate
from ...decoding.constraints.reading import ConstrainedStep, constrained_steps
from ...decoding.counting import sentences
from ...decoding.record.steps import TokenStep
from ...decoding.record.trace import Trace
from ...language import tr, trn
from ..base.labels import NBSP, nats, percent, visible_token
from ..beam.window import Node

_LN_S = f"ln{NBSP}S{NBSP}={NBSP}"


def path_of(trace: Trace, node: Node | None = None) -> tuple[BeamCandidate, ...]:
    """Return a search's best path; the path that ends in a node if that isn't on the best one.

    It is empty for a run that is no beam search.
    """
    steps = trace.beam_steps
    if not steps:
        return ()
    from ..beam.graph import beam_graph, best_path  # networkx, which a page without a search lacks

    best = [place for place in best_path(beam_graph(steps), trace) if place[0] >= 0]
    if node is not None and node not in best and node[0] < len(steps):
        return lineage(steps, node[0], steps[node[0]].candidates[node[1]])
    return tuple(steps[at].candidates[place] for at, place in best)


def allowed_words(step: ConstrainedStep, *, named: bool = True) -> str:
    """Return the number of allowed tokens, their mass, and the refused likeliest token.

    Args:
        named: whether tokens may be named, which are a stranger's text.
    """
    numbers = {
        "mass": percent(math.exp(step.log_mass)),
        "log_mass": f"{_LN_S}{nats(step.log_mass, 2)}",
    }
    if step.forced:
        allowed = tr(
            "The constraint allows one token, which is forced, with {mass} of the model's "
            "probability ({log_mass}).",
            **numbers,
        )
    else:
        allowed = trn(
            "The constraint allows {count} token with {mass} of the model's probability "
            "({log_mass}).",
            "The constraint allows {count} tokens with {mass} of the model's probability "
            "({log_mass}).",
            step.allowed,
            **numbers,
        )
    if step.wanted is None:
        return allowed
    probability = percent(step.wanted.raw_prob)
    if not named:
        refused = tr(
            "The model's likeliest token, with {probability}, isn't allowed.",
            probability=probability,
        )
    else:
        refused = tr(
            "The model's likeliest token, “{token}” with {probability}, isn't allowed.",
            token=visible_token(step.wanted.text, 24),
            probability=probability,
        )
    return tr(sentences(allowed, refused))


def constraint_place(trace: Trace, step: ConstrainedStep) -> str:
    """Return where the constraint stands before the step's token."""
    rule, place = trace.config.shaping.constraint, visible_token(step.place, 60)
    if rule is not None and rule.kind == "json":
        return tr("at {place}", place=place) if step.place else tr("at the root")
    return tr("after “{place}”", place=place) if step.place else tr("at its beginning")


def standing_words(trace: Trace, step: ConstrainedStep) -> str:
    """Return `allowed_words`, and the place of the constraint."""
    return f"{allowed_words(step)} {tr('It stands {place}.', place=constraint_place(trace, step))}"


def step_of(trace: Trace, step: TokenStep) -> ConstrainedStep | None:
    """Return a step of one sequence under the constraint, without its place; None without one."""
    return next(iter(constrained_steps(replace(trace, steps=(step,)))), None)


def share_words(trace: Trace, step: TokenStep) -> str:
    """Return the number of allowed tokens of all, and their mass; empty without a constraint."""
    found = step_of(trace, step)
    if found is None:
        return ""
    numbers = {
        "allowed": found.allowed,
        "all": step.stages[0].kept,
        "mass": f"S = {percent(math.exp(found.log_mass))}, {_LN_S}{nats(found.log_mass, 2)}",
    }
    if found.forced:
        return tr("{allowed:,} of {all:,} tokens allowed, forced: {mass}", **numbers)
    return tr("{allowed:,} of {all:,} tokens allowed: {mass}", **numbers)
