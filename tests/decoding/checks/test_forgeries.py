"""One thing forged in a trace file of every method: none is proved, or the badge says it isn't."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import pytest

from core import (
    BeamSearch,
    ContrastiveSearch,
    Diffusion,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    check,
    collect,
    load_model,
)
from core.decoding.check import verdict
from core.decoding.errors import DecodingError
from core.decoding.record.trace import Check
from core.decoding.unchecked import unchecked, unchecked_words
from core.models.transformers_model import TransformersModel
from core.traces.file import trace_of
from tests.decoding.checks.forging import Forgery, forgeries, together
from tests.decoding.speculative.speculations import near_draft, target
from tests.depth import cases, mostly_slow
from tests.models.builders import (
    random_masked_model,
    random_model,
    random_noise_model,
    tiny_tokenizer,
)

PROMPT = "the fox had"
FILTERED = Shaping(temperature=0.9, top_k=40, top_p=0.95)
RUNS = {
    "greedy": Greedy(max_new_tokens=5, min_new_tokens=2, top_candidates=4),
    "sampling": Sampling(max_new_tokens=4, seed=4, shaping=FILTERED, top_candidates=4),
    "gumbel": Sampling(max_new_tokens=4, seed=4, shaping=FILTERED, draw="gumbel", top_candidates=4),
    "contrastive": ContrastiveSearch(max_new_tokens=4, contrastive_top_k=3, top_candidates=4),
    "reasoning": Reasoning(
        max_new_tokens=26,
        max_thinking_tokens=4,
        max_answer_tokens=3,
        top_candidates=3,
    ),
    "beam": BeamSearch(max_new_tokens=4, num_beams=2),
    "beam draws": BeamSearch(max_new_tokens=4, num_beams=2, do_sample=True, seed=2),
    "speculative": Speculative(max_new_tokens=7, seed=5, draft_length=3, top_candidates=3),
    "greedy speculative": Speculative(
        max_new_tokens=7, draft_length=3, top_candidates=3, shaping=Shaping(temperature=0.0)
    ),
    "prompt lookup": Speculative(
        max_new_tokens=7, draft_length=3, top_candidates=3, drafter="prompt_lookup", lookup_ngram=1
    ),
    "exact speculative": Speculative(
        max_new_tokens=7, draft_length=3, top_candidates=3, acceptance="exact", seed=1,
        shaping=Shaping(temperature=0.2),
    ),
    "typical speculative": Speculative(
        max_new_tokens=7, draft_length=3, top_candidates=3, acceptance="typical", seed=5
    ),
    "diffusion": Diffusion(
        max_new_tokens=6, block_length=4, tokens_per_step=2, top_candidates=3, seed=2,
        shaping=FILTERED,
    ),
    "remasking diffusion": Diffusion(
        max_new_tokens=10, block_length=10, tokens_per_step=3, remask_per_step=1, top_candidates=3,
        cfg_scale=0.5, seed=2, shaping=FILTERED,
    ),
    "noise diffusion": Diffusion(
        max_new_tokens=10, canvas="noise", max_denoising_steps=2, top_candidates=3, seed=2,
    ),
    "greedy diffusion": Diffusion(
        max_new_tokens=4, block_length=4, order="entropy", entropy_bound=5.0, top_candidates=6,
        shaping=Shaping(temperature=0.0),
    ),
}  # fmt: skip


def models(name: str) -> tuple[Any, Any]:
    config = RUNS[name]
    if isinstance(config, Diffusion):
        return (random_noise_model() if config.canvas == "noise" else random_masked_model()), None
    model = target("llama")
    drafts = isinstance(config, Speculative) and config.drafter == "model"
    return model, near_draft("llama") if drafts else None


@cache
def run(name: str) -> Trace:
    model, draft = models(name)
    return collect(model, PROMPT, RUNS[name], draft=draft)


@cache
def honest(name: str) -> Any:
    """The file, as a reader parses it."""
    return json.loads(run(name).to_json())


def all_forgeries(name: str, places: int, apart: int = 1) -> Iterator[Forgery]:
    """All that change several things, and of those that change one every so many-th."""
    yield from together(honest(name))
    yield from islice(forgeries(honest(name), places), len(name) % apart, None, apart)


def outcome(name: str, forgery: Forgery) -> str:
    """Return how the forgery is found; `proved` must not occur."""
    if forgery.data == honest(name):
        return "the same"
    try:
        trace = trace_of(forgery.data)
    except DecodingError:
        return "refused"
    if verdict(check(trace)) == "failed":
        return "self-check"
    if verdict(checks := check(trace, *models(name))) == "failed":
        return "model"
    open_ones = _fields(trace, checks)
    if open_ones.intersection(forgery.where.split(".")):
        return "said beside"
    return "the same run" if _is_its_own_run(name, trace, open_ones) else "proved"


def _fields(trace: Trace, checks: Sequence[Check]) -> set[str]:
    return {field for part in unchecked(trace, checks) for field in part.fields}


def _is_its_own_run(name: str, trace: Trace, open_ones: set[str]) -> bool:
    """Return whether a run with the forged settings gives just what the forged trace says."""
    model, draft = models(name)
    try:
        again = collect(model, trace.prompt_ids, trace.config, draft=draft)
    except DecodingError:
        return False
    return _same(again.to_dict(), trace.to_dict(), open_ones)


def _same(one: Any, other: Any, open_ones: set[str]) -> bool:
    """Return whether two files agree in all that is checked, numbers up to rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = {*one, *other} - open_ones - {"checks"}
        return all(
            key in one and key in other and _same(one[key], other[key], open_ones) for key in keys
        )
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(_same(*pair, open_ones) for pair in pairs)
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= 2e-4 * max(1.0, abs(one))
    return bool(one == other)


