"""A constraint in every method: its texts, its proof, transformers' `generate`, and its notes."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import torch

from core import (
    BeamSearch,
    ConfigError,
    ContrastiveSearch,
    Diffusion,
    Greedy,
    Reasoning,
    Sampling,
    Shaping,
    Speculative,
    check,
    collect,
    load_model,
)
from core.decoding.autoregressive.branches import branch
from core.decoding.beam.model_checks import SAME_HYPOTHESES
from core.decoding.check import verdict
from core.decoding.constraints.grammar import Grammar, grammars_of
from core.decoding.constraints.value import Constraint
from core.decoding.record.notes import CONSTRAINT_LEFT, CONSTRAINT_OPEN, GAVE_WAY, Note
from core.decoding.unchecked import unchecked_words
from core.models.scripted import ScriptedModel
from tests.decoding.checks.forging import failed, with_shaping
from tests.depth import slow
from tests.models.builders import random_language_model

NAME = Constraint(
    "json",
    '{"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}, "old": '
    '{"type": "boolean"}}, "required": ["name", "old"], "additionalProperties": false}',
)
DATE = Constraint("regex", "[0-9]{4}-[0-9]{2}")
YES = Constraint("choice", "yes\nno\nmaybe not")
LIST = Constraint("lark", 'start: "[" word ("," word)* "]"\nword: /[a-z]{1,3}/')
PATTERNS = {
    DATE: "[0-9]{4}-[0-9]{2}",
    YES: "yes|no|maybe not",
    LIST: r"\[[a-z]{1,3}(,[a-z]{1,3})*\]",
}
CONFIGS = (
    Greedy(max_new_tokens=30),
    Sampling(max_new_tokens=30, seed=5, shaping=Shaping(temperature=0.9, top_k=30)),
    Sampling(max_new_tokens=30, seed=5, draw="multinomial"),
    BeamSearch(max_new_tokens=24, num_beams=3),
    BeamSearch(max_new_tokens=24, num_beams=2, do_sample=True, seed=2),
    Speculative(max_new_tokens=30, seed=3),
    Speculative(max_new_tokens=30, drafter="prompt_lookup", shaping=Shaping(temperature=0.0)),
    Reasoning(max_thinking_tokens=5, max_answer_tokens=24),
    ContrastiveSearch(max_new_tokens=20),
)


def _with(config, constraint: Constraint):
    return replace(config, shaping=replace(config.shaping, constraint=constraint))


def _drafts(config) -> bool:
    return isinstance(config, Speculative) and config.drafter == "model"


@pytest.mark.parametrize(
    "constraint", [NAME, slow(DATE), slow(YES), LIST], ids=lambda value: value.kind
)
@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.method)
def test_a_run_keeps_to_it_and_is_proved_by_the_model(config, constraint) -> None:
    model = load_model("embedded:target")
    draft = load_model("embedded:draft") if _drafts(config) else None
    trace = collect(model, "The answer is 7. Say", _with(config, constraint), draft=draft)
    assert verdict(check(trace, model, draft)) == "proved"
    said = [step for step in trace.token_steps if step.phase == "answer"]
    text = "".join(step.text for step in said) or trace.text
    if trace.finish_reason == "eos" and constraint is NAME:
        assert json.loads(text).keys() == {"name", "old"}
    elif trace.finish_reason == "eos":
        assert re.fullmatch(PATTERNS[constraint], text)
    else:
        assert [note.key for note in trace.notes].count(CONSTRAINT_OPEN) == 1
    grammar = grammars_of(model).start(constraint)
    grammar.read(trace.token_ids[len(trace.token_steps) - len(said) :])
    assert grammar.held >= len(said or trace.token_ids) - 1


@pytest.mark.parametrize("kind", ["llama", "gpt2"])
@pytest.mark.parametrize("config", CONFIGS[:5], ids=lambda config: config.method)
def test_generate_with_the_same_allowed_tokens_gives_the_same(config, kind) -> None:
    """`prefix_allowed_tokens_fn` is transformers' own way to constrain a text."""
    if isinstance(config, Sampling) and config.draw != "multinomial":
        config = replace(config, draw="multinomial")
    model = random_language_model(kind)
    for constraint in (DATE, YES, LIST):
        trace = collect(model, "the fox had", _with(config, constraint))
        outcomes = {outcome.name: outcome.passed for outcome in check(trace, model)}
        name = SAME_HYPOTHESES if isinstance(config, BeamSearch) else "generate_tokens"
        assert outcomes[name], constraint
        free = _with(config, Constraint("regex", "[^0-9y]{3}x"))
        answer = model.reference_token_ids(trace.prompt_ids, free)
        paths = model.reference_paths(trace.prompt_ids, free)
        assert (answer or paths[0].token_ids) != trace.token_ids


