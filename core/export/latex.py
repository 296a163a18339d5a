"""LaTeX for an archive: figures with their captions, and tables as booktabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_SIGNS = {"σ": "sigma", "χ": "chi", "α": "alpha", "≤": "le", "≥": "ge", "∅": "emptyset"}
_SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "␣": r"\textvisiblespace\allowbreak{}",
    "\u00a0": "~",
    "−": r"\ensuremath{-}",
    "→": r"\ensuremath{\rightarrow}",
    "↵": r"\ensuremath{\hookleftarrow}",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "–": "--",
    "—": "---",
    **{sign: rf"\ensuremath{{\{name}}}" for sign, name in _SIGNS.items()},
    "\n": r"\newline{}",
}
# A page's floats; LaTeX holds 18 back at most.
_FLOATS = 8
# A line of a table has so many characters, a longer text is a paragraph, of that share of the line.
_LINE, _LONG, _PARAGRAPH = 88, 40, 0.45
_PREAMBLE = r"""\documentclass{article}
\usepackage{iftex}
\ifPDFTeX
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
%(declared)s\else
\usepackage{fontspec}
\fi
\usepackage{graphicx}
\usepackage{booktabs}
\usepackage{array}
\usepackage[margin=25mm]{geometry}
\begin{document}
"""


def escaped(text: str) -> str:
    """Plain text as LaTeX; what a token says is never a command."""
    return "".join(_SPECIAL.get(char, char) for char in text if char == "\n" or char.isprintable()
                   or char == "\u00a0")  # fmt: skip


def document(body: Sequence[str]) -> str:
    """A document that pdfLaTeX, XeLaTeX, LuaLaTeX and Tectonic compile.

    pdfLaTeX knows no character beyond Latin-1: it writes the number of any other.
    """
    pages = [body[at : at + _FLOATS] for at in range(0, len(body), _FLOATS)]
    text = "\n\\clearpage\n".join("\n".join(page) for page in pages)
    beyond = sorted({char for char in text if ord(char) > 0xFF})
    declared = "".join(
        f"\\DeclareUnicodeCharacter{{{ord(char):04X}}}{{\\texttt{{U+{ord(char):04X}}}}}\n"
        for char in beyond
    )
    return _PREAMBLE % {"declared": declared} + text + "\n\\end{document}\n"


def figure(file: str, caption: str, label: str, mm: float | None) -> str:
    """A float with a picture at the width that it was laid out for."""
    width = f"{mm:g}mm" if mm else r"\linewidth"
    # A tree may be higher than a page.
    size = rf"width={width},height=0.8\textheight,keepaspectratio"
    picture = rf"\includegraphics[{size}]{{{file}}}"
    lines = (r"\begin{figure}[htbp]", r"\centering", picture)
    said = (rf"\caption{{{escaped(caption).replace(chr(92) + 'newline{}', ' ')}}}",)
    return "\n".join([*lines, *said, rf"\label{{fig:{label}}}", r"\end{figure}"])


def table(frame: DataFrame, caption: str) -> str:
    """A float with a table, as booktabs."""
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    heads = [escaped(str(name).replace("_", " ")) for name in frame.columns]
    body = [" & ".join(row) + r" \\" for row in rows]
    begin, end = _fitted(frame, rf"\begin{{tabular}}{{{_aligned(frame)}}}", r"\end{tabular}")
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering\small",
            rf"\caption{{{escaped(caption)}}}",
            begin,
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            end,
            r"\end{table}",
        ]
    )


def _aligned(frame: DataFrame) -> str:
    """Numbers at the right; long text in a paragraph."""
    kinds = zip(_widths(frame), (frame[name].dtype.kind in "iuf" for name in frame), strict=True)
    long = rf">{{\raggedright\arraybackslash}}p{{{_PARAGRAPH:g}\linewidth}}"
    return "".join("r" if number else long if wide > _LONG else "l" for wide, number in kinds)


def _fitted(frame: DataFrame, begin: str, end: str) -> tuple[str, str]:
    """A table that is wider than the page is made smaller as a whole."""
    needed = sum(min(wide, _LONG) + 2 for wide in _widths(frame))
    return (
        (rf"\resizebox{{\linewidth}}{{!}}{{{begin}", f"{end}}}") if needed > _LINE else (begin, end)
    )


def _widths(frame: DataFrame) -> list[int]:
    """The characters of each column's longest cell, its name included."""
    return [max(len(str(name)), *(len(_shown(v)) for v in frame[name]), 0) for name in frame]


def _shown(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else escaped(f"{value:.4g}".replace("-", "−"))
    return "" if value is None else escaped(str(value))