@pytest.mark.parametrize(
    "name", mostly_slow(RUNS, ("sampling", "beam", "speculative", "reasoning"))
)
def test_no_forgery_is_proved(name: str) -> None:
    assert verdict(check(run(name), *models(name))) == "proved"
    forged = all_forgeries(name, cases(3, 1), cases(1, 5))
    assert [f"{f.where}: {f.kind}" for f in forged if outcome(name, f) == "proved"] == []


def _failed(trace: Trace, name: str) -> set[str]:
    return {outcome.name for outcome in check(trace, *models(name)) if not outcome.passed}


@pytest.mark.parametrize("name", ["greedy", "beam", "speculative"])
def test_an_entropy_of_the_prompt_that_the_model_does_not_give_is_found(name: str) -> None:
    prompt = run(name).prompt_step
    first = replace(prompt.positions[0], entropy=prompt.positions[0].entropy + 0.01)
    forged = replace(prompt, positions=(first, *prompt.positions[1:]))
    numbers = {
        "prompt_again",
        "forward_again",
    }
    assert _failed(replace(run(name), steps=(forged, *run(name).steps[1:])), name) & numbers


@pytest.mark.parametrize("name", ["sampling", "contrastive", "speculative"])
def test_a_run_that_went_past_its_stop_string_is_found(name: str) -> None:
    trace = run(name)
    past = replace(trace, config=replace(trace.config, stop_strings=(trace.text[0],)))
    assert "finish_reason" in _failed(past, name)


@pytest.mark.parametrize(
    ("prompt", "proved"),
    [
        ("Name a red planet.", True),
        (" Name a red planet.\n", True),
        ("Be brief. Now.", True),
        ("a red planet.", False),
        ("Name a red", False),
        ("Now.", False),
        ("", False),
    ],
)
def test_a_prompt_is_a_whole_message_of_what_the_model_saw(prompt: str, proved: bool) -> None:
    model = load_model("embedded:draft")
    messages = [
        {"role": "system", "content": "Be brief. Now."},
        {"role": "user", "content": "Name a red planet."},
    ]
    ids = model.encode_chat(messages)
    trace = collect(model, ids, Greedy(max_new_tokens=1), prompt_text=prompt)
    assert (verdict(check(trace, model)) == "proved") is proved


def test_a_message_that_words_of_a_template_surround_is_proved() -> None:
    tokenizer = deepcopy(tiny_tokenizer())
    tokenizer.chat_template = (
        "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }} {% endfor %}assistant:"
    )
    model = TransformersModel(random_model("llama"), tokenizer, model_id="tiny")
    messages = [{"role": "system", "content": "be"}, {"role": "user", "content": PROMPT}]
    ids = model.encode_chat(messages)
    trace = collect(model, ids, Greedy(max_new_tokens=1), prompt_text=PROMPT)
    assert verdict(check(trace, model)) == "proved"
    assert verdict(check(replace(trace, prompt=PROMPT[4:]), model)) == "failed"


def test_a_hidden_token_with_a_higher_score_is_found() -> None:
    """The seed's noise lifts one of the tokens that a step doesn't show."""
    trace = run("gumbel")
    assert "stages_again" in _failed(replace(trace, config=replace(trace.config, seed=5)), "gumbel")


def test_what_no_check_can_tell_is_listed() -> None:
    trace = run("greedy")
    listed = unchecked_words(trace, check(trace, *models("greedy")))
    assert "library versions" in listed and "names of models" not in listed
    assert "names of models" in unchecked_words(trace, check(trace))
    drafted = run("speculative")
    alone = check(drafted, models("speculative")[0])
    assert "the draft model and its probabilities" in unchecked_words(drafted, alone)
