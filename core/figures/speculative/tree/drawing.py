"""Tree of drafted tokens of one round, and the attention mask with which the target scored it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from ....decoding.counting import counted, nth, span_key
from ....decoding.record.trace import Trace
from ....decoding.speculative.rounds import candidate_of
from ....decoding.speculative.tree.shape import children_of, path_to
from ....decoding.speculative.types import DraftRound
from ....language import N_, tr
from ...base.axes import bare_axis, top_axis
from ...base.figure import TableRows, figure, table
from ...base.labels import escaped, lines, percent, settings_caption, table_text, visible_token
from ...base.marks import add_line, overlaid, token_cells
from ...base.measure import fitted
from ...base.paper import SCREEN, Paper
from ...base.sheet import Sentences, Sheet
from ...base.theme import LIGHT, Theme
from ..words import (
    KINDS,
    SIGNS,
    Kind,
    extra_kind,
    kind_color,
    kind_words,
    number,
    shown_kind,
    soft_color,
)

_ROW, _CELL = 44, 0.74
_WIDEST = 6.0
_LEFT, _MARGIN = 8, 8
NO_TREE = N_("This round drafted nothing.")


class _Box(NamedTuple):
    """A token of the tree; `node` is -1 for the root, and the number of nodes for the target's."""

    node: int
    column: int
    row: float
    kind: Kind
    text: str
    prob: float | None
    hover: str


def draft_prob_of(step: DraftRound, node: int) -> float | None:
    """Return the draft's own probability of a drafted token; None without a distribution."""
    token = step.drafted[node]
    candidate = candidate_of(token.candidates, token.token_id)
    return candidate.draft_raw_prob if candidate else None


def joint_prob_of(step: DraftRound, node: int) -> float | None:
    """Return the draft's own probability of a drafted token and all before it."""
    probs = [draft_prob_of(step, at) for at in path_to(step.tree, node)]
    known = [prob for prob in probs if prob is not None]
    return math.prod(known) if len(known) == len(probs) else None


def kept_nodes(step: DraftRound) -> frozenset[int]:
    """Return the fed tokens whose keys and values stay in the target's cache; -1 is the root."""
    return frozenset((-1, *step.path[: len(step.accepted)]))


def _rows_of(step: DraftRound) -> dict[int, float]:
    """Return the row of each node: leaves one below the other, a parent amid its children."""
    children, rows, free = children_of(step.tree), dict[int, float](), 0
    for node in reversed(range(-1, len(step.drafted))):
        rows[node] = 0.0
    order: list[int] = []
    stack = [-1]
    while stack:
        node = stack.pop()
        order.append(node)
        stack += reversed(children[node])
    for node in order:
        if not children[node]:
            rows[node], free = float(free), free + 1
    for node in reversed(order):
        if children[node]:
            rows[node] = (rows[children[node][0]] + rows[children[node][-1]]) / 2
    return rows


def _boxes(step: DraftRound, at: int) -> list[_Box]:
    rows, depths = _rows_of(step), step.depths
    boxes = []
    for node, token in enumerate(step.drafted):
        prob, joint = draft_prob_of(step, node), joint_prob_of(step, node)
        hover = lines(
            f"<b>{escaped(visible_token(token.text, 40))}</b>",
            tr(
                "round {round} · position {position} · {kind}",
                round=nth(at),
                position=nth(depths[node]),
                kind=shown_kind(token.outcome),
            ),
            prob is not None
            and tr("draft {prob}, joint {joint}", prob=percent(prob), joint=percent(joint or 0.0)),
            f"target_prob {percent(token.target_prob)}",
            f"accept_prob {number(token.accept_prob)}",
        )
        boxes.append(
            _Box(node, depths[node] + 1, rows[node], token.outcome, token.text, prob, hover)
        )
    if (extra := step.extra) is not None:
        end = step.path[len(step.accepted) - 1] if step.accepted else -1
        below = max((box.row for box in boxes), default=-1.0) + 1.2
        row = rows[end] if step.bonus is not None else below
        hover = lines(
            f"<b>{escaped(visible_token(extra.text, 40))}</b>",
            tr("round {round} · {kind}", round=nth(at), kind=shown_kind(extra_kind(step))),
            tr("drawn with {prob}", prob=percent(extra.prob)),
        )
        column = len(step.accepted) + 1
        boxes.append(
            _Box(len(step.drafted), column, row, extra_kind(step), extra.text, extra.prob, hover)
        )
    return boxes


@table(
    "round node parent position outcome token_id token draft_raw_prob joint_draft_prob draft_prob "
    "target_prob accept_prob uniform kept"
)
def spec_tree_data(trace: Trace, at: int) -> TableRows:
    """Return every drafted token of a round with its parent, one per row; text is raw. Nodes count
    from 1, and parent 0 is the last token before the round.
    """
    for step in trace.rounds[at : at + 1] if at >= 0 else ():
        kept = kept_nodes(step)
        for node, token in enumerate(step.drafted):
            yield (
                *(nth(at), nth(node), nth(step.tree[node]), nth(step.depths[node])),
                *(kind_words(token.outcome), token.token_id, table_text(token.text)),
                *(draft_prob_of(step, node), joint_prob_of(step, node), token.draft_prob),
                *(token.target_prob, token.accept_prob, token.uniform, node in kept),
            )


