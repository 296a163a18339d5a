"""Window of guesses that lookahead decoding reads beside its drafts, and its new predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from ....decoding.counting import counted, nth, span_key
from ....decoding.record.trace import Trace
from ....decoding.speculative.config import Speculative
from ....decoding.speculative.lookahead.window import is_full, places
from ....decoding.speculative.types import DraftRound
from ....language import N_, tr
from ...base.axes import axis, top_axis
from ...base.figure import TableRows, figure, table
from ...base.labels import escaped, lines, settings_caption, table_text, visible_token
from ...base.marks import add_line, overlaid, token_cells
from ...base.measure import fitted
from ...base.paper import SCREEN, SMALL, Paper
from ...base.records import texts_in
from ...base.sheet import Sheet
from ...base.theme import LIGHT, Theme
from ..words import pending_of, soft_color

_LEFT, _RIGHT, _WIDTH, _HEIGHT = 84, 12, 0.9, 0.84
# Height of a row in px, of one with vertical tokens too; least room for a horizontal token.
_ROW, _UPRIGHT_ROW, _LEAST_ROOM = 34, 58, 40


class _Guess(NamedTuple):
    """A token of the window; `position` 0 is the last emitted token, `parent` its place, or -1."""

    level: int
    position: int
    parent: int
    token_id: int
    text: str
    predicted: bool


def _guesses(trace: Trace, at: int) -> list[_Guess]:
    """Return the last emitted token, the guesses level by level, and the new predictions."""
    window, text_of = trace.rounds[at].window, texts_in(trace)
    if window is None:
        return []
    pending, text = pending_of(trace, at)
    guesses = [_Guess(0, 0, -1, pending, text, predicted=False)]
    found = iter(places(window.levels))
    for level, tokens in enumerate(window.levels, 1):
        for token_id, (position, parent) in zip(tokens, found, strict=False):
            text = _text(text_of, token_id)
            guesses.append(_Guess(level, position + 1, parent + 1, token_id, text, predicted=False))
    last, level = len(window.predicted), len(window.levels) + 1
    for parent, token_id in enumerate(window.predicted, len(guesses) - last):
        position, text = guesses[parent].position + 1, _text(text_of, token_id)
        guesses.append(_Guess(level, position, parent, token_id, text, predicted=True))
    return guesses


def _text(text_of: Callable[[int], str], token_id: int) -> str:
    return text_of(token_id) or f"#{token_id}"


@table("round level position token_id token predicted after")
def spec_window_data(trace: Trace, at: int) -> TableRows:
    """Return a row for each token of a round's window; level 0 is the last emitted token, and
    `after` is the row, from 1, of the token that it follows. A text that no step names is `#id`.
    """
    for guess in _guesses(trace, at) if 0 <= at < len(trace.rounds) else ():
        yield (
            *(nth(at), guess.level, guess.position, guess.token_id, table_text(guess.text)),
            *(guess.predicted, nth(guess.parent)),
        )


def _state(trace: Trace, step: DraftRound) -> str:
    """Return a sentence on the n-grams that the round gathers."""
    config, window = trace.require(Speculative).config, step.window
    if window is None:
        return ""
    if is_full(window.levels, config):
        return tr(
            "Each diagonal is an n-gram of {length} tokens: {ngrams} join the pool, from which "
            "later rounds draft.",
            length=config.draft_length + 1,
            ngrams=counted(len(window.predicted), "n-gram"),
        )
    return tr(
        "The window has {have} of {levels} levels: the predictions become its next one.",
        have=len(window.levels),
        levels=config.draft_length,
    )


@figure(
    N_("The window of lookahead"),
    settings_caption,
    spec_window_data,
    subtitle=lambda trace, step: (
        tr(
            "The forward that verifies the drafts also reads these guesses. A column is a position "
            "after the last token."
        ),
        _state(trace, step),
    ),
    alt=lambda trace, step, at: (
        tr(
            "Window of round {round}: {guesses} in {levels}, and {predicted} of the target.",
            round=nth(at),
            guesses=counted(step.window.size, "guessed token"),
            levels=counted(len(step.window.levels), "level"),
            predicted=counted(len(step.window.predicted), "prediction"),
        ),
        _state(trace, step),
    ),
    key=lambda theme: [
        [
            (theme.rest, tr("last emitted token")),
            (theme.panel, tr("guess")),
            (soft_color("accepted", theme), tr("the target's prediction")),
        ]
    ],
)
def spec_window(
    trace: Trace, at: int, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw the guesses of round `at`: levels down, positions across."""
    if not 0 <= at < len(trace.rounds) or trace.rounds[at].window is None:
        return tr("This round read no window of guesses.")
    guesses, step = _guesses(trace, at), trace.rounds[at]
    columns = max(guess.position for guess in guesses) + 1
    rows = max(guess.level for guess in guesses) + 1
    room = (paper.width - _LEFT - _RIGHT) / columns * _WIDTH - 6
    upright = room < _LEAST_ROOM
    row_height = _UPRIGHT_ROW if upright else _ROW
    sheet = Sheet(
        theme,
        paper,
        facts={"trace": trace, "step": step, "at": at},
        meta={"shown": [span_key("round", at)]},
        plot_height=row_height * rows,
        left=_LEFT,
        right=_RIGHT,
        above=24,
        below=34,
        key_offset=10,
    )
    for guess in guesses[1:]:
        before = guesses[guess.parent]
        if guess.level > 1 or guess.parent == 0:
            add_line(
                sheet, "follows", (before.position, guess.position), (before.level, guess.level),
                theme.muted, 1, layer="below",
            )  # fmt: skip
    room = _HEIGHT * row_height - 8 if upright else room
    sheet.traces = list(_cells(guesses, at, room, theme, upright=upright))
    levels = [tr("last token"), *(tr("level {level}", level=level) for level in range(1, rows - 1))]
    sheet.layout |= overlaid(SMALL) | {
        "xaxis": top_axis(
            theme, [-0.5, columns - 0.5], [*range(columns)], [*map(str, range(columns))]
        ),
        "yaxis": axis(
            theme,
            range=[rows - 0.5, -0.5],
            showgrid=False,
            showline=False,
            tickmode="array",
            tickvals=[*range(rows)],
            ticktext=[f"{label} " for label in (*levels, tr("predicted"))],
        ),
    }
    return sheet


def _cells(
    guesses: list[_Guess], at: int, room: float, theme: Theme, *, upright: bool
) -> Iterator[dict[str, object]]:
    groups: dict[str, tuple[str, list[_Guess]]] = {
        N_("last emitted token"): (theme.rest, guesses[:1]),
        N_("guess"): (theme.panel, [each for each in guesses[1:] if not each.predicted]),
        N_("the target's prediction"): (
            soft_color("accepted", theme),
            [each for each in guesses if each.predicted],
        ),
    }
    for name, (color, group) in groups.items():
        yield token_cells(
            theme,
            name,
            [(each.position, each.level - _HEIGHT / 2) for each in group],
            [escaped(fitted(visible_token(each.text, 60), room, 11, "mono")) for each in group],
            [
                lines(
                    f"<b>{escaped(visible_token(each.text, 40))}</b>",
                    tr("round {round} · {kind}", round=nth(at), kind=tr(name)),
                    f"id {each.token_id}",
                )
                for each in group
            ],
            color,
            theme.text_on(color),
            width=_WIDTH,
            heights=[_HEIGHT] * len(group),
            size=11,
            textangle=-90 if upright else 0,
        )
