"""Tokens stay text, numbers stay readable, captions say what made the run."""

from dataclasses import replace

import pytest

from core.decoding.autoregressive.config import Greedy
from core.decoding.contrastive_decoding.config import ContrastiveDecoding
from core.decoding.reasoning.config import Reasoning
from core.decoding.shaping.config import Shaping
from core.figures import uncertainty
from core.figures.base.labels import (
    config_caption,
    exact_plain,
    milliseconds,
    percent,
    percent_ticks,
    safe_plain,
    settings_caption,
    show_token,
    text_columns,
    visible_token,
)
from tests.figures.traces import make_trace


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" the", "␣the"),
        ("\n\n", "↵↵"),
        ("\tx", "⇥x"),
        ("", "∅"),
        ("\x07", "\\x07"),
        ("\u202eevil", "\\u202eevil"),
        ("\u00a0", "\\xa0"),
        ("\u3000", "\\u3000"),
        ("\ud800", "\\ud800"),
        ("日本", "日本"),
        ("<E2><98>", "<E2><98>"),
        ("\u0301", "◌\u0301"),
    ],
)
def test_visible_token_shows_what_can_not_be_seen(text: str, shown: str):
    assert visible_token(text) == shown


def test_a_joined_emoji_stays_in_one_piece():
    assert visible_token("👩\u200d🚀") == "👩\u200d🚀"


def test_long_tokens_are_cut_by_columns():
    assert visible_token("abcdefgh", 5) == "abcd…"
    assert visible_token("abcde", 5) == "abcde"
    assert visible_token("日本語", 5) == "日本…"
    assert visible_token("x" * 1_000_000, 5) == "xxxx…"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("a&lt;", "a&amp;lt;"),
        ("\"'", "&#34;&#x27;"),
        ("$x$", "&#36;x&#36;"),
        ("%{meta.caption}", "&#37;{meta.caption}"),
        ("5%,{x}", "5%,{x}"),
    ],
)
def test_show_token_leaves_plotly_no_markup(text: str, shown: str):
    assert show_token(text) == shown


def test_an_entity_is_never_cut_in_half():
    assert show_token("<<<<<<", 4) == "&lt;&lt;&lt;…"


def test_safe_plain_holds_no_markup_and_can_be_undone():
    text = '<img src="x">` ‹ costs $5 ›'
    assert not set(safe_plain(text)) & set('<>"`$')
    assert exact_plain(safe_plain(text)) == text


@pytest.mark.parametrize(
    ("prob", "shown"),
    [
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.99996, "> 99.9 %"),
        (0.1234, "12.3 %"),
        (0.012, "1.2 %"),
        (0.0055, "0.55 %"),
        (0.00042, "0.042 %"),
        (0.0000123, "0.0012 %"),
        (1e-9, "< 0.0001 %"),
    ],
)
def test_percent_stays_readable_when_tiny(prob: float, shown: str):
    assert percent(prob).replace("\u00a0", " ") == shown


@pytest.mark.parametrize("top", [1.0, 0.88, 0.31, 0.02, 0.0007, 1e-9])
def test_percent_ticks_start_at_0_and_stay_below_the_top(top: float):
    ticks = percent_ticks(top)
    assert ticks["tickvals"][0] == 0
    assert 3 <= len(ticks["tickvals"]) <= 6
    assert ticks["tickvals"][-1] <= top * 1.001


def test_milliseconds_have_three_digits():
    shown = [milliseconds(value).replace("\u00a0", " ") for value in (0.00123, 0.0123, 1.234)]
    assert shown == ["1.23 ms", "12.3 ms", "1,234 ms"]


def test_caption_names_model_method_settings_and_seed():
    trace = make_trace(40, shaping=Shaping(temperature=0.8, top_p=0.9), seed=7)
    assert settings_caption(trace) == (
        "embedded:target · sampling · temperature 0.8 · top-p 0.9 · seed 7"
    )


def test_caption_says_that_tokens_are_drawn_at_which_temperature_and_keeps_words_words():
    assert config_caption("m", Reasoning(do_sample=True, ignore_end=1, wait_text=" Hm, wait")) == (
        "m · reasoning · temperature 1 · max thinking tokens 128 · ignore end 1 "
        "· wait text Hm, wait · drawn · seed 0"
    )


def test_caption_shows_a_line_break_as_its_sign_and_a_method_without_underscores():
    shaping = Shaping(guidance_scale=2.0, negative_prompt="a b\nc")
    assert "negative prompt “a b↵c”" in config_caption("m", Greedy(shaping=shaping))
    assert " · contrastive decoding · " in config_caption("m", ContrastiveDecoding())


def test_caption_leaves_out_what_does_not_act_in_greedy():
    trace = make_trace(40, "greedy", shaping=Shaping(temperature=0.8, repetition_penalty=1.2))
    assert settings_caption(trace) == "embedded:target · greedy · repetition penalty 1.2"


def test_caption_names_draw_cache_and_length_when_they_differ():
    trace = make_trace(5, draw="gumbel", shaping=Shaping(), use_cache=False, top_candidates=3)
    assert settings_caption(trace) == (
        "embedded:target · sampling · max new tokens 5 · cache off · draw gumbel · seed 7"
    )


def test_caption_shows_three_stop_strings_cut_and_counts_the_rest():
    stops = ("x" * 500, "\n", "日" * 30, *(f"stop {at}" for at in range(61)))
    trace = replace(make_trace(40), config=Greedy(stop_strings=stops))
    shown = f"stop strings “{'x' * 19}…”, “↵”, “{'日' * 9}…” and 61 more"
    assert settings_caption(trace) == f"embedded:target · greedy · {shown}"
    few = replace(trace, config=Greedy(stop_strings=("a", "b", "c")))
    assert settings_caption(few).endswith("stop strings “a”, “b”, “c”")


def test_a_caption_with_stop_strings_stays_inside_the_figure():
    stops = tuple("日本語" * 9 for _ in range(64))
    figure = uncertainty(replace(make_trace(40), config=Greedy(stop_strings=stops)))
    (caption,) = [a.text for a in figure.layout.annotations if a.name == "caption"]
    assert "61" in caption
    assert max(map(text_columns, caption.split("<br>"))) <= 66
