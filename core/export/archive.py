"""Archive of all figures of a page: pictures, tables, captions, and documents that combine them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

import plotly.graph_objects as go
from pandas import isna

from ..decoding.counting import sentences
from ..decoding.version import VERSION
from ..figures.base.labels import exact_plain, head, plain_name
from ..figures.base.paper import Paper
from ..figures.journal.key_words import ended
from ..language import Message, tr
from . import latex
from .part import FORMATS, Part, drawing, encoded, stem
from .subject import Subject
from .table import csv_file

if TYPE_CHECKING:
    from pandas import DataFrame

# The earliest time in ZIP format, so that an archive's bytes depend only on its content.
_WHEN = (1980, 1, 1, 0, 0, 0)
# Limit on rows of a table in a LaTeX float.
_MOST_ROWS = 40
# Limit on the prompt in a citation, in text columns; the trace has all of it.
_PROMPT = 300
# Characters that a URL keeps; others, such as braces, are escaped.
_IN_ADDRESS = ":/?#[]@!$&'()*+,;=%-._~"


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return the files as a ZIP whose bytes depend only on them."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name, _WHEN), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


@dataclass
class Archive:
    """An archive to which figures are added one by one.

    Args:
        subject: the run or evaluation that the figures show.
        paper: the size and style of the figures.
        link: link that reproduces the run; empty for none.
        tables: tables with their captions, such as the metrics and the hypotheses.
        page: prefix of the figures' names.
    """

    subject: Subject
    paper: Paper
    link: str = ""
    tables: Sequence[tuple[str, DataFrame]] = ()
    page: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    figures: list[tuple[str, str, str, str]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    fonts_lack: set[str] = field(default_factory=set)

    def add(self, part: Part, figure: go.Figure, raw: str) -> None:
        """Add a figure's files: pictures, table, caption and alt text.

        Args:
            raw: Plotly's SVG of the figure.
        """
        name = stem(
            "-".join(filter(None, (self.page, part.name))), self.subject.config, figure.layout.meta
        )
        drawn = drawing(raw, figure, name, self.paper)
        self.fonts_lack |= set(drawn.fonts.missing)
        for form in FORMATS:
            self.files[f"figures/{name}.{form}"] = encoded(drawn, form)
        if part.data is not None:
            self.files[f"figures/{name}.csv"] = csv_file(part.table(figure))
        caption = exact_plain(figure.layout.meta["caption"])
        self.files[f"figures/{name}.caption.txt"] = f"{_captioned(drawn.title, caption)}\n".encode()
        self.files[f"figures/{name}.alt.txt"] = f"{drawn.alt}\n".encode()
        self.figures.append((name, drawn.title, caption, drawn.alt))

    def lack(self, part: Part) -> None:
        """Note a figure that is missing because it needs a measurement first."""
        self.missing.append(f"{part.name}: {tr(part.needs)}")

    def encode(self) -> bytes:
        """Return the archive's bytes (ZIP)."""
        files = {
            **self.subject.files,
            "settings.json": self._settings(),
            "figures.md": self._markdown().encode(),
            "figures.tex": self._latex().encode(),
            "citation.bib": self._citation().encode(),
            **{f"tables/{stem(title, None)}.csv": csv_file(frame) for title, frame in self.tables},
            **self.files,
        }
        return zipped(files)

    def _settings(self) -> bytes:
        settings = {
            **self.subject.settings,
            "link": self.link or None,
            "journal": self.paper.journal.label if self.paper.journal else None,
            "width": f"{self.paper.mm:g}mm" if self.paper.mm else f"{self.paper.width:g}px",
        }
        return (json.dumps(settings, ensure_ascii=False, indent=2, default=str) + "\n").encode()

    def _markdown(self) -> str:
        lines = [f"# {tr('Decoding Explorer: figures')}", "", _plain(self.subject.caption), ""]
        if self.link:
            lines += [tr("Link: {link}", link=f"<{self.link}>"), ""]
        for name, title, caption, alt in self.figures:
            lines += [f"## {_plain(title)}", "", f"![{_plain(alt)}](figures/{name}.svg)", ""]
            lines += [
                _plain(caption),
                "",
                tr("Data: {file}", file=f"[{name}.csv](figures/{name}.csv)"),
                "",
            ]
        for caption, frame in (_first_rows(*table)[::-1] for table in self.tables):
            lines += [f"## {_plain(caption)}", "", _markdown_table(frame), ""]
        if self.missing:
            lines += [
                f"## {tr('Not in this archive')}",
                "",
                *(f"- {name_missing}" for name_missing in self.missing),
                "",
            ]
        if self.fonts_lack:
            lacked = " ".join(f"U+{ord(c):04X}" for c in sorted(self.fonts_lack))
            lines += [
                tr(
                    "No font of the machine has these characters; boxes stand for them: "
                    "{characters}",
                    characters=lacked,
                ),
                "",
            ]
        return "\n".join(lines)

    def _latex(self) -> str:
        body = [
            latex.figure(f"figures/{name}.pdf", _captioned(title, caption), name, self.paper.mm)
            for name, title, caption, _ in self.figures
        ]
        body += [latex.table(*_first_rows(caption, frame)) for caption, frame in self.tables]
        return latex.document(body)

    def _citation(self) -> str:
        subject, prompt = self.subject, ""
        if subject.prompt:
            prompt = f"prompt “{plain_name(subject.prompt, _PROMPT)}”"
        note = ". ".join(filter(None, [plain_name(subject.cited, None), subject.models, prompt]))
        fields = ["  title = {{Decoding Explorer}}", f"  version = {{{VERSION}}}"]
        fields += [f"  note = {{{latex.bibtex(note)}}}"]
        year = self.subject.created[:4]
        fields += [f"  year = {{{year}}}"] if year.isascii() and year.isdigit() else []
        fields += [f"  url = {{{quote(self.link, safe=_IN_ADDRESS)}}}"] if self.link else []
        return "@software{decodingexplorer,\n" + ",\n".join(fields) + "\n}\n"


def _captioned(title: str, settings: str) -> str:
    """Return a figure's title and settings as one caption."""
    return tr(sentences(ended(title), settings))


def _first_rows(caption: str, frame: DataFrame) -> tuple[DataFrame, str]:
    """Return a table's first rows for a document, and its caption; the table's file has all."""
    if len(frame) <= _MOST_ROWS:
        return frame, tr(caption)
    title = tr(
        "{caption} The first {most} of {rows} rows; all: {file}.",
        caption=Message(caption),
        most=_MOST_ROWS,
        rows=len(frame),
        file=f"{stem(caption, None)}.csv",
    )
    return frame.head(_MOST_ROWS), title


def _plain(text: str) -> str:
    """Return the text on one line, with Markdown and HTML characters escaped."""
    marks = "\\`*_{}[]<>#|!$~&"
    return "".join(f"\\{c}" if c in marks else c for c in " ".join(text.split()))


def _markdown_table(frame: DataFrame) -> str:
    heads = [_plain(head(str(name))) for name in frame.columns]
    rows = [[_shown(value) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, ["---"] * len(heads), *rows])


def _shown(value: object) -> str:
    if value is None or isna(value):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else _plain(str(value))
