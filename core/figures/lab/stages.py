"""Stages of one step as small multiples: one panel per stage, with a common axis of tokens."""

from __future__ import annotations

from collections.abc import Sequence

from ...decoding.lab.types import LabStep
from ...decoding.record.steps import Stage
from ...language import N_, tr
from ..base.axes import bare_axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    NBSP,
    escaped,
    lines,
    nats,
    percent,
    show_token,
    stage_name,
    table_text,
    visible_token,
)
from ..base.marks import (
    PAPER,
    add_line,
    add_note,
    token_bars,
)
from ..base.measure import first_fitting, fitted, text_width
from ..base.paper import SCREEN, SMALL, Paper
from ..base.records import LABEL_LIMIT, ranked_labels, widest
from ..base.sheet import EDGE, Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..decode.stage_bars import shown_stages
from ..samplers.dry import dry_words
from ..samplers.xtc import xtc_words
from .panels import FEW_PANELS, GAP, HEADS, Places, is_narrow, places_for
from .stage_rows import StageRow, others_mass, shown_rows, taken_by
from .words import lab_caption, setting, short_name

# Thickness of a bar, in rows: Plotly's own follows from the distances within one trace.
_BAR = 0.7
# Gaps around the text after a bar, px.
_BESIDE = 8
# Width of a bar's percentage, px.
_PERCENT_WIDTH = 44
# Minimum width of the panels on the page, px.
_WIDTH = 440
# Minimum width of a printed panel with words beside the numbers, px.
_WIDE_PANEL = 120


@table(
    "stage setting rank token_id token chosen prob kept removed_mass threshold_crossed",
    whole="token_id rank",
)
def lab_stages_data(lab: LabStep, *, rows: int = 20) -> TableRows:
    """Return every stage's probability of every shown token, and a row without a token id for all
    others.
    """
    shown = shown_rows(lab, rows)
    last = lab.crossing.candidate.token_id if lab.crossing else None
    for place, stage in enumerate(shown_stages(lab.step)):
        value = getattr(lab.config.shaping, stage.name, None)
        if not isinstance(value, int | float | None):
            value = table_text(setting(stage.name, lab))
        head = (stage.name, value)
        tail = (stage.kept, stage.removed_mass)
        for row in shown:
            candidate = row.candidate
            yield (
                *head,
                candidate.rank,
                candidate.token_id,
                table_text(candidate.text),
                candidate.token_id == lab.step.token_id,
                row.probs[place],
                *tail,
                stage.name == "top_p" and candidate.token_id == last,
            )
        yield (*head, None, None, None, False, others_mass(place, stage, shown), *tail, False)


def _lowered_words(lab: LabStep) -> str:
    if lab.lowered is None:
        return ""
    token, repeat, count = lab.lowered
    return dry_words(lab.config.shaping, show_token(token.text, 24), repeat, count)


