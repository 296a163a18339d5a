"""Trees of the text's sources: their rules by hand, losslessness, greedy parity, and refusals."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from core import ConfigError, Shaping, Speculative, check, collect
from core.decoding.speculative.drafters import ngram_cache, prompt_lookup, suffix
from core.decoding.speculative.drafters.suffix import DEPTH
from core.decoding.speculative.measurement.baseline import target_only
from core.decoding.speculative.sources import SOURCES, Drafter
from core.decoding.speculative.tree.paths import TokenTree, likeliest, merged
from core.decoding.speculative.tree.shape import is_tree
from tests.decoding.speculative.speculations import ARCHITECTURES, scripted, target
from tests.decoding.speculative.test_exact import (
    TARGET,
    TARGET_OF_TWO,
    distance,
    enumerate_runs,
    exact_distribution,
)

TEXT_TREES: list[Drafter] = [row.name for row in SOURCES.values() if row.tree]
GREEDY = Shaping(temperature=0.0)


def test_paths_that_begin_alike_share_nodes() -> None:
    tree = merged([(1, 2, 3), (4,), (1, 5), (1, 2, 6)])
    assert (tree.token_ids, tree.parents) == ((1, 4, 2, 5, 3, 6), (-1, -1, 0, 0, 2, 2))
    assert tree.paths() == [(1,), (4,), (1, 2), (1, 5), (1, 2, 3), (1, 2, 6)]
    assert tree.cut_after({2}) == TokenTree((1, 4, 2, 5), (-1, -1, 0, 0))
    assert TokenTree.line([7, 8]) == TokenTree((7, 8), (-1, 0)) and merged([]) == TokenTree()


def test_the_likeliest_nodes_are_taken_by_their_joint_shares() -> None:
    shares = {(): [(1, 0.6), (2, 0.4)], (1,): [(3, 0.5), (4, 0.5)], (2,): [(5, 1.0)]}
    tree = likeliest(lambda path: shares.get(path, []), 4, 3)
    # 0.6, 0.4, 0.4 (found last), 0.3: of equal ones the first found comes first.
    assert tree.paths() == [(1,), (2,), (1, 3), (2, 5)]
    assert tree.score == pytest.approx(0.6 + 0.4 + 0.4 + 0.3)
    assert likeliest(lambda path: shares.get(path, []), 9, 1).paths() == [(1,), (2,)]
    assert likeliest(lambda path: shares.get(path, []), 9, 3, 0.35).paths() == [(1,), (2,), (2, 5)]


@pytest.mark.parametrize(
    ("ids", "nodes", "length", "paths"),
    [
        # 3 follows twice, 4 once; after 1, 3 come 9 and the end of the text.
        ([1, 3, 9, 1, 4, 1, 3, 9, 1], 3, 2, [(3,), (4,), (3, 9)]),
        ([1, 3, 9, 1, 4, 1, 3, 9, 1], 9, 1, [(3,), (4,)]),
        ([1, 2], 4, 2, []),
    ],
)
def test_prompt_lookup_branches_where_a_match_went_on_otherwise(ids, nodes, length, paths) -> None:
    config = Speculative(drafter="prompt_lookup", lookup_ngram=1, tree_nodes=nodes)
    assert prompt_lookup.branches(ids, config, length).paths() == paths


def test_n_gram_counts_branch_where_the_chain_takes_the_most_frequent() -> None:
    ids = [1, 2, 1, 2, 1, 3, 1]
    config = Speculative(drafter="ngram_cache", tree_nodes=2)
    # After one token: 2 of 3 are above 66 %, and the third is the second branch.
    assert ngram_cache.branches(ids, config, 1).paths() == [(2,), (3,)]
    assert ngram_cache.branches([5, 1, 9, 1], config, 1) == TokenTree()


def test_a_tree_of_suffixes_holds_the_nodes_of_a_table_of_all_pieces() -> None:
    dice, sizes = random.Random(3), set()
    for _ in range(150):
        ids = [dice.randrange(dice.choice([2, 4])) for _ in range(dice.randint(2, 30))]
        config = Speculative(
            drafter="suffix",
            suffix_factor=dice.choice([1.0, 3.0]),
            suffix_min_prob=dice.choice([0.0, 0.2]),
            tree_nodes=dice.randint(1, 6),
        )
        length = dice.randint(1, 4)
        tree = suffix.branches(ids, config, length)
        assert is_tree(tree.parents)
        best = max(sum(_likeliest_scores(ids, size, config, length)) for size in range(1, len(ids)))
        assert tree.score == pytest.approx(best)
        sizes.add(len(tree.token_ids))
    assert sizes >= {0, 1, 2, 3, 4}


def _likeliest_scores(ids: list[int], size: int, config: Speculative, length: int) -> list[float]:
    """The joint shares of the nodes after the last `size` tokens, by counts of pieces."""
    if size >= DEPTH:
        return []
    pieces: Counter[tuple[int, ...]] = Counter()
    for start in range(len(ids)):
        pieces.update(tuple(ids[start:end]) for end in range(start + 1, len(ids) + 1))
    ending = tuple(ids[-size:])
    if pieces[ending] < 2:
        return []
    joint = {
        piece: count / pieces[ending]
        for piece, count in pieces.items()
        if piece[:size] == ending and size < len(piece) <= min(size + length, DEPTH)
    }
    kept = [share for share in joint.values() if share >= config.suffix_min_prob - 1e-12]
    nodes = min(config.tree_nodes, int(size * config.suffix_factor + 1e-6))
    return sorted(kept, reverse=True)[:nodes]


@pytest.mark.parametrize("acceptance", ["speculative", "exact"])
@pytest.mark.parametrize("drafter", TEXT_TREES)
def test_a_tree_from_the_text_loses_nothing(
    drafter, acceptance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt that repeats itself gives branches from the first round on."""
    config = Speculative(
        draft_length=2,
        max_new_tokens=4,
        drafter=drafter,
        tree_nodes=3,
        suffix_factor=4.0,
        lookup_ngram=1,
        acceptance=acceptance,
    )
    prompt, branched = [0, 1, 0, 0, 1, 0], 0

    def count(trace, _: float) -> None:
        nonlocal branched
        branched += any(len(siblings) > 1 for step in trace.rounds for siblings in step.siblings)

    emitted = enumerate_runs(
        monkeypatch, scripted(*TARGET_OF_TWO), None, config, count, prompt_ids=prompt
    )
    assert distance(emitted, exact_distribution(TARGET_OF_TWO, 4)) < 1e-5
    assert branched


