"""Rejections in words, calibration and classes, against numbers counted another way."""

from __future__ import annotations

import math

import pytest

from core import Shaping, Speculative, Trace, collect, figures, load_model
from core.decoding.speculative.analysis.calibration import calibration
from core.decoding.speculative.analysis.classes import class_of, verified_tokens
from core.decoding.speculative.analysis.rejections import Rejection, rejection_at, rejections
from core.decoding.speculative.tree.shape import path_to
from core.figures.speculative.drafts.rejections import rejection_words

TEXT = "The little dog was sad because the little dog was sad because"
TARGET, DRAFT = "embedded:target", "embedded:draft"


def run(drafter: str = "model", *, temperature: float = 1.0, **settings: object) -> Trace:
    draft = {"model": DRAFT, "head": "embedded:head", "other_tokenizer": DRAFT}.get(drafter)
    shaping = Shaping(temperature=temperature)
    config = Speculative(
        draft_length=4, max_new_tokens=60, drafter=drafter, shaping=shaping, **settings
    )
    model = load_model(draft) if draft else None
    return collect(load_model(TARGET), TEXT, config, draft=model)


def all_of(trace: Trace) -> list[Rejection]:
    found = list(rejections(trace))
    tokens = [token for step in trace.rounds for token in step.drafted]
    assert len(found) == sum(token.outcome == "rejected" for token in tokens) > 2
    return found


def test_the_probability_of_a_rejection_is_that_of_the_rule() -> None:
    for found in all_of(run()):
        ratio = found.token.target_prob / found.token.draft_prob
        assert found.likelihood == pytest.approx(1 - min(1.0, ratio), abs=1e-6)
    for found in all_of(run(acceptance="exact")):
        assert found.likelihood == pytest.approx(1 - found.token.target_prob, abs=1e-6)


@pytest.mark.parametrize("settings", [{"temperature": 0.0}, {"acceptance": "typical"}])
def test_without_a_draw_a_rejection_is_certain(settings: dict) -> None:
    trace = run(**settings)
    for found in all_of(trace):
        assert found.likelihood == 1
        assert "certain" in rejection_words(trace, found)


def test_a_block_is_rejected_if_no_later_token_passes() -> None:
    trace = run(acceptance="block")
    for found in all_of(trace):
        later = trace.rounds[found.round].drafted[found.place :]
        assert found.likelihood == pytest.approx(math.prod(1 - t.accept_prob for t in later))
        assert not any(token.passed for token in later)


def test_the_target_prefers_the_likeliest_candidate() -> None:
    trace = run(temperature=0.0)
    for found in all_of(trace):
        recovered = trace.rounds[found.round].recovered
        assert recovered is not None and recovered.token_id == found.preferred.token_id


@pytest.mark.parametrize("nodes", [0, 6])
@pytest.mark.parametrize("drafter", ["prompt_lookup", "suffix", "ngram_cache"])
def test_a_copied_token_stands_where_the_words_say(drafter: str, nodes: int) -> None:
    trace = run(drafter, tree_nodes=nodes)
    checked = 0
    for at, step in enumerate(trace.rounds):
        for place, token in enumerate(step.drafted):
            if token.outcome != "rejected":
                assert rejection_at(trace, at, place) is None
                continue
            found = rejection_at(trace, at, place)
            assert found is not None and found.earlier is not None
            ids = [*trace.prompt_ids, *trace.token_ids[: step.start]]
            path = path_to(step.tree, step.tree[place])
            here = [*ids, *(step.drafted[node].token_id for node in path)]
            index, same = found.earlier
            assert same > 0 and index < len(ids)
            assert ids[index] == token.token_id
            assert ids[index - same : index] == here[len(here) - same :]
            assert f"token {index + 1} of prompt and text" in rejection_words(trace, found)
            checked += 1
    assert checked > 1


@pytest.mark.parametrize(
    ("drafter", "words"),
    [
        ("model", "the draft model gave"),
        ("head", "the draft head gave"),
        ("early_exit", "the target's first 2 layers gave"),
        ("lookahead", "an n-gram that the window of guesses gave"),
        ("other_tokenizer", "another tokenizer proposed"),
    ],
)
def test_each_source_is_named(drafter: str, words: str) -> None:
    trace = run(drafter)
    assert all(words in rejection_words(trace, found) for found in all_of(trace))


def test_the_table_has_a_row_for_each_rejection_of_a_tree() -> None:
    trace = run(tree_widths="3,2")
    frame = figures.spec_rejections_data(trace)
    assert len(frame) == len(all_of(trace))
    siblings = [
        found
        for found in all_of(trace)
        if found.place in (1, 2) and found.preferred.token_id != found.token.token_id
    ]
    assert siblings and all("siblings" in rejection_words(trace, found) for found in siblings)


def test_every_verified_token_is_in_one_bin_and_one_class() -> None:
    trace = run()
    reached = sum(t.outcome != "not_reached" for step in trace.rounds for t in step.drafted)
    accepted = sum(len(step.accepted) for step in trace.rounds)
    for frame in (figures.spec_calibration_data(trace), figures.spec_classes_data(trace)):
        assert frame["verified"].sum() == reached
        assert frame["accepted"].sum() == accepted
        assert (frame["interval_low"] <= frame["interval_high"]).all()
        assert (frame["few"] == (frame["verified"] < 10)).all()
    for bin_ in calibration(trace):
        assert all(bin_.low < trial.prob <= bin_.high for trial in bin_.trials)


def test_a_source_without_probabilities_has_no_calibration() -> None:
    assert calibration(run("prompt_lookup")) == ()


@pytest.mark.parametrize(
    ("text", "last", "name"),
    [
        (" dog", "e", "word_start"),
        ("dog", ".", "word_start"),
        ("Dog", "", "word_start"),
        ("ly", "d", "word_part"),
        (" 12", "=", "digit"),
        (' "', "d", "punctuation"),
        ("\n\n", ".", "space"),
        (" ", "a", "space"),
        ("", "a", "other"),
        ("<|end|>", "a", "other"),
        ("\ufffd", "a", "other"),
        ("犬", "の", "other"),
        ("개", "", "word_start"),
        ("'s", "m", "word_part"),
        ("\u2019t", "n", "word_part"),
        ("n't", "o", "word_part"),
        ("'tis", " ", "word_start"),
        ("'", "n", "punctuation"),
        ("ान", "त", "word_part"),
        ("ता", "ी", "word_part"),
        ("ा", "त", "word_part"),
        (" हि", "।", "word_start"),
        ("\u0301", "e", "word_part"),
        ("ั", "ก", "other"),
        (" \U0001f600", ".", "other"),
        ("\u2764\ufe0f", " ", "other"),
        ("$", " ", "punctuation"),
    ],
)
def test_classes_of_tokens(text: str, last: str, name: str) -> None:
    assert class_of(text, last) == name


def test_the_text_before_a_token_is_that_of_its_path() -> None:
    trace = run(tree_widths="3,2")
    parts = [one for one in verified_tokens(trace) if one.token_class == "word_part"]
    assert all(not one.token.text.startswith(" ") for one in parts)
