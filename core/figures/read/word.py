"""Probability of a word along a text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...decoding.counting import nth
from ...decoding.reading.types import FollowedWord, WordSpelling
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.axes import MOST_TICKS, READ_TOKENS, power_axis, power_label, token_sheet
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    lines,
    percent,
    show_token,
    table_text,
    visible_token,
)
from ..base.marks import add_rings, add_selection, hover_texts
from ..base.paper import SCREEN, Paper
from ..base.sheet import Sheet
from ..base.theme import LIGHT, Theme
from .words import reading_caption

# Probabilities below this power of ten are drawn at it, with open marks.
_LEAST = -12


@table("position token_id token probability ln_p_with_space ln_p_without_space text_has_it spelled")
def word_line_data(word: FollowedWord, trace: Trace) -> TableRows:
    """One token of the text a row, with the word's probability before it; raw text."""
    first, has_it = nth(len(trace.prompt_ids)), set(word.places_in(trace.token_ids))
    by_space = {spelling.spaced: spelling.logprobs for spelling in word.spellings}
    nothing = (None,) * len(trace.token_steps)
    for at, (step, prob) in enumerate(zip(trace.token_steps, word.probs, strict=False)):
        yield (
            first + at,
            step.token_id,
            table_text(step.chosen.text),
            prob,
            by_space.get(True, nothing)[at],
            by_space.get(False, nothing)[at],
            at in has_it,
            table_text(_spelled(word, " or ")),
        )


@figure(
    N_("A word along the text"),
    reading_caption,
    word_line_data,
    subtitle=lambda shown: (
        tr(
            "Probability that the model goes on with “{word}” before each token: the "
            "product over its tokens, with and without a space before it, added.",
            word=shown,
        ),
        tr(
            "A longer word that begins so counts too; of its spellings in tokens "
            "only the tokenizer's."
        ),
    ),
    alt=lambda word, first, last, most: (
        tr(
            "Probability that the model goes on with {word}, before each of tokens "
            "{first} to {last} of the text.",
            word=visible_token(word.word, 24),
            first=first,
            last=last,
        ),
        tr("It is written as {spelled}.", spelled=_spelled(word, tr(" or "))),
        tr("Most: {most}.", most=most),
    ),
    key=lambda theme, shown, has_it, below: [
        [
            (theme.first, shown, "●"),
            below
            and (
                theme.first,
                tr(
                    "below {least}, drawn at this height",
                    least=power_label(_LEAST, percent=True),
                ),
                "▽",
            ),
            bool(has_it) and (theme.ink, tr("the text goes on with it"), "◇"),
        ]
    ],
)
def word_line(
    word: FollowedWord,
    trace: Trace,
    *,
    selected: int | None = None,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Probability of a word of one or more tokens before each token of a text, on a logarithmic
    axis.

    A click on a point hands over `customdata = [place, token id]`.
    """
    steps, probs = trace.token_steps, word.probs
    known = [(prob, at) for at, prob in enumerate(probs) if prob is not None]
    if not known:
        return tr("The text leaves no room for this word in the context window.")
    first = nth(len(trace.prompt_ids))
    heights = [None if prob is None else math.log10(max(prob, 10.0**_LEAST)) for prob in probs]
    highest, at = max(known, key=lambda pair: pair[0])
    has_it = [at for at in word.places_in(trace.token_ids) if heights[at] is not None]
    low = min(-1.0, *(height for height in heights if height is not None))
    sheet = token_sheet(
        theme,
        paper,
        [(first + step.index, step.chosen.text) for step in steps],
        power_axis(theme, tr("probability"), low, 0.0, percent=True),
        left=72,
        title=READ_TOKENS,
        facts={
            "first": first,
            "last": first + len(steps) - 1,
            "shown": show_token(word.word, 24),
            "most": tr(
                "{probability} before token {number}, {token}",
                probability=percent(highest),
                number=first + at,
                token=visible_token(steps[at].chosen.text, 24),
            ),
            "has_it": has_it,
            "below": any(_is_below(prob) for prob in probs),
        },
    )
    _add_line(sheet, word, trace, probs, heights)
    if has_it:
        add_rings(
            sheet, tr("in the text"), [first + at for at in has_it], [heights[at] for at in has_it]
        )
    if selected is not None and paper.selection:
        add_selection(sheet, first + selected)
    return sheet


def _add_line(
    sheet: Sheet,
    word: FollowedWord,
    trace: Trace,
    probs: Sequence[float | None],
    heights: Sequence[float | None],
) -> None:
    steps, color, before = trace.token_steps, sheet.theme.first, len(trace.prompt_ids)
    size = 7 if len(steps) <= 2 * MOST_TICKS else 4
    sheet.traces.append(
        {
            "type": "scatter",
            "name": show_token(word.word, 24),
            "mode": "lines+markers",
            "x": [sheet.facts["first"] + step.index for step in steps],
            "y": list(heights),
            "line": {"color": color, "width": 2},
            "marker": {
                "color": color,
                "size": [size + 2 if _is_below(prob) else size for prob in probs],
                "symbol": ["triangle-down-open" if _is_below(prob) else "circle" for prob in probs],
            },
            "customdata": [[before + step.index, step.token_id] for step in steps],
            **hover_texts([_hover(word, trace, at, prob) for at, prob in enumerate(probs)]),
            "cliponaxis": False,
        }
    )


def _is_below(prob: float | None) -> bool:
    return prob is not None and prob < 10.0**_LEAST


def _tokens_of(spelling: WordSpelling) -> str:
    return " + ".join(f"“{visible_token(text, 24)}”" for text in spelling.texts)


def _spelled(word: FollowedWord, separator: str) -> str:
    return separator.join(_tokens_of(spelling) for spelling in word.spellings)


def _hover(word: FollowedWord, trace: Trace, at: int, prob: float | None) -> str:
    step = trace.token_steps[at]
    return lines(
        f"<b>{show_token(word.word, 40)}</b>",
        tr(
            "before token {number}: {token}",
            number=nth(len(trace.prompt_ids)) + at,
            token=show_token(step.chosen.text, 30),
        ),
        prob is None and tr("no room in the context window"),
        prob is not None and tr("model {probability}", probability=percent(prob)),
        *(_hover_part(spelling, at) for spelling in word.spellings if prob is not None),
    )


def _hover_part(spelling: WordSpelling, at: int) -> str:
    prob = math.exp(spelling.logprobs[at] or 0.0)
    return f"{' + '.join(show_token(text, 16) for text in spelling.texts)}: {percent(prob)}"