def test_speculation_at_temperature_0_emits_what_greedy_decoding_does() -> None:
    target, draft = load_model("embedded:target"), load_model("embedded:draft")
    for constraint in (NAME, DATE, YES, LIST):
        greedy = collect(target, "The fox", _with(Greedy(max_new_tokens=25), constraint))
        for drafter in ("model", "prompt_lookup"):
            config = Speculative(
                max_new_tokens=25, drafter=drafter, shaping=Shaping(temperature=0.0)
            )
            run = collect(
                target,
                "The fox",
                _with(config, constraint),
                draft=draft if drafter == "model" else None,
            )
            assert run.token_ids == greedy.token_ids


def test_a_forged_token_outside_the_mask_and_another_constraint_are_found() -> None:
    model = load_model("embedded:target")
    honest = collect(model, "The fox", _with(CONFIGS[1], DATE))
    assert failed(honest, model) == set()
    step = honest.token_steps[2]
    wanted = next(c for c in step.candidates if c.removed_by == "constraint")
    steps = [
        replace(one, token_id=wanted.token_id, text=wanted.text) if one is step else one
        for one in honest.steps
    ]
    ids = (*honest.token_ids[:2], wanted.token_id, *honest.token_ids[3:])
    forged = replace(honest, steps=tuple(steps), token_ids=ids)
    assert "tokens_of_draws" in failed(forged)
    for other in (None, YES, Constraint("regex", "[0-9]{4}.[0-9]{2}")):
        assert failed(with_shaping(honest, constraint=other), model)
    beam = collect(model, "The fox", _with(CONFIGS[3], DATE))
    assert failed(with_shaping(beam, constraint=YES), model)


def test_a_run_that_let_a_token_pass_is_found_though_its_numbers_agree(monkeypatch) -> None:
    model = load_model("embedded:target")
    for config in (CONFIGS[0], CONFIGS[1], CONFIGS[3], CONFIGS[6]):
        with monkeypatch.context() as patch:
            patch.setattr(Grammar, "allowed", lambda _, size: torch.ones(size, dtype=torch.bool))
            patch.setattr(Grammar, "left", False)
            forged = collect(model, "The fox", _with(replace(config, max_new_tokens=6), DATE))
        # Without the model the text alone tells.
        beam = isinstance(config, BeamSearch)
        assert failed(forged) == {"hypotheses_of_steps" if beam else "finish_reason"}
        assert verdict(check(forged, model)) == "failed"


def test_bans_give_way_and_a_note_says_so() -> None:
    model = load_model("embedded:target")
    for config in (Greedy(), Sampling(seed=1), BeamSearch(num_beams=2), Speculative(seed=1)):
        draft = load_model("embedded:draft") if _drafts(config) else None
        long = _with(replace(config, max_new_tokens=20, min_new_tokens=12), YES)
        trace = collect(model, "Say", long, draft=draft)
        assert trace.text in YES.choices
        last = len(trace.token_ids)
        words = (
            f"A setting gave way at token {last}, where it would have left no token: the minimum "
            "of new tokens."
        )
        assert [(note.key, note.words) for note in trace.notes if note.key == GAVE_WAY] == [
            (GAVE_WAY, words)
        ]
        assert verdict(check(trace, model, draft)) == "proved"
    again = Greedy(max_new_tokens=20, shaping=Shaping(no_repeat_ngram_size=1))
    trace = collect(model, "Say", _with(again, Constraint("regex", "x{9}")))
    assert trace.text == "x" * 9
    assert [note.words for note in trace.notes] == [
        "A setting gave way at token 2, where it would have left no token: no repeated n-gram."
    ]
    assert verdict(check(trace, model)) == "proved"


def test_a_given_token_that_is_not_allowed_ends_the_constraint() -> None:
    model = load_model("embedded:target")
    given = model.encode(" the")
    trace = collect(model, "Say", _with(Greedy(max_new_tokens=6), DATE), given=given)
    assert [note.key for note in trace.notes] == [CONSTRAINT_LEFT]
    assert trace.notes[0].words == (
        "Token 1 doesn't keep to the constraint, which acts no more from there on."
    )
    assert all(step.stages[1].removed_mass == 0 for step in trace.token_steps[1:])
    assert verdict(check(trace, model)) == "proved"


def _certain(tokens: list[str], rows: list[list[float]]) -> ScriptedModel:
    return ScriptedModel(lambda ids: rows[len(ids) - 1], tokens=tokens)


