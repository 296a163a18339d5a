"""Patterns of broken drafts, in runs of the embedded models with drafts broken on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

import pytest
import torch
from torch import Tensor

from benchmarks.broken_drafts import BrokenDraft, LateContext, StarvedContext
from core import Shaping, Speculative, Trace, collect, load_model
from core.decoding.speculative.analysis.patterns import (
    Pattern,
    contrasts_of,
    pattern_of,
)
from core.decoding.speculative.sources import SOURCES
from core.figures.speculative.drafts.patterns import (
    NONE_FOUND,
    TOO_LITTLE,
    pattern_note,
    pattern_words,
)
from core.models.scripted import ScriptedModel
from tests.depth import mostly_slow

PROMPTS = (
    "Once upon a time",
    "The little dog was sad because",
    'Tom and Lily went to the park. They saw a big tree. Tom said, "',
    "One day, a girl named Sue found a red ball. She",
    "2 + 3 = 5. 4 + 4 = 8. 1 + 2 =",
    "At night, the stars",
)
TARGET, DRAFT = "embedded:target", "embedded:draft"


def run(
    prompt: str, draft: object = None, *, temperature: float = 1.0, **settings: object
) -> Trace:
    shaping = Shaping(temperature=temperature)
    config = Speculative(draft_length=3, max_new_tokens=40, shaping=shaping, **settings)
    return collect(load_model(TARGET), prompt, config, draft=draft)


def found(trace: Trace) -> Pattern:
    pattern = pattern_of(trace)
    assert pattern is not None
    return pattern


def noise(vocab_size: int) -> Tensor:
    return 3 * torch.randn(vocab_size, generator=torch.Generator().manual_seed(3))


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("flat", [False, True])
def test_constant_logits_are_a_constant_draft(temperature: float, flat: bool) -> None:
    model = load_model(DRAFT)
    row = torch.zeros(model.vocab_size) if flat else noise(model.vocab_size)
    draft = BrokenDraft(model, change=lambda logits: row.expand(logits.shape))
    trace = run(PROMPTS[0], draft, temperature=temperature)
    pattern = found(trace)
    assert pattern.name == "constant_draft"
    assert pattern.rounds == pattern.of == len([step for step in trace.rounds if step.drafted])
    assert pattern_words(trace).startswith("Constant draft: ")


def test_logits_that_hardly_change_are_a_constant_draft() -> None:
    """The probabilities differ everywhere, the drafted token does not."""
    model = load_model(DRAFT)
    ahead = torch.nn.functional.one_hot(torch.tensor(500), model.vocab_size).bool()
    draft = BrokenDraft(model, change=lambda row: row.where(~ahead, row.amax(-1, True) + 1))
    trace = run(PROMPTS[0], draft, temperature=0.0)
    pattern = found(trace)
    assert pattern.name == "constant_token"
    assert pattern.token == trace.rounds[0].drafted[0].text
    assert repr(pattern.token.strip())[1:-1] in pattern_words(trace)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_ids_of_another_vocabulary_are_a_wrong_template(temperature: float) -> None:
    """A draft whose ids mean other tokens is sure, and never in agreement."""
    model = load_model(DRAFT)
    order = torch.randperm(model.vocab_size, generator=torch.Generator().manual_seed(3))
    draft = BrokenDraft(model, change=lambda logits: logits[..., order])
    pattern = found(run(PROMPTS[0], draft, temperature=temperature))
    assert pattern.name == "other_text" and pattern.sure > 0.5 and pattern.nats > 5.5


def test_another_prompt_is_a_wrong_template() -> None:
    model = load_model(DRAFT)
    other = model.encode("1, 2, 3, 4, 5, 6, 7, 8, 9,")
    trace = run(PROMPTS[-1], BrokenDraft(model, prompt=other), temperature=0.0)
    pattern = found(trace)
    assert pattern.name == "other_start" and pattern.rounds == 3
    assert pattern.nats - pattern.later >= 4.5
    assert "another prompt or chat template" in pattern_words(trace)
    honest = run(PROMPTS[-1], model, temperature=0.0)
    assert honest.token_ids == trace.token_ids, "a greedy run keeps the target's text"


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_draft_that_lacks_the_last_token_is_late(temperature: float) -> None:
    draft = BrokenDraft(load_model(DRAFT), cache=LateContext)
    trace = run(PROMPTS[0], draft, temperature=temperature)
    pattern = found(trace)
    assert pattern.name == "late" and pattern.rounds >= pattern.of / 3
    assert pattern_words(trace).startswith("Late draft: ")


def test_a_cache_that_loses_tokens_is_another_text() -> None:
    draft = BrokenDraft(load_model(DRAFT), cache=StarvedContext)
    pattern = found(run(PROMPTS[0], draft, temperature=1.0))
    assert pattern.name == "other_text" and pattern.nats > 5.5


def test_an_unsure_draft_is_not_accused() -> None:
    """Flat probabilities that depend on the text diverge far from the target, and claim nothing."""
    draft = BrokenDraft(load_model(DRAFT), change=lambda logits: logits / 12)
    trace = run(PROMPTS[0], draft, temperature=1.0)
    contrasts = [contrasts_of(step)[0] for step in trace.rounds if step.drafted]
    assert fmean(contrast.divergence for contrast in contrasts) > 5.5
    assert pattern_of(trace) is None and pattern_note(trace) == NONE_FOUND


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(
    "drafter",
    mostly_slow(
        (name for name in SOURCES if name not in ("other_tokenizer", "mtp")),
        ("model", "early_exit"),
    ),
)
def test_an_honest_draft_is_not_accused(drafter: str, temperature: float) -> None:
    """A weak one neither: the first layer alone, or a copy of the text."""
    draft = {"model": DRAFT, "head": "embedded:head"}.get(drafter)
    model = load_model(draft) if draft else None
    for prompt in PROMPTS:
        trace = run(prompt, model, temperature=temperature, drafter=drafter, exit_layer=1)
        assert pattern_words(trace) == "", prompt


@pytest.mark.parametrize(
    ("prompt", "seed", "temperature"),
    [("It was raining. Anna opened the door and saw", 57, 0.7), (PROMPTS[-1], 10, 1.0)],
)
def test_a_long_honest_run_is_not_accused(prompt: str, seed: int, temperature: float) -> None:
    """A small draft knows a prompt less well than the text that the target writes after it."""
    shaping = Shaping(temperature=temperature)
    config = Speculative(max_new_tokens=160, shaping=shaping, seed=seed)
    trace = collect(load_model(TARGET), prompt, config, draft=load_model(DRAFT))
    contrasts = [contrasts_of(step) for step in trace.rounds if step.drafted]
    first, later = (
        fmean(each.divergence for one in part for each in one)
        for part in (contrasts[:3], contrasts[3:])
    )
    assert first - later > 3.25 and pattern_words(trace) == ""


def _sure(drafted: dict[int, int]) -> ScriptedModel:
    """A model that is sure of one more than the last token, or of another one."""
    row = [-20.0] * 50 + [0.0] * 6
    script: dict[tuple[int, ...], list[float]] = {(): row}
    for at in range(48):
        script[at,] = [*row]
        script[at,][drafted.get(at, at + 1)] = 12.0
    return ScriptedModel(script, tokens=[f" w{at}" for at in range(56)], given="logits")


@pytest.mark.parametrize("wrong", [(), range(3, 48, 4)])
def test_a_draft_that_is_sure_of_a_new_token_in_each_round_is_not_constant(
    wrong: Sequence[int],
) -> None:
    """Only its tail is the same everywhere."""
    config = Speculative(
        max_new_tokens=40, draft_length=3, top_candidates=6, shaping=Shaping(temperature=0)
    )
    trace = collect(_sure({}), [1], config, draft=_sure(dict.fromkeys(wrong, 49)))
    rejected = sum(step.rejected_at is not None for step in trace.rounds)
    assert len(trace.rounds) >= 8 and bool(rejected) == bool(wrong)
    assert pattern_words(trace) == ""


def test_a_constant_draft_of_a_constant_target_is_not_accused() -> None:
    model = ScriptedModel({(): [0.125] * 8}, tokens=[f" w{at}" for at in range(8)])
    trace = collect(model, [1], Speculative(max_new_tokens=40, draft_length=3), draft=model)
    assert all(token.outcome == "accepted" for step in trace.rounds for token in step.drafted)
    assert len(trace.rounds) >= 8 and pattern_of(trace) is None


def test_few_rounds_show_no_pattern() -> None:
    model = load_model(DRAFT)
    row = noise(model.vocab_size)
    draft = BrokenDraft(model, change=lambda logits: row.expand(logits.shape))
    config = Speculative(draft_length=3, max_new_tokens=5)
    trace = collect(load_model(TARGET), PROMPTS[0], config, draft=draft)
    assert pattern_of(trace) is None and pattern_note(trace) == TOO_LITTLE


def test_a_contrast_is_computed_by_hand() -> None:
    """Target 0.5, 0.5 against draft 0.9, 0.1: KL = 0.5 ln(0.5 / 0.9) + 0.5 ln(0.5 / 0.1)."""
    model = ScriptedModel({(): [0.5, 0.5, 0.0]}, tokens=["a", "b", "c"])
    draft = ScriptedModel({(): [0.9, 0.1, 0.0]}, tokens=["a", "b", "c"])
    config = Speculative(max_new_tokens=4, draft_length=1)
    step = collect(model, [0], config, draft=draft).rounds[0]
    (contrast,) = contrasts_of(step)
    assert contrast.divergence == pytest.approx(0.5108, abs=1e-4)
    # Cross-entropy 1.2040 less the draft's entropy 0.3251.
    assert contrast.excess == pytest.approx(0.8789, abs=1e-4)
