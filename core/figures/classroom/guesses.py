"""Guesses of a class for one question, as bars of shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...decoding.counting import counted
from ...language import N_, tr
from ..base.axes import PERCENT_TICKS, axis
from ..base.color import blend
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, escaped, lines, percentage, plain_name, table_text
from ..base.marks import hover_texts, label_bar
from ..base.measure import wrapped
from ..base.paper import SCREEN, Paper
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme

# Longest text of a question or choice that is drawn, characters.
_LONGEST = 200
# Width of a count at the right, height of a line of a name, of a bar and of the gap below it, px.
_COUNT, _LINE, _THICK, _GAP = 78, 15, 20, 16


@dataclass(frozen=True, slots=True)
class ClassGuesses:
    """Guesses of a class for one question.

    Args:
        of: the lesson and the place of the question, for the caption.
        question: text of the question.
        choices: texts of the answers.
        counts: number of pupils who chose each answer.
        pupils: number of pupils in the class.
        right: place of the right answer; None while it is hidden.
    """

    of: str
    question: str
    choices: tuple[str, ...]
    counts: tuple[int, ...]
    pupils: int
    right: int | None = None

    @property
    def total(self) -> int:
        """Number of guesses."""
        return sum(self.counts)

    def share(self, place: int) -> float:
        """Return the share of the guesses for an answer; 0 without a guess."""
        return self.counts[place] / self.total if self.total else 0.0


@table("choice guesses share right", whole="guesses")
def class_guesses_data(guesses: ClassGuesses) -> TableRows:
    """Return one row for each answer; `right` is empty while the right answer is hidden."""
    for place, choice in enumerate(guesses.choices):
        right = None if guesses.right is None else place == guesses.right
        yield table_text(choice), guesses.counts[place], guesses.share(place), right


def class_caption(guesses: ClassGuesses) -> str:
    """Return the lesson, and how many of the class have answered."""
    answered = tr(
        "{total} of {pupils} answered", total=guesses.total, pupils=counted(guesses.pupils, "pupil")
    )
    stored = tr("without names, stored nowhere")
    return f"{guesses.of} · {answered} · {stored}"


@figure(
    N_("Guesses of the class"),
    class_caption,
    class_guesses_data,
    subtitle=lambda guesses: escaped(plain_name(guesses.question, _LONGEST)),
    alt=lambda guesses: (
        tr(
            "Bars of a class's guesses for the question: {question}",
            question=plain_name(guesses.question, _LONGEST),
        ),
        tr("; ").join(
            tr(
                N_("{choice}: {number} of {total}, the right answer")
                if place == guesses.right
                else N_("{choice}: {number} of {total}"),
                choice=plain_name(choice, _LONGEST),
                number=guesses.counts[place],
                total=guesses.total,
            )
            for place, choice in enumerate(guesses.choices)
        )
        + tr("."),
    ),
    key=lambda theme, guesses: (
        []
        if guesses.right is None
        else [[(theme.first, tr("right answer ✓")), (_pale(theme), tr("other answers"))]]
    ),
)
def class_guesses(
    guesses: ClassGuesses, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw a bar for each answer, with its text above; the right one is marked once it is shown."""
    if not guesses.choices:
        return tr("The question has no answers to choose from.")
    names = list(_names(guesses, paper.width - 2 * EDGE - _COUNT))
    bars, height = list[float](), 0.0
    for name in names:
        height += _LINE * len(name) + 4 + _THICK + _GAP
        bars.append(height - _GAP - _THICK / 2)
    hidden = guesses.right is None
    sheet = Sheet(
        theme,
        paper,
        plot_height=round(height),
        left=EDGE,
        right=EDGE,
        below=44 if hidden else 66,
        key_offset=44,
        traces=[_bars(guesses, bars, theme)],
        layout={
            "xaxis": axis(theme, tr("share of the guesses"), 4, range=[0, 1.02], **PERCENT_TICKS),
            "yaxis": axis(theme, range=[height, 0], visible=False),
        },
    )
    for place, name in enumerate(names):
        low = bars[place] - _THICK / 2 - 3
        label_bar(sheet, low, f"<b>{'<br>'.join(map(escaped, name))}</b>")
        label_bar(sheet, low, _share(guesses, place), right=True)
    return sheet


def _names(guesses: ClassGuesses, room: float) -> Iterator[list[str]]:
    """Yield the lines of each answer's text."""
    for place, choice in enumerate(guesses.choices):
        mark = f"{NBSP}✓" if place == guesses.right else ""
        yield wrapped(plain_name(choice, _LONGEST) + mark, room, 12, "sans bold")


def _bars(guesses: ClassGuesses, rows: list[float], theme: Theme) -> Properties:
    places = range(len(guesses.choices))
    strong = [guesses.right in (None, place) for place in places]
    return {
        "type": "bar",
        "name": "guesses",
        "orientation": "h",
        "x": [guesses.share(place) for place in places],
        "y": rows,
        "width": _THICK,
        "marker": {
            "color": [theme.first if is_strong else _pale(theme) for is_strong in strong],
            "line": {"width": 0},
        },
        **hover_texts(
            [
                lines(
                    f"<b>{_share(guesses, place)}</b>",
                    escaped(plain_name(guesses.choices[place], 56)),
                )
                for place in places
            ]
        ),
    }


def _share(guesses: ClassGuesses, place: int) -> str:
    return f"{guesses.counts[place]} · {percentage(guesses.share(place))}"


def _pale(theme: Theme) -> str:
    return blend(theme.muted, theme.paper, 0.6)
