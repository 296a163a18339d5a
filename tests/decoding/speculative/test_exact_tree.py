"""Trees of drafts and block verification keep the target's distribution: enumerated exactly."""

from __future__ import annotations

import itertools

import pytest

from core import Shaping, Speculative
from core.decoding.speculative import engine
from core.decoding.speculative.distributions import Rows
from core.decoding.speculative.tree import verifying
from tests.decoding.speculative.speculations import scripted
from tests.decoding.speculative.test_exact import (
    DRAFT,
    DRAFT_OF_TWO,
    TARGET,
    TARGET_OF_TWO,
    TOKENS,
    distance,
    enumerate_runs,
    exact_distribution,
)

PICKS = ("top_k", "without_replacement", "with_replacement")


def _tree(tokens: int = TOKENS, **settings) -> Speculative:
    return Speculative(max_new_tokens=tokens, **settings)


TREES = {
    **{f"two then one, {picks}": _tree(tree_widths="2,1", tree_picks=picks) for picks in PICKS},
    **{f"three, {picks}": _tree(2, tree_widths="3", tree_picks=picks) for picks in PICKS},
    "one then two": _tree(tree_widths="1,2", tree_picks="without_replacement"),
    "exact match": _tree(tree_widths="2,1", acceptance="exact"),
    "exact match, drawn": _tree(
        2, tree_widths="2", acceptance="exact", tree_picks="with_replacement"
    ),
    "batch expansion": _tree(tree_widths="2,1", scoring="batch_expansion"),
    "dynamic": _tree(tree_nodes=4, draft_length=2),
    "dynamic, one path": _tree(tree_nodes=1, draft_length=2),
    "threshold": _tree(tree_widths="2,1", draft_threshold=0.45),
    "greedy draft": _tree(tree_widths="2,1", draft_temperature=0.0, tree_picks="with_replacement"),
    "hot draft": _tree(2, tree_widths="2", draft_temperature=3.0, tree_picks="without_replacement"),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_keeps_the_targets_distribution(name, monkeypatch: pytest.MonkeyPatch) -> None:
    config = TREES[name]
    assert config.lossless
    many = config.tree_picks != "top_k" and config.tree_widths != "2"
    target, draft = (TARGET_OF_TWO, DRAFT_OF_TWO) if many else (TARGET, DRAFT)
    if config.tree_widths == "3":
        target, draft = TARGET, DRAFT
    emitted = enumerate_runs(monkeypatch, scripted(*target), scripted(*draft), config)
    exact = exact_distribution(target, config.max_new_tokens)
    assert emitted.keys() == exact.keys()
    assert distance(emitted, exact) < 1e-5


def test_the_end_of_sequence_in_a_tree_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    models = scripted(*TARGET, eos=True), scripted(*DRAFT, eos=True)
    emitted = enumerate_runs(monkeypatch, *models, _tree(tree_widths="2,1"))
    assert distance(emitted, exact_distribution(TARGET, TOKENS, end=0)) < 1e-5


def _lost(monkeypatch: pytest.MonkeyPatch, config: Speculative) -> float:
    emitted = enumerate_runs(monkeypatch, scripted(*TARGET), scripted(*DRAFT), config)
    return distance(emitted, exact_distribution(TARGET, config.max_new_tokens))


@pytest.mark.parametrize("picks", PICKS)
def test_siblings_that_are_all_compared_with_the_target_itself_lose_something(
    picks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong rule: every sibling has another chance against the whole distribution."""

    def unchanged(target: Rows, draft: Rows, token_ids, parents, rule) -> Rows:  # noqa: ARG001
        return target

    monkeypatch.setattr(engine, "compared_rows", unchanged)
    assert _lost(monkeypatch, _tree(2, tree_widths="2", tree_picks=picks)) > 0.01


def test_draws_without_replacement_verified_as_with_replacement_lose_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The wrong rule: the second draw's distribution still holds the first token."""
    right = verifying.compared_rows

    def verify_all(config, token_ids, target, draft, noise):
        first = Rows(draft.probs[[0] * len(draft)], [])
        return engine_verify_all(config, token_ids, target, first, noise)

    engine_verify_all = engine.verify_all
    config = _tree(2, tree_widths="2", tree_picks="without_replacement")
    monkeypatch.setattr(engine, "verify_all", verify_all)
    assert right is engine.compared_rows
    assert _lost(monkeypatch, config) > 0.01


BLOCKS = {
    "two tokens": Speculative(draft_length=2, max_new_tokens=TOKENS, acceptance="block"),
    "adaptive": Speculative(
        draft_length=1, max_new_tokens=TOKENS, adaptive=True, acceptance="block"
    ),
    "threshold": Speculative(
        draft_length=2, max_new_tokens=TOKENS, draft_threshold=0.45, acceptance="block"
    ),
    "greedy draft": Speculative(
        draft_length=3, max_new_tokens=4, draft_temperature=0.0, acceptance="block"
    ),
    "prompt lookup": Speculative(
        draft_length=2, max_new_tokens=4, drafter="prompt_lookup", acceptance="block"
    ),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_block_verification_keeps_the_targets_distribution(
    name, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = BLOCKS[name]
    assert config.lossless
    draft = scripted(*DRAFT_OF_TWO) if config.drafter == "model" else None
    emitted = enumerate_runs(monkeypatch, scripted(*TARGET_OF_TWO), draft, config)
    exact = exact_distribution(TARGET_OF_TWO, config.max_new_tokens)
    assert emitted.keys() == exact.keys()
    assert distance(emitted, exact) < 1e-5


PAIRS = {
    "alike": ([[0.7, 0.3], [0.15, 0.85]], [[0.4, 0.6], [0.5, 0.5]]),
    "apart": ([[0.9, 0.1], [0.2, 0.8]], [[0.2, 0.8], [0.9, 0.1]]),
    # The example of Sun et al. 2024, section 2.
    "two thirds": ([[1 / 3, 2 / 3]], [[2 / 3, 1 / 3]]),
}


@pytest.mark.parametrize("name", PAIRS)
def test_block_verification_accepts_at_least_as_many(name, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one round with two drafted tokens; the third is the target's own."""
    target, draft = PAIRS[name]
    expected = {}
    for rule in ("speculative", "block"):
        config = Speculative(draft_length=2, max_new_tokens=TOKENS, acceptance=rule)
        expected[rule] = 0.0

        def count(trace, weight, rule=rule) -> None:
            expected[rule] += weight * len(trace.rounds[0].accepted)

        enumerate_runs(monkeypatch, scripted(*target), scripted(*draft), config, count)
    assert expected["block"] >= expected["speculative"] - 1e-6
    if name == "two thirds":
        # By hand, as in the paper: 10/9 and 11/9.
        assert expected["speculative"] == pytest.approx(10 / 9, abs=1e-5)
        assert expected["block"] == pytest.approx(11 / 9, abs=1e-5)


def test_greedy_trees_emit_the_most_probable_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    for picks, acceptance in itertools.product(PICKS, ("speculative", "exact", "typical")):
        config = _tree(
            tree_widths="2,1",
            tree_picks=picks,
            acceptance=acceptance,
            shaping=Shaping(temperature=0.0),
        )
        emitted = enumerate_runs(monkeypatch, scripted(*TARGET), scripted(*DRAFT), config)
        assert emitted == {(0, 0, 0): pytest.approx(1.0)}
