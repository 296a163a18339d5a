"""Forward by modules: the whole prompt and a single token compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...decoding.counting import counted, nth
from ...decoding.inside.types import Forward, ModuleRun
from ...language import N_, tr
from ..base.axes import axis, named_axis
from ..base.figure import TableRows, figure, table
from ..base.labels import (
    escaped,
    lines,
    milliseconds,
    plain_name,
    table_text,
    with_prompt,
)
from ..base.marks import OUTSIDE, hover_texts
from ..base.paper import SMALL, WIDE, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme

# Maximum number of separate layers; of more, the mean is drawn.
_MOST_LAYERS = 12
# Names of the rows: of one layer, and of the mean over many.
_PARTS = {
    "norm": (N_("layer {layer} norms"), N_("a layer's norms")),
    "attention": (N_("layer {layer} attention"), N_("a layer's attention")),
    "mlp": (N_("layer {layer} MLP"), N_("a layer's MLP")),
    "other": (N_("layer {layer} other"), N_("a layer's other modules")),
}


class _ModuleRow(NamedTuple):
    """Modules of one bar: those of one layer, or of all layers if there are many."""

    name: str
    modules: tuple[ModuleRun, ...]
    layers: int = 1

    @property
    def seconds(self) -> float:
        return sum(module.seconds for module in self.modules) / self.layers


@table("forward module class layer shape_in shape_out ms parameters", whole="layer")
def module_times_data(forwards: Sequence[tuple[str, Forward]]) -> TableRows:
    """Return a row for each module: shapes, milliseconds, parameters."""
    return [
        (
            name,
            table_text(run.name),
            table_text(run.kind),
            None if run.layer is None else nth(run.layer),
            shape(run.taken),
            shape(run.given),
            1e3 * run.seconds,
            run.parameters,
        )
        for name, forward in forwards
        for run in forward.modules
    ]


@figure(
    N_("Time of the forward by module"),
    with_prompt,
    module_times_data,
    subtitle=lambda forwards: [
        tr(
            "{forward}: {tokens}, {time}, {cache}.",
            forward=escaped(tr(name)[:1].upper() + tr(name)[1:]),
            tokens=counted(forward.tokens, "token"),
            time=milliseconds(forward.seconds),
            cache=escaped(kept(forward)),
        )
        for name, forward in forwards
    ],
    alt=lambda forwards: (
        tr("Bars of milliseconds, a row for each module."),
        *(
            tr(
                "{forward}: {tokens} in {time:.1f} ms, {cache}.",
                forward=tr(name),
                tokens=counted(forward.tokens, "token"),
                time=1e3 * forward.seconds,
                cache=kept(forward),
            )
            for name, forward in forwards
        ),
    ),
    key=lambda forwards, theme: [
        [
            ((theme.second, theme.first)[at % 2], escaped(tr(name)))
            for at, (name, _) in enumerate(forwards)
        ]
    ],
)
def module_times(
    forwards: Sequence[tuple[str, Forward]],
    *,
    caption: str,
    prompt: str = "",
    theme: Theme = LIGHT,
    paper: Paper = WIDE,
) -> Sheet | str:
    """Draw the milliseconds of every module, one bar for each forward.

    Args:
        prompt: prompt of the run; in print the caption names it.
        forwards: pairs of a declared name and a forward: the prompt's and a single token's.
    """
    tables = [(name, _rows(forward)) for name, forward in forwards]
    names = list(dict.fromkeys(row.name for _, rows in tables for row in rows))
    top = max((row.seconds for _, rows in tables for row in rows), default=0.0)
    return Sheet(
        theme,
        paper,
        plot_height=34 * len(names),
        left=120,
        right=70,
        below=72,
        traces=[
            _bars(name, rows, names, (theme.second, theme.first)[at % 2], theme)
            for at, (name, rows) in enumerate(tables)
        ],
        layout={
            "barmode": "group",
            "bargap": 0.25,
            "bargroupgap": 0.05,
            "xaxis": axis(theme, "ms", range=[0, 1.12e3 * max(top, 1e-6)], nticks=7),
            "yaxis": named_axis(
                theme,
                names,
                range=[len(names) - 0.5, -0.5],
                tickfont={"size": 11, "color": theme.ink},
            ),
        },
        key_offset=40,
    )


def _rows(forward: Forward) -> list[_ModuleRow]:
    """Return embedding, each layer's parts, final norm and head, in the order of the forward."""
    layers = sorted({run.layer for run in forward.modules if run.layer is not None})
    outside = [run for run in forward.modules if run.layer is None and run.part != "other"]
    first = [_ModuleRow(tr("embedding"), (run,)) for run in outside if run.part == "embedding"]
    last = [_ModuleRow(tr("last norm"), (run,)) for run in outside if run.part == "norm"]
    last += [_ModuleRow(tr("output head"), (run,)) for run in outside if run.part == "head"]
    many = len(layers) > _MOST_LAYERS
    rows = [
        _ModuleRow(
            tr(words[many], layer=nth(group[0])),
            tuple(run for run in forward.modules if run.layer in group and run.part == part),
            len(group),
        )
        for group in ([layers] if many else [[at] for at in layers])
        for part, words in _PARTS.items()
    ]
    return [*first, *(row for row in rows if row.modules), *last]


def _bars(
    name: str, rows: Sequence[_ModuleRow], names: Sequence[str], color: str, theme: Theme
) -> Properties:
    return {
        "type": "bar",
        "orientation": "h",
        "name": escaped(tr(name)),
        "y": [names.index(row.name) for row in rows],
        "x": [1e3 * row.seconds for row in rows],
        "marker": {"color": color},
        "text": [milliseconds(row.seconds) for row in rows],
        **OUTSIDE,
        "textfont": {"size": SMALL, "color": theme.muted},
        **hover_texts(
            [
                lines(
                    f"<b>{escaped(row.name)}</b> · {escaped(tr(name))}",
                    row.layers > 1 and tr("mean of {layers} layers", layers=row.layers),
                    tr(", ").join(
                        dict.fromkeys(escaped(plain_name(run.kind, 40)) for run in row.modules)
                    ),
                    tr(
                        "{taken} in, {given} out",
                        taken=shape(row.modules[0].taken),
                        given=shape(row.modules[-1].given),
                    ),
                    tr(
                        "{time}, {parameters:,} parameters",
                        time=milliseconds(row.seconds),
                        parameters=sum(run.parameters for run in row.modules) // row.layers,
                    ),
                )
                for row in rows
            ]
        ),
    }


def shape(sizes: Sequence[int]) -> str:
    """Return sizes as text, such as "[1, 4, 256]"."""
    return f"[{', '.join(map(str, sizes))}]"


def kept(forward: Forward) -> str:
    """Return the size of the KV cache before and after; plain text."""
    if not forward.after.bytes:
        return tr("no KV cache")
    before, after = forward.before, forward.after
    return tr(
        "KV cache {before}, {bytes_before} → {after}, {bytes_after}",
        before=counted(before.tokens, "token"),
        bytes_before=_size(before.bytes),
        after=counted(after.tokens, "token"),
        bytes_after=_size(after.bytes),
    )


def _size(count: int) -> str:
    return f"{count / 2**20:,.1f} MiB" if count >= 2**20 else f"{count / 2**10:,.1f} KiB"