@figure(
    N_("Distribution after each stage"),
    lab_caption,
    lab_stages_data,
    subtitle=lambda lab, crossing: (
        _lowered_words(lab),
        xtc_words(lab.config.shaping, lab.step),
        tr("One row a token, one panel a stage; all panels share one scale.")
        if crossing is None
        else tr(
            "Top-p {top_p} is reached at {token}: {before:.2f} to {after:.2f}{nbsp}% of all.",
            top_p=setting("top_p", lab),
            token=show_token(crossing.candidate.text, 16),
            before=100 * crossing.before,
            after=100 * crossing.after,
            nbsp=NBSP,
        ),
    ),
    alt=lambda lab, stages, chosen: (
        tr(
            "Bar charts of one step's tokens after every stage, in the order of {library}.",
            library=lab.order.label,
        ),
        tr("; ").join(
            tr(
                "{stage}: {removed} removed, {kept} tokens left",
                stage=f"{stage_name(stage.name)} {setting(stage.name, lab)}".strip(),
                removed=percent(stage.removed_mass),
                kept=stage.kept,
            )
            for stage in stages
        )
        + tr("."),
        tr(
            "Drawn: {token}, rank {rank}, {first} at first, {last} in the end.",
            token=visible_token(chosen.text, 24),
            rank=chosen.rank,
            first=percent(chosen.raw_prob),
            last=percent(chosen.prob),
        ),
    ),
    key=lambda lab, theme: [
        [
            (theme.muted, tr("in the token's {hue}: can be drawn", hue=tr(theme.hue))),
            (theme.accent, tr("drawn"), "<b>□</b>"),
            any(stage.removed_mass > 0 for stage in lab.step.stages)
            and (theme.muted, tr("removed here, with what it had"), "▨"),
        ]
    ],
)
def lab_stages(
    lab: LabStep, *, rows: int = 12, theme: Theme = LIGHT, paper: Paper = SCREEN
) -> Sheet | str:
    """Draw panels from the model's own to the final distribution, over the same tokens.

    A removed token keeps its row, greyed; a hatched bar shows its probability before the removal. A
    line in top-p's panel marks the token at which the cumulative mass reaches p. On a screen
    many panels are arranged in rows, each with the tokens beside it.

    Args:
        rows: number of tokens by rank; the chosen one and top-p's last one are added.
    """
    stages, shown = shown_stages(lab.step), shown_rows(lab, rows)
    places = places_for(len(stages), 25 * (len(shown) + 1), paper)
    columns = widest((row.candidate.text for row in shown), LABEL_LIMIT)
    top = max(max(row.probs) for row in shown)
    top = max(top, *(others_mass(place, stage, shown) for place, stage in enumerate(stages)), 1e-9)
    tokens = [row.candidate for row in shown]
    out = [candidate for candidate in tokens if candidate.removed_by is not None]
    names = [*ranked_labels(lab.step, tokens, theme, out), f"{tr('others')}{NBSP}"]
    sheet = Sheet(
        theme,
        paper,
        facts={"stages": stages, "crossing": lab.crossing, "chosen": lab.step.chosen},
        plot_height=places.height,
        left=40 + round(7.2 * max(columns, 8)) + 6 * len(str(shown[-1].candidate.rank)),
        right=EDGE + 2,
        above=HEADS,
        below=34,
        rows=tr("token and its rank"),
        layout={"barmode": "overlay"},
    )
    for place, stage in enumerate(stages):
        _add_panel(sheet, lab, place, stage, shown, places)
        _frame_panel(sheet, lab, place, stage, places, top)
    _mark_crossing(sheet, lab, stages, shown, places, top)
    for row in range(places.rows):
        sheet.layout[f"yaxis{row + 1 if row else ''}"] = named_axis(
            theme,
            names,
            range=[len(shown) + 0.5, -0.5],
            showline=False,
            domain=list(places.y(row)),
            anchor=f"x{row * places.across + 1}" if row else "x",
        )
    return sheet


def _add_panel(
    sheet: Sheet,
    lab: LabStep,
    place: int,
    stage: Stage,
    shown: Sequence[StageRow],
    places: Places,
) -> None:
    """Add a stage's bars: each token's probability, and that of removed tokens before the
    removal.
    """
    theme, chosen = sheet.theme, lab.step.token_id
    probs = [row.probs[place] for row in shown]
    mass, others = others_mass(place, stage, shown), stage.kept - sum(prob > 0 for prob in probs)
    hovers = [
        lines(
            f"<b>{show_token(row.candidate.text, 40)}</b>",
            tr("rank {rank:,}", rank=row.candidate.rank) + f" · id {row.candidate.token_id}",
            tr(
                "removed by {stage}",
                stage=escaped(stage_name(row.candidate.removed_by or stage.name)),
            )
            if row.removed_at is not None and row.removed_at <= place
            else f"{escaped(stage_name(stage.name))} {percent(row.probs[place])}",
            tr("logit {logit}", logit=nats(row.candidate.logit)),
        )
        for row in shown
    ]
    gone = [at for at, row in enumerate(shown) if row.removed_at == place]
    axes: Properties = {"xaxis": f"x{place + 1 if place else ''}", "yaxis": places.axis(place)}
    pattern = {"shape": "/", "fgcolor": theme.muted, "size": 5, "solidity": 0.25}
    sheet.traces += [
        token_bars(
            theme,
            stage.name,
            [*probs, mass],
            [
                *hovers,
                lines(tr("<b>{others:,} other tokens</b>", others=others), percent(mass)),
            ],
            [*(theme.token_color(row.candidate.rank) for row in shown), theme.rest],
            texts=[percent(p) if p > 0 else "" for p in probs] + [percent(mass) if others else ""],
            chosen=[*(r.candidate.token_id == chosen and r.probs[place] > 0 for r in shown), False],
            width=_BAR,
            **axes,
        ),
        token_bars(
            theme,
            f"removed by {stage.name}",
            [shown[at].probs[place - 1] for at in gone],
            [hovers[at] for at in gone],
            theme.paper,
            texts=[tr("out")] * len(gone),
            ink=theme.muted,
            marker={"pattern": pattern, "line": {"width": 1, "color": theme.muted}},
            y=gone,
            width=_BAR,
            **axes,
        ),
    ]


