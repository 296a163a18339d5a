"""A trace whose tree was altered is refused in one sentence: when it is loaded, by its checks, or
by the models."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from core import DraftRound, Shaping, Speculative, Trace, TraceError, check, collect
from core.decoding.speculative.types import DraftToken
from core.models.transformers_model import TransformersModel
from tests.decoding.speculative.speculations import near_draft, target
from tests.depth import slow

SHARP = Shaping(temperature=0.15)
CONFIGS = {
    "static": Speculative(max_new_tokens=48, shaping=SHARP, seed=3, tree_widths="2,2"),
    "drawn": Speculative(
        max_new_tokens=48,
        shaping=SHARP,
        seed=5,
        tree_widths="2,2",
        tree_picks="without_replacement",
    ),
    "dynamic": Speculative(max_new_tokens=48, shaping=SHARP, seed=3, tree_nodes=6),
    "early exit": Speculative(
        max_new_tokens=48, shaping=SHARP, seed=3, tree_nodes=6, drafter="early_exit", exit_layer=1
    ),
    "text": Speculative(
        max_new_tokens=48,
        shaping=SHARP,
        seed=3,
        tree_nodes=6,
        drafter="prompt_lookup",
        lookup_ngram=1,
    ),
    "lookahead": Speculative(max_new_tokens=48, shaping=SHARP, seed=6, drafter="lookahead"),
}
PROMPT = [5, 9, 2, 77, 5, 11, 2, 5, 9, 2, 30, 5]
Change = Callable[[DraftRound], DraftRound]


@cache
def _target() -> TransformersModel:
    model = target("llama")
    model.eos_ids = frozenset()
    return model


@cache
def _run(name: str) -> Trace:
    draft = near_draft("llama") if CONFIGS[name].source.needs_draft else None
    return collect(_target(), PROMPT, CONFIGS[name], draft=draft)


def _with(step: DraftRound, at: int, change: Callable[[DraftToken], DraftToken]) -> DraftRound:
    tokens = list(step.drafted)
    tokens[at] = change(tokens[at])
    return replace(step, drafted=tuple(tokens))


def _other_parent(step: DraftRound) -> DraftRound:
    """The last node follows another node of its parent's level."""
    old = step.parents[-1]
    siblings = [at for at, depth in enumerate(step.depths) if depth == step.depths[-1] - 1]
    new = next(at for at in reversed(siblings) if at != old) if len(siblings) > 1 else -1
    return replace(step, parents=(*step.parents[:-1], new))


def _swapped(step: DraftRound) -> DraftRound:
    """The first two tokens change places."""
    first, second, *others = step.drafted
    return replace(step, drafted=(second, first, *others))


def _without_the_last(step: DraftRound) -> DraftRound:
    return replace(step, drafted=step.drafted[:-1], parents=step.parents[:-1])


def _chance(step: DraftRound) -> DraftRound:
    """A later sibling claims the probability of a token that was not rejected before it."""
    return _with(step, 1, lambda token: token._replace(target_prob=token.target_prob * 0.5 + 0.01))


def _likelier(step: DraftRound) -> DraftRound:
    """The same, told everywhere: candidate and acceptance agree with it."""

    def change(token: DraftToken) -> DraftToken:
        prob = token.target_prob * 0.5 + 0.01
        candidates = tuple(
            c._replace(target_prob=prob) if c.token_id == token.token_id else c
            for c in token.candidates
        )
        accept = min(1.0, prob / token.draft_prob)
        return token._replace(
            target_prob=prob,
            accept_prob=accept,
            passed=token.uniform is not None and token.uniform < accept,
            candidates=candidates,
        )

    return _with(step, 1, change)


def _accepted(step: DraftRound) -> DraftRound:
    """A token that was not accepted says that it was."""
    at = next(at for at, token in enumerate(step.drafted) if token.outcome != "accepted")
    return _with(step, at, lambda token: token._replace(outcome="accepted"))


def _rejected(step: DraftRound) -> DraftRound:
    """The accepted path ends sooner."""
    at = max(at for at, token in enumerate(step.drafted) if token.outcome == "accepted")
    return _with(step, at, lambda token: token._replace(outcome="not_reached"))


FORGERIES: dict[str, Change] = {
    "a parent": _other_parent,
    "no tree": lambda step: replace(step, parents=(5, *step.parents[1:])),
    "no parents": lambda step: replace(step, parents=()),
    "an order": _swapped,
    "a node less": _without_the_last,
    "a chance": _chance,
    "a chance, told everywhere": _likelier,
    "an accepted token": _accepted,
    "a shorter path": _rejected,
}


def _chosen(trace: Trace, name: str) -> int:
    """The step with a tree that can be forged so."""
    path = name in ("a shorter path",)
    return next(
        at
        for at, step in enumerate(trace.steps)
        if isinstance(step, DraftRound)
        and len(step.parents) > 2
        and step.depth > 1
        and (step.accepted or not path)
        and len(step.accepted) < len(step.drafted)
    )


# `make test` looks at one source for each forgery.
ALTERED = [
    (name, source) if place % len(CONFIGS) == at else slow(name, source)
    for place, name in enumerate(FORGERIES)
    for at, source in enumerate(CONFIGS)
]


@pytest.mark.parametrize(("name", "source"), ALTERED)
def test_an_altered_tree_is_refused_in_one_sentence(name: str, source: str) -> None:
    trace = _run(source)
    at = _chosen(trace, name)
    step = trace.steps[at]
    assert isinstance(step, DraftRound)
    changed = FORGERIES[name](step)
    assert changed != step
    forged = replace(trace, steps=(*trace.steps[:at], changed, *trace.steps[at + 1 :]))
    sentence = _refusal(forged)
    assert sentence and "\n" not in sentence and len(sentence) < 300


def _refusal(trace: Trace) -> str:
    """What loading says, else the first failed check of the file or of the models."""
    try:
        loaded = Trace.from_dict(json.loads(json.dumps(trace.to_dict())))
    except TraceError as error:
        return str(error)
    draft = near_draft("llama") if trace.config.source.needs_draft else None
    outcomes = check(loaded, _target(), draft)
    return next((outcome.detail for outcome in outcomes if not outcome.passed), "")


@pytest.mark.parametrize("source", CONFIGS)
def test_the_run_itself_is_not_refused(source: str) -> None:
    assert _refusal(_run(source)) == ""