def test_the_end_of_sequence_in_a_tree_from_the_text_loses_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = Speculative(
        draft_length=2, max_new_tokens=3, drafter="prompt_lookup", lookup_ngram=1, tree_nodes=4
    )
    model = scripted(*TARGET, eos=True)
    prompt = [1, 0, 2, 1, 2, 0, 1, 0]
    emitted = enumerate_runs(monkeypatch, model, None, config, prompt_ids=prompt)
    assert distance(emitted, exact_distribution(TARGET, 3, end=0)) < 1e-5


@pytest.mark.parametrize("drafter", TEXT_TREES)
def test_every_run_of_a_tree_from_the_text_is_proved_and_greedy_is_greedy(drafter) -> None:
    accepted = 0
    for case in range(6):
        dice = random.Random(f"text tree {drafter} {case}")
        model = target(ARCHITECTURES[case])
        model.eos_ids = dice.choice([frozenset(), frozenset(range(5, 300, 40))])
        repeated = [dice.randrange(1, 300) for _ in range(4)]
        prompt = [*repeated, dice.randrange(1, 300), *repeated, dice.randrange(1, 300), *repeated]
        config = Speculative(
            max_new_tokens=20,
            drafter=drafter,
            tree_nodes=dice.randint(2, 9),
            lookup_ngram=dice.randint(1, 2),
            suffix_factor=3.0,
            scoring=dice.choice(["multi_query", "batch_expansion"]),
            shaping=Shaping(temperature=0.0 if case % 2 else 0.8),
            seed=case,
        )
        trace = collect(model, prompt, config)
        assert [outcome for outcome in check(trace, model) if not outcome.passed] == []
        accepted += sum(len(step.accepted) for step in trace.rounds)
        assert any(step.parents for step in trace.rounds)
        if config.shaping.temperature == 0:
            assert trace.token_ids == collect(model, prompt, target_only(config)).token_ids
    assert accepted


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"drafter": "jacobi", "tree_nodes": 4}, "is no setting of Jacobi iterations"),
        ({"drafter": "other_tokenizer", "tree_widths": "2"}, "is no setting of other tokenizer"),
        ({"drafter": "jacobi", "tree_widths": "2"}, "is no setting of Jacobi iterations"),
        ({"drafter": "suffix", "tree_widths": "2,1"}, "needs a draft with probabilities"),
        ({"drafter": "lookahead", "tree_nodes": 4}, "is no setting of lookahead"),
        ({"drafter": "lookahead", "draft_length": 1}, "draft_length must be at least 2 with"),
        ({"drafter": "lookahead", "lookahead_guesses": 17}, "at most 64 tokens, got 17 × 4"),
        ({"drafter": "lookahead", "adaptive": True}, "switch adaptive off"),
        (
            {"drafter": "lookahead", "acceptance": "block"},
            "it verifies a chain as a whole",
        ),
        ({"drafter": "head", "tree_nodes": 4, "adaptive": True}, "switch adaptive off"),
    ],
)
def test_a_shape_that_the_source_lacks_is_refused(changes, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        replace(Speculative(), **changes)
