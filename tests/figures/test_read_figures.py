"""Figures of a text that was read: a word along it, and the text beside the model's own."""

from __future__ import annotations

import json
import math

import pytest

from core import figures
from core.decoding.beam.config import BeamSearch
from core.decoding.reading.read import own_text, read_text
from core.decoding.reading.types import text_tokens
from core.decoding.reading.word import follow_word
from core.figures.read.lines import TokenLine
from core.models.scripted import END, ScriptedModel

TOKENS = (END, "a", " b", "b", "<i>")
SCRIPT = {(): [0.0, 0.5, 0.2, 0.1, 0.2], (1,): [0.0, 0.1, 0.6, 0.2, 0.1]}


def model() -> ScriptedModel:
    return ScriptedModel(SCRIPT, tokens=TOKENS)


def test_a_word_s_line_is_the_sum_of_its_spellings_and_marks_the_text_s_own() -> None:
    trace = read_text(model(), "aa b<i>")
    word = follow_word(model(), trace, "b")
    assert word is not None
    # Before "a" and " b" stands an "a", before "<i>" stands " b".
    expected = [0.6 + 0.2, 0.6 + 0.2, 0.2 + 0.1]
    drawn = figures.word_line(word, trace)
    assert "of its spellings in tokens only the tokenizer's" in drawn.layout.meta["subtitle"]
    line, ring = drawn.data
    assert [10**y for y in line.y] == pytest.approx(expected)
    assert list(line.x) == [2, 3, 4] and list(ring.x) == [3]
    assert [key[0] for key in line.customdata] == [1, 2, 3]
    assert "<i>" not in line.hovertext[2].replace("&lt;i&gt;", "")
    table = figures.word_line_data(word, trace)
    assert list(table["probability"]) == pytest.approx(expected)
    assert list(table["text_has_it"]) == [False, True, False]
    assert list(table["ln_p_with_space"]) == pytest.approx([math.log(x) for x in (0.6, 0.6, 0.2)])
    assert list(table["ln_p_without_space"]) == pytest.approx(
        [math.log(x) for x in (0.2, 0.2, 0.1)]
    )


def test_a_probability_below_the_axis_is_an_open_mark_that_the_key_names() -> None:
    trace = read_text(model(), "aa b<i>")
    word = follow_word(model(), trace, "b")
    assert word is not None
    plain = figures.word_line(word, trace)
    low = word._replace(
        spellings=tuple(each._replace(logprobs=(-0.5, -30.0, -math.inf)) for each in word.spellings)
    )
    assert set(plain.data[0].marker.symbol) == {"circle"}
    assert "below" not in str(plain.layout.meta)
    drawn = figures.word_line(low, trace)
    line = drawn.data[0]
    assert list(line.marker.symbol) == ["circle", "triangle-down-open", "triangle-down-open"]
    assert list(line.y)[1:] == [-12, -12]
    shown = [note.text.replace("\xa0", " ") for note in drawn.layout.annotations]
    assert any("▽</span> below 1e−10 %" in text for text in shown)


def test_the_axis_of_probability_has_each_token_s_own_from_0_to_1() -> None:
    trace = read_text(model(), "aaba")
    own = own_text(model(), trace, 1, BeamSearch(max_new_tokens=3, num_beams=2))
    lines = [TokenLine("the text", tuple(text_tokens(trace)))]
    lines.append(TokenLine("the model's", tuple(text_tokens(own))))
    drawn = figures.surprisal_lines(lines, 1, quantity="probability")
    text, models = drawn.data
    assert list(text.y)[1:] == pytest.approx([0.1, 0.2, 0.5])
    # " b" after a, then a, then " b" again: the search's likeliest path.
    assert list(models.y)[1:] == pytest.approx([0.6, 0.5, 0.6])
    low, high = drawn.layout.yaxis.range
    assert low == 0 and 1 <= high < 1.1
    assert list(drawn.layout.yaxis.ticktext)[-1].startswith("100")
    assert "Mean probability after the opening" in json.dumps(drawn.to_plotly_json(), default=str)
    table = figures.surprisal_lines_data(lines, 1)
    assert table["probability"].iloc[1] == pytest.approx(0.1)
