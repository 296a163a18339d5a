"""One step's distribution at several temperatures, as small multiples over the same tokens."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.lab.types import LabStep, Sweep
from ...decoding.record.steps import Candidate
from ...language import N_, tr
from ..base.axes import bare_axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, percent, show_token, table_text, visible_token
from ..base.marks import add_frame, add_note, token_bars
from ..base.measure import text_width
from ..base.paper import SCREEN, SMALL, Paper
from ..base.records import chosen_label, widest
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from .panels import Places
from .words import lab_caption, number

# Temperatures that a panel shows, the nearest ones of the sweep.
WANTED = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
_TOKENS, _ROW, _HEADS = 8, 20, 40
_LABEL_LIMIT = 12
# Width from which all panels stand in one row, px.
_WIDE = 760.0


@table("temperature entropy rank token_id token prob", whole="rank token_id")
def lab_temperatures_data(sweep: Sweep) -> TableRows:
    """Return a row for each panel and token, and one without a token for all others."""
    for at in panels(sweep):
        head = sweep.temperatures[at], sweep.entropies[at]
        for candidate, probs in _shown(sweep):
            text = table_text(candidate.text)
            yield (*head, candidate.rank, candidate.token_id, text, probs[at])
        yield (*head, None, None, None, _others(sweep, at))


def panels(sweep: Sweep) -> list[int]:
    """Return the indices of the sweep's temperatures that have a panel."""
    tried = sweep.temperatures
    nearest = (min(range(len(tried)), key=lambda at: abs(tried[at] - want)) for want in WANTED)
    return list(dict.fromkeys(nearest)) if tried else []


def _shown(sweep: Sweep) -> list[tuple[Candidate, tuple[float, ...]]]:
    return list(zip(sweep.candidates, sweep.probs, strict=True))[:_TOKENS]


def _others(sweep: Sweep, at: int) -> float:
    """Return the probability of all tokens without a bar."""
    return max(0.0, 1 - sum(probs[at] for _, probs in _shown(sweep)))


@figure(
    N_("Distribution by temperature"),
    lab_caption,
    lab_temperatures_data,
    subtitle=N_(
        "The same logits, and the other knobs as they are. Below 1 the likeliest token gains; "
        "above 1 the others do. The order of the tokens never changes."
    ),
    alt=lambda sweep, shown: (
        tr(
            "Bar charts of {tokens} tokens' probability at {temperatures} temperatures.",
            tokens=len(_shown(sweep)),
            temperatures=len(shown),
        ),
        tr("; ").join(
            tr(
                "at {temperature} {token} has {prob} and the entropy is {entropy:.2f} nats",
                temperature=number(sweep.temperatures[at]),
                token=visible_token(sweep.candidates[0].text, 24),
                prob=percent(sweep.probs[0][at]),
                entropy=sweep.entropies[at],
            )
            for at in shown
        )
        + tr("."),
    ),
    key=lambda theme, lab, sweep, shown: [
        [
            (theme.rest, tr("all other tokens")),
            _now(lab, sweep, shown) is not None and (theme.accent, tr("the knob"), "<b>□</b>"),
        ]
    ],
)
def lab_temperatures(
    lab: LabStep, sweep: Sweep, *, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw a panel for each temperature: bars over the same tokens, in one scale.

    Above a panel stand its temperature and the entropy of its distribution.
    """
    shown, tokens = panels(sweep), _shown(sweep)
    if not shown:
        return tr("No temperature was tried.")
    rows = 1 if paper.width >= _WIDE else 2
    places = Places(-(-len(shown) // rows), rows, _ROW * (len(tokens) + 1), _HEADS + 8)
    names = [
        f"{chosen_label(show_token(c.text, _LABEL_LIMIT), theme, c.token_id == lab.step.token_id)} "
        for c, _ in tokens
    ]
    columns = max(widest((c.text for c, _ in tokens), _LABEL_LIMIT), 6)
    sheet = Sheet(
        theme,
        paper,
        facts={"shown": shown},
        plot_height=places.height,
        left=18 + round(7.2 * columns),
        right=EDGE,
        above=_HEADS,
        below=30,
        key_offset=10,
        layout={"bargap": 0.25},
    )
    values = [[*(probs[at] for _, probs in tokens), _others(sweep, at)] for at in shown]
    # A bar's number follows its end.
    room = sheet.room * (places.x(0)[1] - places.x(0)[0])
    beside = text_width(f"100{NBSP}%", 11) + 6
    top = max(map(max, values)) / max(1 - beside / room, 0.2)
    for place, (at, probs) in enumerate(zip(shown, values, strict=True)):
        _add_panel(sheet, sweep, place, at, probs, places)
        axis = f"xaxis{place + 1 if place else ''}"
        sheet.layout[axis] = bare_axis(
            theme, range=[0, top], domain=list(places.x(place)), anchor=places.axis(place)
        )
    for row in range(places.rows):
        sheet.layout[f"yaxis{row + 1 if row else ''}"] = named_axis(
            theme,
            [*names, f"{tr('others')}{NBSP}"],
            range=[len(tokens) + 0.5, -0.5],
            showline=False,
            domain=list(places.y(row)),
            anchor=f"x{row * places.across + 1}" if row else "x",
        )
    now = _now(lab, sweep, shown)
    if now is not None:
        across, down = places.x(now), places.y(now // places.across)
        add_frame(sheet, "now", across, down, theme.accent, 1.5, xref="paper", yref="paper")
    return sheet


def _now(lab: LabStep, sweep: Sweep, shown: Sequence[int]) -> int | None:
    """Return the panel of the knob's own temperature; None without one."""
    knob = lab.config.shaping.temperature
    fitting = [place for place, at in enumerate(shown) if abs(sweep.temperatures[at] - knob) < 1e-9]
    return fitting[0] if fitting else None


def _add_panel(
    sheet: Sheet, sweep: Sweep, place: int, at: int, probs: Sequence[float], places: Places
) -> None:
    """Add a panel's bars, and its temperature and entropy above them."""
    theme = sheet.theme
    temperature = number(sweep.temperatures[at])
    words = tr("temperature {temperature}", temperature=temperature)
    tokens = [candidate for candidate, _ in _shown(sweep)]
    hovers = [
        *(f"<b>{show_token(c.text, 40)}</b><br>{words}" for c in tokens),
        f"<b>{tr('all other tokens')}</b><br>{words}",
    ]
    colors = [theme.probability_color(prob) for prob in probs[:-1]]
    sheet.traces.append(
        token_bars(
            theme,
            f"temperature {temperature}",
            probs,
            [f"{hover}<br>{percent(p)}" for hover, p in zip(hovers, probs, strict=True)],
            [*colors, theme.rest],
            texts=[percent(prob) if prob > 0 else "" for prob in probs],
            marker={"line": {"width": 1, "color": theme.muted}},
            yaxis=places.axis(place),
            xaxis=f"x{place + 1}" if place else "x",
        )
    )
    where: Properties = {"xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
    start, top = places.x(place)[0], places.y(place // places.across)[1]
    heading = f"<b>T = {temperature}</b><br>{sweep.entropies[at]:.2f}{NBSP}{tr('nats')}"
    look: Properties = {"align": "left", "borderpad": 0, **where}
    add_note(sheet, "heading", heading, start, top, size=SMALL, color=theme.ink, **look)
