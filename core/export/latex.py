"""LaTeX for an archive: figures with their captions, and tables as booktabs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "␣": r"\textvisiblespace{}",
    "\u00a0": "~",
    "−": r"\ensuremath{-}",
    "→": r"\ensuremath{\rightarrow}",
    "↵": r"\ensuremath{\hookleftarrow}",
    "…": r"\ldots{}",
    "\n": r"\newline{}",
}
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
    text = "\n".join(body)
    beyond = sorted({char for char in text if ord(char) > 0xFF})
    declared = "".join(
        f"\\DeclareUnicodeCharacter{{{ord(char):04X}}}{{\\texttt{{U+{ord(char):04X}}}}}\n"
        for char in beyond
    )
    return _PREAMBLE % {"declared": declared} + text + "\n\\end{document}\n"


def figure(file: str, caption: str, label: str, mm: float | None) -> str:
    """A float with a picture at the width that it was laid out for."""
    width = f"{mm:g}mm" if mm else r"\linewidth"
    picture = rf"\includegraphics[width={width}]{{{file}}}"
    lines = (r"\begin{figure}[htbp]", r"\centering", picture)
    said = (rf"\caption{{{escaped(caption).replace(chr(92) + 'newline{}', ' ')}}}",)
    return "\n".join([*lines, *said, rf"\label{{fig:{label}}}", r"\end{figure}"])


def table(frame: DataFrame, caption: str) -> str:
    """A float with a table, as booktabs."""
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    heads = [escaped(str(name).replace("_", " ")) for name in frame.columns]
    aligned = "".join("r" if frame[c].dtype.kind in "iuf" else "l" for c in frame.columns)
    body = [" & ".join(row) + r" \\" for row in rows]
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering\small",
            rf"\caption{{{escaped(caption)}}}",
            rf"\begin{{tabular}}{{{aligned}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else escaped(f"{value:.4g}".replace("-", "−"))
    return "" if value is None else escaped(str(value))
