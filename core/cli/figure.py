"""`python -m core figure`: a figure of a stored trace as SVG, PDF, PNG, CSV or a web page."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from core.cli import output
from core.decoding.errors import FigureError
from core.figures.base.journals import JOURNALS

if TYPE_CHECKING:
    from core.decoding.trace import Trace
    from core.export.part import Part
    from core.figures import Paper, Theme

THEMES = ("light", "dark", "grey")
_ENDINGS = (".svg", ".pdf", ".png", ".csv", ".html")
_NAMED = f"{', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}"
_OUT = f"FILE{_NAMED} (a page with the figure); all: a .zip of every figure"
_FIGURE = "its name, or several names with commas (the panels of one figure); without, all names"
_WIDTH = "column (the default, 85mm or the journal's), page, 120mm, 5in, 640px; a web page has all"
_JOURNAL = "keep to its rules; title and settings go to the caption, which is printed"
_SHARED = "a .html takes Plotly's script from a file beside it, which is written too"


def add(parser: ArgumentParser) -> None:
    """The command's options."""
    parser.add_argument("file", help="a trace file")
    parser.add_argument("--figure", help=_FIGURE)
    parser.add_argument("--out", help=_OUT)
    parser.add_argument("--step", type=int, default=1, help="step or round looked at, from 1")
    parser.add_argument("--width", help=_WIDTH)
    parser.add_argument("--journal", choices=JOURNALS, help=_JOURNAL)
    parser.add_argument("--theme", choices=THEMES, help="light; a page: the reader's light or dark")
    parser.add_argument("--shared", action="store_true", help=_SHARED)
    parser.add_argument("--transparent", action="store_true", help="nothing behind the figure")
    for text in ("title", "caption"):
        said = f"draw the {text} in the picture; by default it is, but not for a journal"
        parser.add_argument(f"--{text}", action=BooleanOptionalAction, help=said)


def run(args: Namespace) -> int:
    """List the figures of a trace, or write one."""
    from core import read_trace
    from core.export.catalog import figures_of
    from core.export.panels import Panels
    from core.figures import LIGHT, printed
    from core.figures import THEMES as THEME_OF

    trace = read_trace(args.file)
    # How many steps a page's window holds follows from the width too.
    page = str(args.out).lower().endswith(".html") and not args.journal
    paper = whole = printed(
        args.width or ("640px" if page else "column"),
        journal=args.journal or "",
        title=args.title,
        caption=args.caption,
        transparent=args.transparent,
    )
    names = (args.figure or "").split(",")
    if len(names) > 1:
        paper = Panels.of(whole, len(names)).panel
    parts = {part.name: part for part in figures_of(trace, step=args.step - 1, paper=paper)}
    if args.figure is None:
        print("\n".join(parts))
        return 0
    if args.out is None:
        raise FigureError("Say with --out where the figure is written to, such as figure.pdf.")
    if not set(names) <= {*parts, *(["all"] if len(names) == 1 else [])}:
        raise FigureError(f"This trace has the figures {', '.join(parts)}; all takes every one.")
    output.require_writable(args.out, "--out")
    out = Path(args.out)
    theme = THEME_OF[args.theme] if args.theme else None
    if len(names) > 1:
        _save_panels([parts[name] for name in names], theme or LIGHT, whole, out)
    elif args.figure == "all":
        _save_all(trace, list(parts.values()), theme or LIGHT, paper, out)
    else:
        _save_one(parts[args.figure], theme, paper, out, shared=args.shared)
    output.say(f"wrote {out}")
    return 0


def _save_one(
    part: Part, theme: Theme | None, paper: Paper, out: Path, *, shared: bool = False
) -> None:
    from core.export.part import table_file
    from core.export.save import save_figure
    from core.figures import LIGHT
    from core.figures.base.key_words import full_caption

    ending = out.suffix.lower()
    if ending not in _ENDINGS:
        raise FigureError(f"A figure is saved as {_NAMED}, not as {out.name[:60]!r}.")
    if ending == ".csv":
        out.write_bytes(table_file(part))
    else:
        save_figure(part.drawn(), out, paper=paper, theme=theme, shared=shared)
    if paper.journal and ending != ".csv":
        said = part.figure(LIGHT if theme is None else theme, paper).layout.meta
        print(full_caption(said))


def _save_panels(parts: list[Part], theme: Theme, paper: Paper, out: Path) -> None:
    from core.export.panels import Panels
    from core.export.save import save_figure

    save_figure([part.drawn() for part in parts], out, paper=paper, theme=theme)
    panels = Panels.of(paper, len(parts))
    print(panels.words([part.figure(theme, panels.panel).layout.meta for part in parts])["caption"])


def _save_all(trace: Trace, parts: list[Part], theme: Theme, paper: Paper, out: Path) -> None:
    from core.export.archive import Archive
    from core.export.chrome import svgs
    from core.export.subject import Subject
    from core.export.tables import tables_of

    if out.suffix.lower() != ".zip":
        raise FigureError(f"All figures go into a .zip, not into {out.name[:60]!r}.")
    subject = Subject.of_trace(trace, trace.to_json().encode())
    archive = Archive(subject, paper, tables=tables_of(trace))
    drawn = [part.figure(theme, paper) for part in parts]
    for part, figure, raw in zip(parts, drawn, svgs(drawn), strict=True):
        archive.add(part, figure, raw)
    out.write_bytes(archive.encode())
