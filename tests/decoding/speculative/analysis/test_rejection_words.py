"""The words of a rejection: the origin, the siblings, and the stage that removed a token."""

from __future__ import annotations

from typing import Any

import pytest

from core import Shaping, Speculative, Trace, collect, figures, load_model
from core.decoding.constraints.value import Constraint
from core.decoding.errors import ConfigError
from core.decoding.speculative.analysis.rejections import Rejection, rejections
from core.decoding.speculative.drafters.ngram_cache import LEAST_SEEN
from core.figures.base.labels import config_caption, percent
from core.figures.speculative.drafts.rejections import rejection_words
from core.figures.speculative.words import round_words

COPIES = "The little dog was sad because the little dog was sad because"
WITHOUT = "Without the siblings tried before it"
FIXED = "The candidate is fixed, not drawn, so its draft probability counts as 100"


def run(prompt: str = "Once upon a time", **settings: Any) -> Trace:
    config = Speculative(**{"seed": 16, "max_new_tokens": 60, **settings})
    draft = load_model("embedded:draft") if config.source.needs_draft else None
    return collect(load_model("embedded:target"), prompt, config, draft=draft)


def words_of(trace: Trace) -> list[tuple[Rejection, str]]:
    words = [(found, rejection_words(trace, found).replace("\xa0", " ")) for found in _all(trace)]
    assert words
    return words


def _all(trace: Trace) -> list[Rejection]:
    return list(rejections(trace))


def _shown(prob: float) -> str:
    return percent(prob).replace("\xa0", " ")


def test_the_likeliest_token_of_the_rest_is_not_that_of_the_target() -> None:
    trace = run(tree_widths="3,2,1", shaping=Shaping(top_p=0.95))
    found, words = next(
        (found, words) for found, words in words_of(trace) if found.token.text == " boy"
    )
    assert round_words(trace.rounds[1], found.round, found.place) == (
        "Round 2, position 2, try 2 of 2"
    )
    assert f"{WITHOUT}, it is the target's likeliest token, with 25.9 %. " in words
    assert "Before they were rejected, the target gave it 20.4 %." in words
    assert f"{FIXED} %. So the rejection had the probability 1 − min(1, 25.9 % / 100 %)" in words
    # The residual of a fixed sibling is the rest, renormalised.
    first = trace.rounds[1].drafted[trace.rounds[1].tree.index(trace.rounds[1].tree[found.place])]
    before = next(c for c in first.candidates if c.token_id == found.token.token_id)
    assert before.target_prob / (1 - first.target_prob) == pytest.approx(found.token.target_prob)
    assert before.target_prob < first.target_prob


@pytest.mark.parametrize(
    "settings", [{"acceptance": "typical"}, {"shaping": Shaping(temperature=0.0)}]
)
def test_a_rule_that_removes_nothing_names_no_siblings(settings: dict[str, Any]) -> None:
    trace = run(tree_nodes=12, max_new_tokens=80, **settings)
    siblings = 0
    for found, words in words_of(trace):
        tree = trace.rounds[found.round].tree
        siblings += tree[found.place] in tree[: found.place]
        assert WITHOUT not in words and "Before they" not in words and FIXED not in words
    assert siblings


def test_jacobi_says_where_each_token_is_from() -> None:
    trace = run(COPIES, drafter="jacobi", seed=0)
    first = words_of(trace)[0]
    assert first[0].round == 0 and "␣because repeats the token before it" in first[1]
    seen = {"repeats": 0, "own guess": 0, "pool of bigrams": 0}
    for seed in range(6):
        trace = run(COPIES, drafter="jacobi", seed=seed, draft_length=6)
        for found, words in words_of(trace):
            name = next(name for name in seen if name in words)
            seen[name] += 1
            step = trace.rounds[found.round]
            text = [*trace.prompt_ids, *trace.token_ids[: step.start]]
            before = [*text, *(token.token_id for token in step.drafted[: found.place])][-1]
            if name == "repeats":
                assert found.token.token_id == before
            elif name == "own guess":
                last = trace.rounds[found.round - 1]
                place = len(last.accepted) + 1 + found.place
                ends = [*last.drafted, *([last.bonus] if last.bonus else [])]
                assert ends[place].candidates[0].token_id == found.token.token_id
            else:
                earlier = trace.rounds[: found.round]
                assert any(
                    one.token_id == before and then.candidates[0].token_id == found.token.token_id
                    for past in earlier
                    for one, then in zip(past.drafted, past.drafted[1:], strict=False)
                )
    assert seen["repeats"] and seen["own guess"]


