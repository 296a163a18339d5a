"""A trace as HTML for a notebook's cell."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from core import check, read_trace

TRACES = Path(__file__).parents[2] / "assets" / "traces"
TAGS = re.compile(r"<style>.*?</style>|<[^>]*>")


@pytest.mark.parametrize("name", ["beam", "compare", "decode", "speculative"])
def test_it_shows_prompt_text_settings_and_checks(name: str) -> None:
    trace = read_trace(TRACES / f"{name}.json")
    words = unescape(TAGS.sub("", trace._repr_html_())).replace("⏎", "")
    assert words.startswith(f"{trace.prompt}{trace.text[:20]}")
    assert f"embedded:target · {trace.config.method}" in words
    proved = trace.with_checks(tuple(check(trace)))
    assert (
        f"Consistent: {len(proved.checks)} of {len(proved.checks)} checks" in proved._repr_html_()
    )


def test_a_label_names_each_token_s_probability() -> None:
    html = read_trace(TRACES / "decode.json")._repr_html_()
    assert 'title="Step 6: ␣girl, probability 8.0 %, rank 5"' in html.replace("\xa0", " ")


def test_untrusted_text_is_escaped() -> None:
    trace = read_trace(TRACES / "decode.json")
    hostile = "<script>alert(1)</script>\"'&"
    step = trace.token_steps[0]
    candidates = tuple(
        one._replace(text=hostile) if one.token_id == step.token_id else one
        for one in step.candidates
    )
    steps = tuple(
        replace(each, text=hostile, candidates=candidates) if each is step else each
        for each in trace.steps
    )
    html = replace(trace, prompt=hostile, rendered_prompt=hostile, steps=steps)._repr_html_()
    assert "<script" not in html and html.count("&lt;script&gt;") >= 3
    for title in re.findall(r'title="([^"]*)"', html):
        assert "<" not in title
