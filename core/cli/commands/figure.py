"""`python -m core figure`: draw a figure of a stored file as SVG, PDF, PNG, CSV or a web page."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ...decoding.errors import FigureError
from ...decoding.files import write_file
from ...figures.journal.journals import JOURNALS
from ...language import N_, Message, use
from .. import output

if TYPE_CHECKING:
    from ...export.part import Part
    from ...export.stored import StoredFile
    from ...figures import Paper, Theme

THEMES = ("light", "dark", "grey")
_ENDINGS = (".svg", ".pdf", ".png", ".csv", ".html")
# Both ends of a picture's texts: an option, and its help.
_DRAWN = {
    "title": N_("draw the title in the picture; by default it is, but not for a journal"),
    "caption": N_("draw the caption in the picture; by default it is, but not for a journal"),
}


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "file",
        help="a trace, tree of runs, many runs (core many), comparison of two runs, lab step, "
        "budget sweep, evaluation, reasoning example or data path (core path)",
    )
    parser.add_argument(
        "--figure",
        metavar="NAME",
        help="its name, or several names with commas (the panels of one figure); without, all "
        "names",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help=N_(
            ".svg, .pdf, .png, .csv or .html (a page with the figure); all: a .zip; - is stdout, "
            "as SVG or .zip"
        ),
    )
    parser.add_argument(
        "--step",
        metavar="INT",
        type=int,
        help="step, round or prompt position looked at, from 1 (default: the one that its page "
        "opens with)",
    )
    parser.add_argument(
        "--width",
        help="column (the default, 85mm or the journal's), page, 120mm, 5in, 640px; a web page "
        "has all",
    )
    parser.add_argument(
        "--journal",
        choices=JOURNALS,
        help="keep to its rules; title and settings go to the caption, which is printed",
    )
    parser.add_argument("--theme", choices=THEMES, help="light; a page: the reader's light or dark")
    parser.add_argument(
        "--shared",
        action="store_true",
        help="a .html takes Plotly's script from a file beside it, which is written too",
    )
    parser.add_argument("--transparent", action="store_true", help="nothing behind the figure")
    output.add_language(parser)
    for text, words in _DRAWN.items():
        parser.add_argument(f"--{text}", action=BooleanOptionalAction, help=words)


def run(args: Namespace) -> int:
    """List the figures of a file, or write one, or several as panels."""
    with use(args.lang):
        wrote = _write(args)
    if wrote:
        output.say_written(args.out)
    return 0


def _write(args: Namespace) -> bool:
    """List the figures and return False, or write them and return True."""
    from ...export.catalog import entries_of
    from ...export.panels import Panels
    from ...export.stored import read_stored
    from ...figures import LIGHT, printed
    from ...figures import THEMES as THEME_OF

    stored = read_stored(args.file)
    # The number of steps in a page's window depends on the width too.
    page = str(args.out).lower().endswith(".html") and not args.journal
    paper = whole = printed(
        args.width or ("640px" if page else "column"),
        journal=args.journal or "",
        title=args.title,
        caption=args.caption,
        transparent=args.transparent,
    )
    names = [name.strip() for name in (args.figure or "").split(",")]
    if len(names) > 1:
        paper = Panels.of(whole, len(names)).panel
    entries = {entry.name: entry for entry in entries_of(stored.content)}
    step = None if args.step is None else args.step - 1
    if args.figure not in (None, "all") and not set(names) <= entries.keys():
        raise FigureError(
            Message(
                "This file has the figures {names}; all takes every one.", names=", ".join(entries)
            )
        )
    if step is not None and not any(entry.unit for entry in entries.values()):
        raise FigureError(N_("This file's figures have no steps; leave --step out."))
    for name in [name for name in names if name in entries] or list(entries)[:1]:
        entries[name].require(step)
    if args.figure is None:
        print("\n".join(entries))
        return False
    if args.out is None:
        raise FigureError(N_("Say with --out where the figure is written to, such as figure.pdf."))
    output.require_writable(args.out, "--out")
    theme = THEME_OF[args.theme] if args.theme else None
    suffix = ".zip" if args.figure == "all" else ".svg"
    with output.written(args.out, suffix) as path, output.writing():
        out = Path(path)
        if len(names) > 1:
            parts = [entries[name].part(step, paper) for name in names]
            _save_panels(parts, theme or LIGHT, whole, out)
        elif args.figure == "all":
            parts = [entry.part(step, paper) for entry in entries.values()]
            _save_all(stored, parts, theme or LIGHT, paper, out)
        else:
            _save_one(entries[args.figure].part(step, paper), theme, paper, out, shared=args.shared)
    return True


def _save_one(
    part: Part, theme: Theme | None, paper: Paper, out: Path, *, shared: bool = False
) -> None:
    from ...export.part import table_file
    from ...export.save import save_figure
    from ...figures import LIGHT
    from ...figures.journal.key_words import full_caption

    ending = out.suffix.lower()
    if ending not in _ENDINGS:
        raise FigureError(
            Message(
                "A figure is saved as .svg, .pdf, .png, .csv or .html, not as {name!r}.",
                name=out.name[:60],
            )
        )
    if ending == ".csv":
        write_file(out, table_file(part, paper))
        return
    figure = part.figure(theme or LIGHT, paper)
    # A web page does the layout in the browser, for every width and for light or dark.
    drawn = part.drawn() if ending == ".html" else figure
    save_figure(drawn, out, paper=paper, theme=theme, shared=shared)
    if paper.journal:
        print(full_caption(figure.layout.meta))


def _save_panels(parts: list[Part], theme: Theme, paper: Paper, out: Path) -> None:
    from ...export.panels import Panels
    from ...export.save import save_figure

    panels = Panels.of(paper, len(parts))
    drawn = [part.figure(theme, panels.panel) for part in parts]
    save_figure(drawn, out, paper=paper, theme=theme)
    print(panels.words([figure.layout.meta for figure in drawn])["caption"])


def _save_all(stored: StoredFile, parts: list[Part], theme: Theme, paper: Paper, out: Path) -> None:
    from ...export.archive import Archive
    from ...export.drawing.chrome import svgs

    if out.suffix.lower() != ".zip":
        raise FigureError(
            Message("All figures go into a .zip, not into {name!r}.", name=out.name[:60])
        )
    archive = Archive(stored.subject(), paper, tables=stored.tables())
    drawn = [part.figure(theme, paper) for part in parts]
    for part, figure, raw in zip(parts, drawn, svgs(drawn), strict=True):
        archive.add(part, figure, raw)
    write_file(out, archive.encode())