def test_a_dead_end_leaves_the_end_of_the_text_alone() -> None:
    """The vocabulary can't spell "x"; the model gives "b" no probability."""
    for pattern, rows, ids in (
        ("ax", [[0.2, 0.5, 0.3]] * 3, (1, 0)),
        ("ab|a?x", [[0.2, 0.5, 0.3], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]], (1, 0)),
    ):
        model = _certain(["<end>", "a", "b"], rows)
        trace = collect(model, "a", _with(Greedy(max_new_tokens=3), Constraint("regex", pattern)))
        assert (trace.token_ids, trace.finish_reason) == (ids, "eos"), pattern
        assert [note.key for note in trace.notes] == [CONSTRAINT_LEFT]
        assert f"dead end at token {len(ids)}" in trace.notes[0].words
        assert verdict(check(trace, model)) == "proved"


def test_a_model_without_an_end_goes_on_freely_after_the_constraint() -> None:
    model = ScriptedModel({(): [0.6, 0.4]}, tokens=["a", "b"], eos=None)
    trace = collect(model, "a", _with(Greedy(max_new_tokens=4), Constraint("regex", "bb")))
    assert trace.text == "bbaa"
    assert [note.key for note in trace.notes] == [CONSTRAINT_LEFT]
    assert verdict(check(trace, model)) == "proved"


def test_masked_diffusion_refuses_it() -> None:
    with pytest.raises(ConfigError, match="fills positions in any order: switch it off"):
        Diffusion(shaping=Shaping(constraint=YES))


def test_a_grammar_beyond_the_bounds_is_refused_before_the_run() -> None:
    model = load_model("embedded:target")
    huge = Constraint("regex", ".*" * 2_000 + "x")
    with pytest.raises(ConfigError, match="too large for llguidance") as told:
        collect(model, "Say", _with(Greedy(), huge))
    assert told.value.setting == "constraint"


@pytest.mark.parametrize(
    ("kind", "text"),
    [("regex", r"[^\s\S]"), ("lark", "start: start")],
)
def test_a_constraint_without_a_text_is_refused_before_the_run(kind, text) -> None:
    with pytest.raises(ConfigError, match="No token can begin") as told:
        collect(load_model("embedded:target"), "Say", _with(Greedy(), Constraint(kind, text)))
    assert told.value.setting == "constraint"


@pytest.mark.parametrize("pattern", ["a{1000000}", "(.{0,4000}){4000}x"])
def test_a_reached_bound_is_a_dead_end_and_the_same_each_time(pattern) -> None:
    model = load_model("embedded:target")
    config = _with(Sampling(max_new_tokens=80, seed=1), Constraint("regex", pattern))
    trace = collect(model, "Say", config)
    assert trace.finish_reason == "eos"
    assert len(trace.token_ids) < 80
    assert [note.key for note in trace.notes] == [CONSTRAINT_LEFT]
    assert f"dead end at token {len(trace.token_ids)}" in trace.notes[0].words
    assert collect(model, "Say", config).token_ids == trace.token_ids
    assert verdict(check(trace, model)) == "proved"


def test_the_thinking_is_free_and_the_answer_is_not() -> None:
    model = load_model("embedded:target")
    trace = collect(model, "2 and 3", _with(Reasoning(max_thinking_tokens=12), DATE))
    for step in trace.token_steps:
        names = {stage.name for stage in step.stages}
        assert ("constraint" in names) == (step.phase == "answer" and step.draw.method != "forced")
    said = "".join(step.text for step in trace.token_steps if step.phase == "answer")
    assert re.fullmatch(PATTERNS[DATE], said)


def test_a_run_s_rows_and_its_distributions_are_the_same() -> None:
    """Beams and speculation shape many rows at once; other methods one at a time."""
    from core.decoding.autoregressive.engine import shaper_of

    model = load_model("embedded:target")
    config = _with(Sampling(), NAME)
    text = model.encode('{"name": "A", "old": true}')
    prompt = model.encode("Say")
    ids = [[*prompt, *text[:at]] for at in range(len(text))]
    logits = torch.randn(len(ids), model.vocab_size, generator=torch.Generator().manual_seed(0))
    rows = shaper_of(model, config).rows(logits, ids, range(len(ids)))
    for at in range(len(ids))[::-1]:
        last = shaper_of(model, config).distributions(logits[at], ids[at], at)[-1]
        every = torch.arange(model.vocab_size)
        alone = torch.tensor(last.log_probs_of(every))
        assert torch.equal(alone > -torch.inf, rows[at] > -torch.inf)
        assert int((rows[at] > -torch.inf).sum()) < model.vocab_size


