"""Drafts from the text alone: suffixes, n-gram counts, and the shortest n-gram of prompt lookup."""

from __future__ import annotations

import random
from collections import Counter

import pytest
import torch
from transformers.generation.candidate_generator import PromptLookupCandidateGenerator

from core import ConfigError, Shaping, Speculative, collect
from core.decoding.speculative.drafters import ngram_cache, suffix
from core.decoding.speculative.drafters.prompt_lookup import look_up
from core.decoding.speculative.drafters.suffix import DEPTH
from core.decoding.speculative.measurement.baseline import target_only
from tests.decoding.speculative.speculations import target


def test_prompt_lookup_drafts_what_transformers_does() -> None:
    dice, matched = random.Random(1), 0
    for _ in range(200):
        ids = [dice.randrange(4) for _ in range(dice.randint(2, 30))]
        longest, length = dice.randint(1, 4), dice.randint(1, 6)
        generator = PromptLookupCandidateGenerator(
            num_output_tokens=length, max_matching_ngram_size=longest, max_length=1000
        )
        candidates = generator.get_candidates(torch.tensor([ids]))[0][0].tolist()
        assert look_up(ids, longest, length) == candidates[len(ids) :]
        matched += len(candidates) > len(ids)
    assert matched > 150


def test_the_shortest_n_gram_is_that_of_vllms_example() -> None:
    ids = [1, 2, 3, 4, 2, 3]
    assert look_up(ids, 3, 4, least=2) == [4, 2, 3]
    assert look_up(ids, 3, 4, least=3) == []
    assert look_up([5, 1, 6, 1], 3, 4, least=2) == []
    assert look_up([5, 1, 6, 1], 3, 4) == [6, 1]


def _by_counts(ids: list[int], length: int, factor: float, least: float) -> list[int]:
    """Suffix decoding by a table of all pieces of the text, in place of positions."""
    pieces: Counter[tuple[int, ...]] = Counter()
    first: dict[tuple[int, ...], int] = {}
    for start in range(len(ids)):
        for end in range(start + 1, min(start + DEPTH, len(ids)) + 1):
            pieces[tuple(ids[start:end])] += 1
            first.setdefault(tuple(ids[start:end]), start)
    best, best_score = list[int](), 0.0
    for size in range(1, min(DEPTH, len(ids))):
        path, prob, score = tuple(ids[-size:]), 1.0, 0.0
        while len(path) - size < min(length, int(size * factor + 1e-6), DEPTH - size):
            after = [token for token in dict.fromkeys(ids) if pieces[(*path, token)]]
            if not after:
                break
            longer = ((*path, token) for token in after)
            token = max(longer, key=lambda piece: (pieces[piece], -first[piece]))[-1]
            prob *= pieces[(*path, token)] / pieces[path]
            if prob < least:
                break
            path, score = (*path, token), score + prob
        if score >= best_score:
            best, best_score = list(path[size:]), score
    return best


def test_a_shortest_n_gram_above_the_longest_is_refused_where_it_acts() -> None:
    with pytest.raises(ConfigError, match=r"lookup_min must be at most lookup_ngram \(2\), got 3"):
        Speculative(drafter="prompt_lookup", lookup_min=3)
    assert Speculative(drafter="suffix", lookup_min=3).idle >= {"lookup_min", "lookup_ngram"}


def test_settings_of_other_sources_rules_and_shapes_are_idle() -> None:
    idle = Speculative().idle
    assert {"exit_layer", "suffix_factor", "lookahead_window", "posterior_alpha"} <= idle
    assert "tree_picks" in idle and not {"draft_length", "draft_threshold"} & idle
    lookup = Speculative(drafter="prompt_lookup", acceptance="typical").idle
    assert {"draft_temperature", "draft_threshold"} <= lookup
    assert not {"lookup_min", "posterior_alpha"} & lookup
    assert {"draft_length"} <= Speculative(tree_widths="2,1").idle


def test_suffixes_go_on_as_a_table_of_all_pieces_says() -> None:
    dice, lengths = random.Random(2), set()
    for _ in range(200):
        ids = [dice.randrange(dice.choice([2, 4])) for _ in range(dice.randint(1, 40))]
        config = Speculative(
            suffix_factor=dice.choice([0.5, 1.0, 3.0]), suffix_min_prob=dice.choice([0.0, 0.1, 0.4])
        )
        length = dice.randint(1, 8)
        drafted = suffix.follow(ids, config, length)
        again = _by_counts(ids, length, config.suffix_factor, config.suffix_min_prob)
        assert drafted == again, (ids, config, length)
        lengths.add(len(drafted))
    assert lengths >= {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("ids", "length", "drafted"),
    [
        # Once before: half of the occurrences, as the text's end is one.
        ([1, 2, 3, 4, 1, 2], 4, [3, 4]),
        # Twice 3, once 4: 3 by the counts.
        ([1, 3, 1, 4, 1, 3, 9, 1], 1, [3]),
        # The longest suffix (2, 1) says 7, the shorter says 5 as often: the longer wins a tie.
        ([2, 1, 7, 4, 1, 5, 2, 1], 1, [7]),
        ([1, 2, 3], 4, []),
        ([1], 4, []),
    ],
)
def test_suffixes_by_hand(ids: list[int], length: int, drafted: list[int]) -> None:
    assert suffix.follow(ids, Speculative(), length) == drafted


@pytest.mark.parametrize(
    ("ids", "length", "drafted"),
    [
        # One token before is too seldom for one token, and enough for three.
        ([5, 1, 9, 1], 3, []),
        ([1, 2, 3, 4, 1, 2, 3], 3, [4, 1, 2]),
        # After one token: 2 of 3 are above 66 %.
        ([1, 2, 1, 2, 1, 3, 1], 1, [2]),
        # After two tokens: seen once only, and the last one was followed by two others.
        ([7, 1, 2, 8, 1, 3, 7, 1], 1, []),
        ([4], 3, []),
    ],
)
def test_n_gram_counts_by_hand(ids: list[int], length: int, drafted: list[int]) -> None:
    assert ngram_cache.follow(ids, Speculative(), length) == drafted


def test_a_jacobi_window_is_what_the_target_predicted_along_the_last_one() -> None:
    """Against fresh forwards over each window; the first one repeats the prompt's last token."""
    model = target("llama")
    model.eos_ids = frozenset()
    config = Speculative(
        max_new_tokens=14, draft_length=5, drafter="jacobi", shaping=Shaping(temperature=0.0)
    )
    prompt, expected, compared = [5, 9, 2, 77], [77] * 5, 0
    trace = collect(model, prompt, config)
    assert trace.token_ids == collect(model, prompt, target_only(config)).token_ids
    for step in trace.rounds:
        window = [token.token_id for token in step.drafted]
        known = expected[: len(window)]
        assert window[: len(known)] == known
        compared += len(known)
        context = model.start([*prompt, *trace.token_ids[: step.start]])
        predicted = [int(context.logits.argmax())]
        predicted += [int(context.extend([token])[0, -1].argmax()) for token in window]
        # The last prediction follows the whole window: only a bonus takes it.
        last = len(window) + 1 if step.bonus else len(window)
        expected = predicted[len(step.accepted) + 1 : last]
    assert compared > 20