def _alt(step: DraftRound, at: int) -> Sentences:
    path = "".join(token.text for token in step.accepted)
    rejected = sum(token.outcome == "rejected" for token in step.drafted)
    extra = step.extra
    return (
        tr(
            "Tree of round {round}: {tokens} at {positions}, {accepted} accepted, {rejected} "
            "rejected.",
            round=nth(at),
            tokens=counted(len(step.drafted), "drafted token"),
            positions=counted(step.depth, "position"),
            accepted=len(step.accepted),
            rejected=rejected,
        ),
        path and tr("Accepted: {path}.", path=visible_token(path, 100)),
        extra is not None
        and tr(
            "Then {kind}: {token}.",
            kind=shown_kind(extra_kind(step)),
            token=visible_token(extra.text),
        ),
    )


@figure(
    N_("The tree of drafts"),
    settings_caption,
    spec_tree_data,
    subtitle=N_(
        "A column is a position; a percentage is the draft’s own probability. Candidates of a "
        "token are verified from top to bottom."
    ),
    alt=_alt,
    key=lambda theme: [[(kind_color(k, theme), shown_kind(k), SIGNS[k]) for k in KINDS]],
)
def spec_tree(trace: Trace, at: int, *, theme: Theme = LIGHT, paper: Paper = SCREEN) -> Sheet | str:
    """Draw the drafted tokens of round `at` as a tree, with the accepted path."""
    if not 0 <= at < len(trace.rounds) or not trace.rounds[at].drafted:
        return tr(NO_TREE)
    step = trace.rounds[at]
    boxes = _boxes(step, at)
    columns = max(box.column for box in boxes)
    height = max(box.row for box in boxes) + 1
    sheet = Sheet(
        theme,
        paper,
        facts={"step": step, "at": at},
        meta={"shown": [span_key("round", at)]},
        plot_height=round(_ROW * height),
        left=_LEFT,
        right=_MARGIN,
        above=24,
        below=34,
        key_offset=10,
    )
    sheet.layout |= overlaid() | {
        "xaxis": top_axis(
            theme,
            [0.5 - _CELL / 2 - 0.35, columns + _CELL / 2 + 0.02],
            [*range(1, columns + 1)],
            [
                tr("position {position}", position=nth(0)),
                *(str(nth(depth)) for depth in range(1, columns)),
            ],
        ),
        "yaxis": bare_axis(theme, range=[height - 0.5, -0.5]),
    }
    _add_links(sheet, step, boxes)
    _add_boxes(sheet, boxes, columns)
    return sheet


def _add_links(sheet: Sheet, step: DraftRound, boxes: Sequence[_Box]) -> None:
    """Add a line from each parent to its child, the wider the likelier the draft found it."""
    theme, rows = sheet.theme, _rows_of(step)
    end = step.path[len(step.accepted) - 1] if step.accepted else -1
    for box in boxes:
        own = box.node == len(step.drafted)
        parent = end if own else step.tree[box.node]
        left = box.column - 1 + (_CELL / 2 if parent >= 0 else 0.12)
        taken = box.kind in ("accepted", "recovered", "bonus")
        width = 1.5 if own else 1 + _WIDEST * math.sqrt(box.prob or 0.0)
        color = kind_color(box.kind, theme) if taken else theme.rest
        sides = (left, box.column - _CELL / 2)
        dash = "dot" if own else "solid"
        add_line(
            sheet, "link", sides, (rows[parent], box.row), color, width, dash=dash, layer="below"
        )


def _add_boxes(sheet: Sheet, boxes: Sequence[_Box], columns: int) -> None:
    theme = sheet.theme
    room = sheet.room / (columns + 0.4) * _CELL - 8
    for kind in (kind for kind in KINDS if any(box.kind == kind for box in boxes)):
        group, ground = [box for box in boxes if box.kind == kind], soft_color(kind, theme)
        sheet.traces.append(
            token_cells(
                theme,
                kind_words(kind),
                [(box.column, box.row - 0.45) for box in group],
                [_label(box, room) for box in group],
                [box.hover for box in group],
                ground,
                theme.muted if kind == "not_reached" else theme.text_on(ground),
                width=_CELL,
                heights=[0.9] * len(group),
                size=11,
                textangle=0,
            )
        )


def _label(box: _Box, room: float) -> str:
    share = "" if box.prob is None else f"<br>{percent(box.prob)}"
    return f"{escaped(fitted(visible_token(box.text, 60), room, 11, 'mono'))}{share}"