def test_only_special_tokens_that_the_grammar_takes_are_allowed() -> None:
    """After a regular expression llguidance's mask has all of them, the end of the text too."""
    model = load_model("embedded:target")
    grammar = grammars_of(model).start(Constraint("lark", "start: /[a-z]*/ <[3]> /a+/"))
    special = [token for token in range(model.vocab_size) if not model.token_bytes(token)]
    ids = list[int]()
    for token in (*model.encode("the"), 3, *model.encode("a")):
        allowed = grammar.allowed(model.vocab_size)
        assert [at for at in special if allowed[at]] == ([3] if 3 not in ids else [])
        ids.append(token)
        grammar.read(ids)
    assert [at for at in special if grammar.allowed(model.vocab_size)[at]] == sorted(model.eos_ids)
    # With a bias that favours a special token, which no text of the rule holds.
    bias = Shaping(logit_bias={5: 100.0}, constraint=Constraint("lark", "start: /[a-z]*/ <[3]>"))
    trace = collect(model, "Say", Sampling(max_new_tokens=8, seed=1, shaping=bias))
    assert 5 not in trace.token_ids
    assert CONSTRAINT_LEFT not in [note.key for note in trace.notes]


@pytest.mark.parametrize("constraint", [NAME, DATE, YES, LIST], ids=lambda value: value.kind)
def test_a_forged_constraint_is_found_without_the_model(constraint) -> None:
    model = load_model("embedded:target")
    trace = collect(model, "Say", _with(Sampling(max_new_tokens=60, seed=3), constraint))
    assert trace.finish_reason == "eos" and not failed(trace)
    for other in (
        Constraint("choice", "perhaps"),
        Constraint("regex", "x+"),
        NAME,
        DATE,
        YES,
        LIST,
    ):
        if other != constraint:
            forged = replace(trace, config=_with(trace.config, other))
            assert "finish_reason" in failed(forged)


@pytest.mark.parametrize(
    "config",
    [Greedy(max_new_tokens=3), BeamSearch(max_new_tokens=3, num_beams=2), CONFIGS[6]],
    ids=lambda config: config.method,
)
def test_a_text_that_ended_at_the_limit_must_begin_one_of_the_constraint(config) -> None:
    model = load_model("embedded:target")
    digits, letters = Constraint("regex", "[0-9]{4,9}"), Constraint("regex", "[a-z]{4}")
    limited = _with(replace(config, max_new_tokens=3), digits)
    trace = collect(model, "The answer is", limited)
    assert trace.finish_reason == "length" and trace.text.strip("0123456789") == ""
    assert not failed(trace)
    for other in (letters, Constraint("choice", "yes\nno"), NAME):
        assert failed(with_shaping(trace, constraint=other))
    assert not failed(with_shaping(trace, constraint=Constraint("regex", "[0-9a-z]{40}")))


def test_a_regex_of_letters_over_a_finished_number_is_found_without_the_model() -> None:
    model = load_model("embedded:target")
    number = Constraint("regex", "[0-9]{4}")
    trace = collect(model, "The answer is", _with(Sampling(max_new_tokens=8, seed=1), number))
    assert re.fullmatch("[0-9]{4}", trace.text) and trace.finish_reason == "eos"
    assert not failed(trace)
    forged = with_shaping(trace, constraint=Constraint("regex", "[a-z]{4}"))
    assert failed(forged) == {"finish_reason"}


@pytest.mark.parametrize(
    "config",
    [Sampling(max_new_tokens=8, seed=1), BeamSearch(max_new_tokens=8, num_beams=2), CONFIGS[6]],
    ids=lambda config: config.method,
)
@pytest.mark.parametrize("other", ["[a-z]{4}", "[0-9]{4}[a-z]+", "7?[a-z]+"])
def test_a_note_alone_makes_no_text_one_of_the_constraint(config, other) -> None:
    model = load_model("embedded:target")
    number = replace(config, max_new_tokens=8)
    trace = collect(model, "The answer is", _with(number, Constraint("regex", "[0-9]{4}|[0-9]+x")))
    left = Note(CONSTRAINT_LEFT, "Token 1 doesn't keep to the constraint.")
    forged = with_shaping(trace, constraint=Constraint("regex", other))
    forged = replace(forged, notes=(*trace.notes, left))
    assert not failed(trace)
    if other != "[0-9]{4}[a-z]+":
        assert failed(forged)
    elif not failed(forged):
        # The file can't tell it from a dead end, and says so.
        assert "the dead end of the constraint" in unchecked_words(forged, check(forged))
    assert "the dead end" not in unchecked_words(trace, check(trace))


def test_a_note_is_right_where_a_given_token_breaks_the_constraint_later() -> None:
    model = load_model("embedded:target")
    pattern = Constraint("regex", "[0-9]{4} [a-z]+ and")
    run = collect(model, "Once upon", _with(Sampling(max_new_tokens=12, seed=1), pattern))
    other = branch(model, run, 2, model.encode("x"))
    assert [note.key for note in other.notes] == [CONSTRAINT_LEFT] and not failed(other)
    unmarked = replace(other, notes=())
    assert failed(unmarked) == {"finish_reason"}
    drawn = tuple(
        replace(step, origin="sampled") if step is other.token_steps[2] else step
        for step in other.steps
    )
    assert "finish_reason" in failed(replace(other, steps=drawn))
