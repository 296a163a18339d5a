"""Tree of tokens as cells: steps across, a lane for each run; shared cells are drawn once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from ...decoding.counting import nth
from ...language import tr
from ..base.axes import named_axis, top_axis
from ..base.grid import probability_cells
from ..base.labels import NBSP, escaped, lines, percent, show_token, visible_token
from ..base.marks import INSIDE, add_frame, add_note, hover_texts, overlaid
from ..base.measure import fitted, text_width
from ..base.paper import SMALL, Paper
from ..base.sheet import EDGE, Properties, Sentences, Sheet, joined
from ..base.theme import Theme
from ..base.window import ShownPart
from .token_tree import TreeCell, TreeLayout

_LEFT = 64
_PADDING = 15
# Height of a lane, and of a lane in print that would make the figure higher than a page; px.
_LANE, _LOW_LANE = 34, 24
# Height of all rows of steps that a page in print holds, px; further steps are left out.
_HIGHEST = 1040
# Part of the padding that a number alone needs not have, px.
_SPARE = 7
# Width of a step's number, px.
_TICK = 18
# Minimum width of a step in print, px; further steps go into another row.
_STEP = 46
# Distance of two rows of steps, in lanes.
_APART = 0.8


def lane_tree(
    layout: TreeLayout,
    theme: Theme,
    paper: Paper,
    *,
    subtitle: Sentences,
    frame: tuple[str, str],
    edged: bool = False,
    left: int = _LEFT,
    share: Callable[[TreeCell], tuple[str, str]] | None = None,
) -> Sheet:
    """Return the sheet of a tree; the colour is the raw probability.

    Args:
        frame: name and colour of the frames around the lanes' framed steps.
        edged: whether to draw only the frames' first edge, and their tokens in bold.
        left: room for the lanes' names, px.
        share: gives what stands before a cell's text, and a line of its hover text.

    A click on a cell hands over `customdata = [place of its first lane, its first step]`.
    """
    across = _steps_across(layout.steps, paper, left)
    layout, lane = _on_a_page(layout, across, paper)
    lanes = len(layout.lanes) + _APART
    height = lanes * len(range(0, layout.steps, across)) - _APART
    shown = ShownPart("step", 0, layout.steps, layout.all_steps)
    pieces = [piece for cell in layout.cells for piece in _pieces(cell, across)]
    sheet = Sheet(
        theme,
        paper,
        subtitle=(joined(subtitle), shown.note),
        facts={"layout": layout},
        plot_height=round(lane * height),
        left=left,
        right=EDGE,
        above=22,
        below=40,
        layout=overlaid(SMALL),
    )
    room = sheet.room / across
    # Outside the visible area; only its colour bar is shown.
    scale = probability_cells(sheet, [-9], [[0]], left=60, y=[-9], hoverinfo="skip")
    labels = list(_labels(pieces, layout, (room, lane), bold=edged, share=share))
    sheet.traces = [scale, _cells(labels, layout, theme, across)]
    for cell, text, _, upright in labels:
        x, y = _place(cell, across, lanes)
        if upright:
            _add_upright(sheet, text, cell, x, y)
        for first, last in _framed(cell, layout):
            name, color = frame
            inset = 2 / room if edged else 0.02
            ends = x + first + inset, x + (first + inset if edged else last - inset)
            down, stroke = (y + 0.04, y + cell.lanes - 0.04), 4 if edged else 1.6
            add_frame(sheet, name, ends, down, color, stroke)
    _add_axes(sheet, layout, across, height, room)
    sheet.explained.append(tr("{hue} of a cell: the model's own probability", hue=tr(theme.hue)))
    shown.tell(sheet)
    return sheet


def _add_upright(sheet: Sheet, text: str, cell: TreeCell, x: float, y: float) -> None:
    """Write Plotly text upwards in the middle of a cell, whose upper left corner is given."""
    theme = sheet.theme
    ink = theme.text_on(theme.probability_color(cell.prob))
    font = {"family": theme.mono, "size": 12, "color": ink}
    look: Properties = {"font": font, "textangle": -90}
    middle = x + len(cell.tokens) / 2, y + cell.lanes / 2
    add_note(sheet, "upright", text, *middle, size=12, color=ink, **look)


def _is_framed(cell: TreeCell, layout: TreeLayout) -> list[bool]:
    """Return, for each token of a cell, whether it is framed."""
    lanes = layout.lanes[cell.lane : cell.lane + cell.lanes]
    steps = range(cell.depth, cell.depth + len(cell.tokens))
    return [any(step in lane.framed for lane in lanes) for step in steps]


def _framed(cell: TreeCell, layout: TreeLayout) -> Iterator[tuple[int, int]]:
    """Yield first and last edge of each sequence of framed tokens in a cell, relative to the
    cell.
    """
    at = 0
    for marked, group in groupby(_is_framed(cell, layout)):
        count = len(list(group))
        if marked:
            yield at, at + count
        at += count


def _steps_across(steps: int, paper: Paper, left: int) -> int:
    """Return the number of steps in a row; on a page all steps."""
    if not paper.printed:
        return steps
    most = max(int((paper.width - left - EDGE) / _STEP), 3)
    return -(-steps // -(-steps // most))


def _on_a_page(layout: TreeLayout, across: int, paper: Paper) -> tuple[TreeLayout, int]:
    """Return the layout with as many steps as a page in print holds, and the height of a lane, px.

    Args:
        across: number of steps in a row.
    """
    if not paper.printed:
        return layout, _LANE
    lanes, rows = len(layout.lanes) + _APART, -(-layout.steps // across)
    lane = _LANE if _LANE * (rows * lanes - _APART) <= _HIGHEST else _LOW_LANE
    held = max(int((_HIGHEST / lane + _APART) / lanes), 1)
    return layout.until(across * held), lane


def _pieces(cell: TreeCell, across: int) -> Iterator[TreeCell]:
    """Yield the pieces of a cell in each row of steps."""
    start = cell.depth
    while start < cell.depth + len(cell.tokens):
        end = min(cell.depth + len(cell.tokens), (start // across + 1) * across)
        yield cell._replace(depth=start, tokens=cell.tokens[start - cell.depth : end - cell.depth])
        start = end


def _place(cell: TreeCell, across: int, lanes: float) -> tuple[float, float]:
    """Return the upper left corner of a cell, in steps and lanes."""
    return cell.depth % across, cell.lane + cell.depth // across * lanes


def _add_axes(sheet: Sheet, layout: TreeLayout, across: int, height: float, room: float) -> None:
    """Add the steps' numbers over each row, and the lanes' names before it."""
    theme, lanes = sheet.theme, len(layout.lanes) + _APART
    every = 1 if room >= _TICK else 5
    rows = [
        range(start, min(start + across, layout.steps)) for start in range(0, layout.steps, across)
    ]
    ticks = [[step for step in row if step % every == 0 or step == row[0]] for row in rows]
    sheet.layout["xaxis"] = top_axis(
        theme, [0, across], [step + 0.5 for step in ticks[0]], [str(nth(step)) for step in ticks[0]]
    )
    names = [
        f'<b><span style="color:{theme.ink}">{escaped(lane.name)}</span></b> '
        if lane.strong
        else f"{escaped(lane.name)} "
        for lane in layout.lanes
    ]
    sheet.layout["yaxis"] = named_axis(
        theme,
        names * len(rows),
        range=[height, 0.0],
        tickfont={"size": 11, "color": theme.muted},
        showline=False,
        tickvals=[lanes * at + lane + 0.5 for at in range(len(rows)) for lane in range(len(names))],
    )
    for at, shown in enumerate(ticks[1:], start=1):
        for step in shown:
            where: Properties = {
                "yanchor": "bottom",
                "yshift": -1,
                "size": SMALL,
                "color": theme.muted,
            }
            add_note(sheet, "step", str(nth(step)), step % across + 0.5, lanes * at, **where)


class _Label(NamedTuple):
    """A cell with its Plotly text and a line of its hover text; an upright text reads upwards."""

    cell: TreeCell
    text: str
    said: str
    upright: bool


def _labels(
    cells: Sequence[TreeCell],
    layout: TreeLayout,
    room: tuple[float, float],
    *,
    bold: bool,
    share: Callable[[TreeCell], tuple[str, str]] | None,
) -> Iterator[_Label]:
    """Yield the cells' labels; framed tokens may be bold.

    Args:
        room: width of a step and height of a lane, px.
    """
    for cell in cells:
        before, said = share(cell) if share else ("", "")
        width, height = len(cell.tokens) * room[0], cell.lanes * room[1]
        strong = _is_framed(cell, layout) if bold else []
        if text := _upright_text(cell, (width, height), strong, before):
            yield _Label(cell, text, said, upright=True)
        else:
            yield _Label(cell, _text(cell, width, strong, before), said, upright=False)


def _upright_text(
    cell: TreeCell, size: tuple[float, float], strong: Sequence[bool], before: str
) -> str:
    """Return the text of a cell that is too narrow for its first token but high enough for it;
    empty for other cells.

    Args:
        size: width and height of the cell, px.
    """
    width, height = size
    name = visible_token(cell.tokens[0].text)
    needed = text_width(f"{before}{NBSP}{name}", 12, "mono") + _PADDING
    lies = text_width(name, 12, "mono") <= width - _PADDING
    if lies or width < _TICK or needed > height:
        return ""
    taken = text_width(f"{before}{NBSP}", 12, "mono") if before else 0.0
    text = _text(cell, height - taken, strong, "")
    return f"{escaped(before)}{NBSP}{text}" if before else text


def _cells(labels: Sequence[_Label], layout: TreeLayout, theme: Theme, across: int) -> Properties:
    """Return the cells of all rows; upright texts are written over them."""
    cells = [label.cell for label in labels]
    colors = [theme.probability_color(cell.prob) for cell in cells]
    corners = [_place(cell, across, len(layout.lanes) + _APART) for cell in cells]
    hovers = []
    for cell, _, said, _ in labels:
        count = len(cell.tokens)
        names = ", ".join(lane.name for lane in layout.lanes[cell.lane : cell.lane + cell.lanes])
        many, last = count > 1, cell.depth + count
        hovers.append(
            lines(
                f"<b>{show_token(cell.text, 48)}</b>",
                tr("steps {first} to {last}", first=nth(cell.depth), last=last)
                if many
                else tr("step {number}", number=last),
                tr("geometric mean {probability}", probability=percent(cell.prob))
                if many
                else percent(cell.prob),
                escaped(said),
                escaped(names),
            )
        )
    inks = [theme.text_on(color) for color in colors]
    return {
        "type": "bar",
        "orientation": "h",
        "base": [x for x, _ in corners],
        "x": [len(cell.tokens) for cell in cells],
        "y": [y + cell.lanes / 2 for cell, (_, y) in zip(cells, corners, strict=True)],
        "width": [cell.lanes for cell in cells],
        **INSIDE,
        "insidetextanchor": "start",
        "name": "tokens",
        "customdata": [[layout.lanes[cell.lane].place, cell.depth] for cell in cells],
        "text": ["" if label.upright else label.text for label in labels],
        "textangle": 0,
        "textfont": {"family": theme.mono, "size": 12, "color": inks},
        **hover_texts(hovers),
        "marker": {"color": colors, "line": {"color": theme.paper, "width": 1.5}},
    }


def _text(cell: TreeCell, width: float, strong: Sequence[bool], before: str) -> str:
    """Return the part of a cell's text that fits into a width in px; strong tokens are bold.

    Args:
        before: plain text that stands before it, or above it in a cell of several lanes.
    """
    whole, room = visible_token(cell.text), width - _PADDING
    if before:
        forms = (f"{NBSP}{form}" if form else "" for form in (before, *_shorter(before), ""))
        before = next(form for form in forms if text_width(form, 12, "mono") <= room + _SPARE)
        taken = 0.0 if cell.lanes > 1 else text_width(f"{before}{NBSP}", 12, "mono")
        text = _text(cell, width - taken, strong, "")
        between = "<br>" if cell.lanes > 1 else NBSP
        return f"{escaped(before)}{between if before and text else ''}{text}"
    shown = fitted(whole, room, 12, "mono")
    if shown != whole and len(shown) <= 2:
        return ""
    tokens = [visible_token(token.text) for token in cell.tokens]
    if not strong or "".join(tokens) != whole:
        return escaped(shown)
    text, at = NBSP, 0
    for token, is_strong in zip(tokens, strong, strict=True):
        part, at = escaped(shown[at : at + len(token)]), at + len(token)
        text += f"<b>{part}</b>" if is_strong and part else part
    return text


def _shorter(share: str) -> tuple[str, ...]:
    """Return shorter forms of a percentage of 1 % and more, which keep its unit: `31 %`, `31%`."""
    number, _, unit = share.partition(NBSP)
    if not re.fullmatch(r"[\d.]+", number) or float(number) < 1:
        return ()
    return f"{float(number):.0f}{NBSP}{unit}", f"{float(number):.0f}{unit}"