def _frame_panel(
    sheet: Sheet, lab: LabStep, place: int, stage: Stage, places: Places, top: float
) -> None:
    """Add a panel's axis up to `top`, and above it name, value, removed mass and number of
    remaining tokens.
    """
    theme, count = sheet.theme, places.across
    domain, (bottom, upper) = places.x(place), places.y(place // count)
    width, end = _extent(sheet, places, top)
    room = width / count - 6
    sheet.layout[f"xaxis{place + 1 if place else ''}"] = bare_axis(
        theme, domain=list(domain), range=[0, end], anchor=places.axis(place)
    )
    add_line(sheet, "zero", domain[0], (bottom, upper), theme.grid, 1, layer="below", **PAPER)
    mass, kept = percent(stage.removed_mass), stage.kept
    taken = [tr("nothing removed"), tr("all kept"), "–"]
    if stage.removed_mass > 0:
        taken = [tr("{mass} removed", mass=mass), f"−{mass}"]
    left = first_fitting([tr("{count:,} left", count=kept), f"{kept:,}"], room)
    quiet = stage.removed_mass == 0
    head = [
        f"<b>{escaped(fitted(short_name(stage.name), room, face='sans bold'))}</b>",
        escaped(fitted(setting(stage.name, lab), room)) or NBSP,
        _line(first_fitting(taken, room), theme if quiet else None) if place else NBSP,
        _line(left, theme),
    ]
    where = {**PAPER, "xanchor": "left", "yanchor": "bottom", "yshift": 4, "align": "left"}
    where |= {"borderpad": 0, "borderwidth": 0, "size": 12, "color": theme.ink}
    add_note(sheet, "head", "<br>".join(head), domain[0], upper, **where)


def _extent(sheet: Sheet, places: Places, top: float) -> tuple[float, float]:
    """Return the width of a row of panels, px, and the probability at a panel's right end, which
    leaves room for the percentage of the largest one, `top`.
    """
    count = places.across
    whole = sheet.paper.printed or (is_narrow(sheet.paper) and count <= FEW_PANELS)
    width = sheet.room if whole else float(_WIDTH)
    share = min(_PERCENT_WIDTH * count / (width * (1 - GAP)), 0.86 if whole else 0.6)
    return width, top / (1 - share)


def _line(words: str, muted: Theme | None) -> str:
    """Return plain text as a line of Plotly text, in the muted colour of a theme if one is
    given.
    """
    text = escaped(words).replace(" ", NBSP)
    return f'<span style="color:{muted.muted}">{text}</span>' if muted else text


def _mark_crossing(
    sheet: Sheet,
    lab: LabStep,
    stages: Sequence[Stage],
    shown: Sequence[StageRow],
    places: Places,
    top: float,
) -> None:
    """Add a line below the last token that top-p kept, across its panel."""
    at = next((place for place, stage in enumerate(stages) if stage.name == "top_p"), None)
    if at is None or lab.crossing is None:
        return
    ids = [row.candidate.token_id for row in shown]
    ends, ink = places.x(at), sheet.theme.ink
    y = ids.index(lab.crossing.candidate.token_id) + 0.5
    add_line(sheet, "crossing", ends, y, ink, 1.5, dash="dot", xref="paper", yref=places.axis(at))
    # If the crossing is the last row, the bar of all others is below it, and the room is above.
    side = "bottom" if ids[-1] == lab.crossing.candidate.token_id else "top"
    where = {"xref": "paper", "xanchor": "right", "yanchor": side, "borderpad": 0}
    paper, words = sheet.paper, tr("p reached")
    # In a narrow panel, and over a row that is as long, only the subtitle names it.
    narrow = paper.width / len(stages) < _WIDE_PANEL if paper.printed else is_narrow(paper)
    if not narrow:
        width, end = _extent(sheet, places, top)
        panel = width / places.across * (1 - GAP)
        row = ids.index(lab.crossing.candidate.token_id) + (side == "top")
        taken, label = taken_by(stages, shown, at, row)
        free = (1 - taken / end) * panel - text_width(label, 11) - _BESIDE
        if text_width(words, SMALL) <= free:
            text = words.replace(" ", NBSP)
            add_note(sheet, "crossing", text, ends[1], y, size=SMALL, color=ink, **where)
