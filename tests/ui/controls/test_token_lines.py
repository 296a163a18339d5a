"""Lists of tokens on Decode, and what DRY's penalty says there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core import ConfigError, Greedy, Sampling, Shaping, collect, load_model
from core.decoding.lab.step import lab_step, read_step_logits
from core.decoding.shaping import stage as stage_of_shaping
from core.decoding.shaping.orders import LLAMA_CPP
from core.decoding.shaping.repeats import Repeat
from core.models.scripted import ScriptedModel
from pages.ui.decode import controls, lines, notice
from pages.ui.decode.methods import repeats
from pages.ui.lab import controls as lab_controls
from pages.ui.lab.page import _outcome
from pages.ui.lab.state import Lab
from pages.ui.run import shared
from pages.ui.run.figures.token_strip import tokens_of
from pages.ui.widgets.controls.control import defaults
from pages.ui.widgets.controls.knob import FILTER_KEYS
from tests.figures.traces import make_trace
from tests.ui.conftest import Open
from tests.ui.pages.test_decode_page import PROMPT, run, scripted, view_of  # noqa: F401
from tests.ui.seen import texts


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_TOKENS", {})
    monkeypatch.setattr(lines, "_SEQUENCES", {})


@pytest.mark.usefixtures("scripted")
def test_the_loaded_model_looks_up_texts_and_sequences_at_run(open_app: Open) -> None:
    app = open_app(
        prompt=PROMPT, method="sampling", tokens="4", bad_words=" sat sat\n#5 #4\n#6",
        suppress_tokens=" cat\n#3", begin_suppress_tokens="#5",
    )  # fmt: skip
    trace = view_of(run(app)).trace
    assert trace is not None
    shaping = trace.config.shaping
    assert shaping.bad_words == ((4, 4), (5, 4), (6,))
    assert shaping.suppress_tokens == (2, 3) and shaping.begin_suppress_tokens == (5,)
    assert shaping.dry_sequence_breakers == Shaping().dry_sequence_breakers


@pytest.mark.usefixtures("scripted")
def test_a_text_that_the_model_has_no_tokens_for_gets_a_sentence(open_app: Open) -> None:
    app = run(open_app(prompt=PROMPT, bad_words="zebra"))
    assert "No token fits at 'zebra'" in texts(app) and not app.exception


def test_a_file_s_lists_go_back_into_the_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    values = defaults()
    shaping = Shaping(
        bad_words=[[5, 7], [3]], suppress_tokens=[8], dry_multiplier=1.0,
        dry_sequence_breakers=["\n", "x"],
    )  # fmt: skip
    monkeypatch.setattr(controls, "load", values.update)
    controls.load_controls(make_trace(shaping=shaping))
    assert values["bad_words"] == "#3\n#5 #7" and values["suppress_tokens"] == "#8"
    assert values["dry_sequence_breakers"] == "\\n\nx"
    assert controls.config(values.__getitem__).shaping == shaping


TOKENS = ("<end>", " a", " b", " c", " d")


def test_the_repeat_that_dry_finds_is_named_and_marked() -> None:
    model = ScriptedModel({(): [0.0, 0.1, 0.2, 0.3, 0.4]}, tokens=TOKENS, eos=None)
    config = Sampling(max_new_tokens=2, seed=1, shaping=Shaping(dry_multiplier=1.0))
    trace = collect(model, [1, 2, 3, 4, 1, 2], config)
    step = trace.token_steps[0]
    assert repeats.found(trace, step) == {3: Repeat(2, 2)}
    words = notice.words(trace, step)
    assert "DRY lowers 1 token that would continue a repeat." in words
    assert "2 tokens of the text stand already at the prompt's tokens 1 to 2" in words
    # 1.0 * 1.75 ** (2 - 2).
    assert "The model's rank 2 loses most, 1 of its logit." in notice.words(trace, step)
    assert repeats.lowered(trace, step) == "DRY lowers the logit of “␣c”: by 1 × 1.75^(2 − 2) = 1."
    plain = collect(model, [1, 2, 3, 4, 1, 2], Greedy(max_new_tokens=2))
    assert repeats.found(plain, plain.token_steps[0]) == {}
    assert "DRY" not in notice.words(plain, plain.token_steps[0])


def test_the_token_that_dry_lowers_is_named_though_it_is_no_candidate() -> None:
    model = load_model("embedded:target")
    shaping = Shaping(dry_multiplier=2.0)
    prompt = "Once upon a time there was a cat. Once upon a time there was a"
    config = Sampling(max_new_tokens=1, seed=1, shaping=shaping, top_candidates=1)
    trace = collect(model, prompt, config)
    step = trace.token_steps[0]
    ((token, repeat),) = repeats.found(trace, step).items()
    assert model.token_text(token) == " cat" and repeat.length == 7
    assert token not in [candidate.token_id for candidate in step.candidates]
    # 2 * 1.75 ** (7 - 2) = 32.826171875
    assert (
        repeats.lowered(trace, step)
        == "DRY lowers the logit of “␣cat”: by 2 × 1.75^(7 − 2) = 32.8."
    )


def test_the_ranking_that_greedy_follows_is_the_one_after_bans() -> None:
    model = ScriptedModel({(): [0.0, 0.1, 0.2, 0.3, 0.4]}, tokens=TOKENS, eos=None)
    shaping = Shaping(suppress_tokens=(4,))

    def words(config: Greedy | Sampling) -> str:
        trace = collect(model, [1], config)
        return notice.words(trace, trace.token_steps[0])

    assert "the model's rank 2, with 30.0 % in the model and 50.0 % after" in words(
        Greedy(max_new_tokens=1, shaping=shaping)
    )
    drawn = {words(Sampling(max_new_tokens=1, seed=seed, shaping=shaping)) for seed in range(12)}
    assert any("rank 2: 30.0 % in the model, 50.0 % in the final" in one for one in drawn)
    assert any("Greedy decoding would have taken rank 2." in one for one in drawn)
    assert not any("taken rank 1" in one for one in drawn)


def test_the_strip_marks_the_generated_part_of_the_stretch() -> None:
    from core.figures.base.theme import LIGHT

    model = ScriptedModel({(): [0.0, 0.1, 0.2, 0.3, 0.4]}, tokens=TOKENS, eos=None)
    given = [1, 2, 3, 1, 2, 4]
    config = Sampling(max_new_tokens=6, shaping=Shaping(dry_multiplier=1.0))
    from core.decoding.decode import collect as collect_given

    trace = collect_given(model, [4], config, given=given)
    step = trace.token_steps[5]
    assert repeats.steps(trace, step) == [0, 1]
    tokens = tokens_of(trace, LIGHT, "probability", repeated=repeats.steps(trace, step))
    assert ["repeated" in token[3].split() for token in tokens] == [True, True, *[False] * 4]


def test_the_strip_marks_the_prompt_s_part_of_the_stretch() -> None:
    model = ScriptedModel({(): [0.0, 0.1, 0.2, 0.3, 0.4]}, tokens=TOKENS, eos=None)
    config = Sampling(max_new_tokens=3, shaping=Shaping(dry_multiplier=1.0))
    trace = collect(model, [4, 1, 2, 3, 1, 2], config)
    step, rest = trace.token_steps[0], "".join(TOKENS[at] for at in (1, 2, 3, 1, 2))
    assert list(repeats.stretch(trace, step)) == [1, 2]
    after = "".join(TOKENS[at] for at in (3, 1, 2))
    assert repeats.prompt_span(trace, step) == (len(rest), len(after))
    assert repeats.prompt_span(replace(trace, prompt="other", rendered_prompt=""), step) is None


def test_the_lab_says_what_mirostat_leaves_out() -> None:
    model = load_model("embedded:target")
    shaping = Shaping(mirostat=2, top_k=40, eta_cutoff=0.1)
    step = lab_step(
        read_step_logits(model, model.encode("Once upon a time")),
        Sampling(shaping=shaping),
        LLAMA_CPP,
    )
    said = _outcome(Lab(), step)
    assert "llama.cpp has no eta cutoff: left out" in said
    assert "with mirostat llama.cpp leaves out top-k" in said


def test_the_lab_takes_the_lists_too_and_a_text_that_a_run_looked_up(monkeypatch) -> None:
    held = {**defaults(), "suppress_tokens": "#3", "bad_words": "#5 #4\n x", "dry_multiplier": 1.0}
    with pytest.raises(ConfigError, match="Press Run on Decode, or name it as #id"):
        lab_controls.settings(held.__getitem__)
    monkeypatch.setitem(lines._SEQUENCES, (shared.model(), " x"), [9, 8])
    shaping = lab_controls.settings(held.__getitem__).config.shaping
    assert (shaping.suppress_tokens, shaping.bad_words) == ((3,), ((5, 4), (9, 8)))
    model = load_model("embedded:target")
    read = read_step_logits(model, model.encode("Once upon a time"))
    step = lab_step(read, Sampling(shaping=shaping))
    assert [stage.name for stage in step.step.stages][1:4] == [
        "dry_multiplier",
        "bad_words",
        "suppress_tokens",
    ]


def test_a_method_that_refuses_a_state_offers_no_knob_for_it() -> None:
    assert "top_k" in FILTER_KEYS and "xtc_threshold" in FILTER_KEYS
    assert not {"mirostat", "mirostat_tau", "mirostat_eta", "adaptive_target"} & {*FILTER_KEYS}


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (0.2, "XTC removed ranks 1, 2, 70.0 % together: its number 0.2000"),
        (0.7, "XTC didn't act: its number 0.7000 isn't below"),
    ],
)
def test_the_notes_say_what_xtc_removed_and_why(number: float, said: str, monkeypatch) -> None:
    monkeypatch.setattr(stage_of_shaping, "named_uniform", lambda *_: number)
    probs = [0.05, 0.4, 0.3, 0.2, 0.05]
    model = ScriptedModel({(): probs}, tokens=["<end>", "a", "b", "c", "d"])
    shaping = Shaping(xtc_probability=0.5, xtc_threshold=0.1)
    trace = collect(model, [1], Sampling(max_new_tokens=1, shaping=shaping))
    step = trace.token_steps[0]
    words = notice.words(trace, step)
    assert said in words
    assert ("reach 10.0 % only the least likely stays" in words) == (number < 0.5)


def test_the_notes_say_that_a_sure_token_was_removed() -> None:
    """A constraint had removed it, and the notes said that hardly any setting changes it."""
    model = ScriptedModel({(): [0.01, 0.97, 0.02]}, tokens=["<end>", "a", "b"])
    shaping = Shaping(suppress_tokens=(1,))
    trace = collect(model, [1], Sampling(max_new_tokens=1, shaping=shaping))
    words = notice.words(trace, trace.token_steps[0])
    assert "One token has 97.0 % in the model; it is removed by suppress tokens." in words
    free = collect(model, [1], Sampling(max_new_tokens=1))
    assert "hardly any setting changes it" in notice.words(free, free.token_steps[0])