@pytest.mark.parametrize("drafter", ["suffix", "prompt_lookup", "lookahead", "ngram_cache"])
def test_a_fixed_candidate_counts_as_probability_1(drafter: str) -> None:
    for _, words in words_of(run(COPIES, drafter=drafter, seed=0)):
        assert FIXED in words and "/ 100 %)" in words


def test_a_drawn_token_is_not_called_fixed() -> None:
    for found, words in words_of(run()):
        assert FIXED not in words
        assert f"/ {_shown(found.token.draft_prob)})" in words


@pytest.mark.parametrize("nodes", [0, 6])
def test_n_gram_counts_say_how_many_tokens_they_read(nodes: int) -> None:
    trace = run(COPIES, drafter="ngram_cache", tree_nodes=nodes, seed=0)
    for found, words in words_of(trace):
        count = int(words.split("They read the last ")[1].split()[0].replace("token", "1"))
        assert found.earlier is not None
        assert 1 <= count <= min(len(LEAST_SEEN), found.earlier.same)
    found, words = words_of(trace)[0]
    assert found.earlier is not None and found.earlier.same > 4
    assert "They read the last 4 tokens here" in words


@pytest.mark.parametrize(
    ("shaping", "stage"), [(Shaping(top_p=0.5), "top-p 0.5"), (Shaping(min_p=0.3), "min-p 0.3")]
)
def test_the_stage_that_removed_a_token_is_named(shaping: Shaping, stage: str) -> None:
    removed = 0
    for found, words in words_of(run(shaping=shaping)):
        own = found.drafted.target_raw_prob
        named = f"The stage {stage} removed it (the target's own probability is {_shown(own)})."
        assert (named in words) == (found.token.target_prob == 0)
        removed += named in words
    assert removed


def test_the_rank_tells_top_k_from_top_p() -> None:
    stages = set()
    for found, words in words_of(run(shaping=Shaping(top_k=5, top_p=0.5))):
        above = sum(
            c.target_raw_prob > found.drafted.target_raw_prob for c in found.token.candidates
        )
        if found.token.target_prob == 0:
            stage = "top-k 5" if above >= 5 else "top-p 0.5"
            assert f"The stage {stage} removed it" in words
            stages.add(stage)
    assert len(stages) == 2
    trace = run(shaping=Shaping(top_p=0.5, min_p=0.3))
    assert any("One of the stages top-p 0.5, min-p 0.3" in words for _, words in words_of(trace))


def test_the_constraint_is_named_as_the_stage() -> None:
    rule = Constraint("regex", " there was a (cat|mouse)[a-z ]*")
    trace = run(drafter="jacobi", shaping=Shaping(constraint=rule), max_new_tokens=20)
    refused = [(found, words) for found, words in words_of(trace) if found.token.refused]
    assert refused
    for found, words in refused:
        own = _shown(found.drafted.target_raw_prob)
        assert f"The stage constraint removed it (the target's own probability is {own})" in words


def test_siblings_that_used_up_a_probability_are_no_stage() -> None:
    trace = run(tree_widths="4,2", tree_picks="without_replacement", shaping=Shaping(top_p=0.9))
    used_up = [
        (found, words)
        for found, words in words_of(trace)
        if found.token.target_prob == 0 and "Before they were rejected" in words
    ]
    assert used_up and all("removed it" not in words for _, words in used_up)
    drawn = [words for _, words in words_of(trace) if "siblings drawn before it" in words]
    assert drawn


def test_penalties_may_turn_the_order_of_a_greedy_run() -> None:
    turned = 0
    trace = run(COPIES, shaping=Shaping(temperature=0.0, repetition_penalty=1.8))
    for found, words in words_of(trace):
        less = found.preferred.target_raw_prob < found.drafted.target_raw_prob
        assert ("With penalties, bans and constraint the target prefers" in words) == less
        turned += less
    assert turned


def test_widths_of_a_tree_set_its_depth_and_not_the_draft_length() -> None:
    tree = Speculative(tree_widths="3,2,1", draft_length=5)
    assert "draft length" not in config_caption("m", tree) and "3,2,1" in config_caption("m", tree)
    assert "draft length 5" in config_caption("m", Speculative(tree_nodes=9, draft_length=5))


def test_the_table_has_raw_and_final_probabilities() -> None:
    trace = run(shaping=Shaping(top_p=0.5))
    frame = figures.spec_rejections_data(trace)
    assert ((frame["target_prob"] == 0) & (frame["target_raw_prob"] > 0)).any()


@pytest.mark.parametrize("tree", [{"tree_nodes": 4}, {"tree_widths": "3,2"}])
def test_block_verification_names_the_controls_of_a_tree(tree: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="tree_widths, tree_nodes or lookahead") as raised:
        Speculative(acceptance="block", **tree)
    assert raised.value.setting == "acceptance"
