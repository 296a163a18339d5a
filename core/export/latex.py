"""LaTeX source for an archive: figures with their captions, and tables with booktabs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from ..figures.base.labels import head

if TYPE_CHECKING:
    from pandas import DataFrame

_SIGNS = {"σ": "sigma", "χ": "chi", "α": "alpha", "≤": "le", "≥": "ge", "∅": "emptyset"}
# A named character never forms a ligature, as two plain ones would in -- or ?`.
_NAMED = {
    "\\": "textbackslash",
    "~": "textasciitilde",
    "^": "textasciicircum",
    "`": "textasciigrave",
    "'": "textquotesingle",
    "<": "textless",
    ">": "textgreater",
    "|": "textbar",
    "“": "textquotedblleft",
    "”": "textquotedblright",
    "‘": "textquoteleft",
    "’": "textquoteright",
    "–": "textendash",
    "—": "textemdash",
    "…": "ldots",
}
_SPECIAL = {
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    **{mark: f"\\{name}{{}}" for mark, name in _NAMED.items()},
    # Its command needs the T1 encoding, which not every paper uses.
    '"': r"\texttt{\char34}",
    "⇥": r"\ensuremath{\rightarrow}\textbar{}",
    "␣": r"\textvisiblespace\allowbreak{}",
    "\u00a0": "~",
    "−": r"\ensuremath{-}",
    "→": r"\ensuremath{\rightarrow}",
    "↵": r"\ensuremath{\hookleftarrow}",
    **{sign: rf"\ensuremath{{\{name}}}" for sign, name in _SIGNS.items()},
}
# Commands from the document's own packages; a citation may not use them.
_OWN = {**_SPECIAL, "✓": r"\ding{51}", "✗": r"\ding{55}"}
# Used before the same character, to prevent a ligature; LuaLaTeX ignores braces here.
_DOUBLED = {
    "-": r"-\allowbreak{}",
    ",": r",\kern0pt{}",
    "<": r"\textless\kern0pt{}",
    ">": r"\textgreater\kern0pt{}",
}
# BibTeX counts escaped braces too, and some parsers start an entry at @.
_BIBTEX = {**_SPECIAL, "{": r"\textbraceleft{}", "}": r"\textbraceright{}", "@": r"{\char64}"}
# Characters at the start of a row that `\\` and booktabs' rules would read as an option.
_OPTIONS = ("[", "*")
_LATIN_1 = 0xFF
# Floats on a page; LaTeX defers at most 18.
_FLOATS = 8
# Characters on a table's line and of a text that needs a paragraph; the paragraph's share.
_LINE, _LONG, _PARAGRAPH = 88, 40, 0.45
_PREAMBLE = r"""\documentclass{article}
\usepackage{iftex}
\ifPDFTeX
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
%% Without it T1's fonts are bitmaps (Type 3), which journals refuse.
\usepackage{lmodern}
%(declared)s\else
\usepackage{fontspec}
%(asian)s\fi
\usepackage{graphicx}
\usepackage{booktabs}
\usepackage{array}
\usepackage{pifont}
\usepackage[margin=25mm]{geometry}
\begin{document}
"""

# Packages with the rules for line breaks, and a font. Not switched on: a machine without package or
# font couldn't compile the document.
_ASIAN = r"""%% The default font has no Japanese or Korean characters: TeX leaves them out.
%% Uncomment the line of your TeX, and name a font of your machine (Debian: fonts-noto-cjk):
%% \usepackage{xeCJK}\setCJKmainfont{%(font)s} %% XeLaTeX, Tectonic
%% \usepackage{luatexja-fontspec}\setmainjfont{%(font)s} %% LuaLaTeX
"""
_HANGUL = range(0xAC00, 0xD7A4)


def escaped(text: str) -> str:
    """Return plain text as LaTeX on one line; text of a token is never a command."""
    return _replaced(text, _OWN)


def cell(text: str) -> str:
    """Return plain text as a cell of a LaTeX table, safe at the start of a row."""
    text_escaped = escaped(text).lstrip(" ")
    return f"{{}}{text_escaped}" if text_escaped.startswith(_OPTIONS) else text_escaped


def bibtex(text: str) -> str:
    """Return plain text as a BibTeX field's value, between braces.

    pdfLaTeX can't print a character beyond Latin-1 that has no LaTeX command: its code point
    replaces it.
    """
    beyond = {char: _number(char) for char in set(text) if ord(char) > _LATIN_1}
    return _replaced(text, {**beyond, **_BIBTEX})


def _replaced(text: str, special: Mapping[str, str]) -> str:
    """Return the printable characters with replacements; a line break or a tab becomes a space."""
    spaced = "".join(" " if char in "\n\r\t\v\f" else char for char in text)
    printed = "".join(char for char in spaced if char.isprintable() or char == "\u00a0")
    return "".join(
        _DOUBLED[char] if char == following and char in _DOUBLED else special.get(char, char)
        for char, following in zip(printed, f"{printed[1:]} ", strict=False)
    )


def _number(char: str) -> str:
    return rf"\texttt{{U+{ord(char):04X}}}"


def document(body: Sequence[str]) -> str:
    """Return a document that pdfLaTeX, XeLaTeX, LuaLaTeX and Tectonic compile.

    pdfLaTeX prints the code point of a character that its fonts lack; for the others a comment
    names the lines that Japanese and Korean need.
    """
    pages = [body[at : at + _FLOATS] for at in range(0, len(body), _FLOATS)]
    text = "\n\\clearpage\n".join("\n".join(page) for page in pages)
    declared = "".join(
        rf"\ifcsname u8:\detokenize{{{char}}}\endcsname\else"
        f"\\DeclareUnicodeCharacter{{{ord(char):04X}}}{{{_number(char)}}}\\fi\n"
        for char in sorted(set(text))
        if ord(char) > _LATIN_1
    )
    preamble = _PREAMBLE % {"declared": declared, "asian": _asian(text)}
    return preamble + text + "\n\\end{document}\n"


def _asian(text: str) -> str:
    """Return the lines on a font for Japanese and Korean; empty for a text without them."""
    if all(east_asian_width(char) not in "WF" for char in set(text)):
        return ""
    korean = any(ord(char) in _HANGUL for char in text)
    return _ASIAN % {"font": f"Noto Serif CJK {'KR' if korean else 'JP'}"}


def figure(file: str, caption: str, label: str, mm: float | None) -> str:
    """Return a float with a picture at its layout width."""
    width = f"{mm:g}mm" if mm else r"\linewidth"
    # A tree may be higher than a page.
    size = rf"width={width},height=0.8\textheight,keepaspectratio"
    lines = (r"\begin{figure}[htbp]", r"\centering", rf"\includegraphics[{size}]{{{file}}}")
    return "\n".join(
        [*lines, rf"\caption{{{escaped(caption)}}}", rf"\label{{fig:{label}}}", r"\end{figure}"]
    )


def table(frame: DataFrame, caption: str) -> str:
    """Return a float with a table, in booktabs style."""
    rows = [[_cell(value) for value in row] for row in frame.itertuples(index=False)]
    begin, end = _fitted(frame, rf"\begin{{tabular}}{{{_aligned(frame)}}}", r"\end{tabular}")
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering\small",
            rf"\caption{{{escaped(caption)}}}",
            begin,
            r"\toprule",
            " & ".join([cell(head(str(name)).replace("_", " ")) for name in frame.columns])
            + r" \\",
            r"\midrule",
            *[" & ".join(row) + r" \\" for row in rows],
            r"\bottomrule",
            end,
            r"\end{table}",
        ]
    )


def _aligned(frame: DataFrame) -> str:
    """Return the column types: right-aligned for numbers, a paragraph for long text, else left."""
    kinds = zip(_widths(frame), (frame[name].dtype.kind in "iuf" for name in frame), strict=True)
    long = rf">{{\raggedright\arraybackslash}}p{{{_PARAGRAPH:g}\linewidth}}"
    return "".join("r" if number else long if wide > _LONG else "l" for wide, number in kinds)


def _fitted(frame: DataFrame, begin: str, end: str) -> tuple[str, str]:
    """Return the begin and end of a table, scaled down if the table is wider than the page."""
    needed = sum(min(wide, _LONG) + 2 for wide in _widths(frame))
    return (
        (rf"\resizebox{{\linewidth}}{{!}}{{{begin}", f"{end}}}") if needed > _LINE else (begin, end)
    )


def _widths(frame: DataFrame) -> list[int]:
    """Return the width of each column in characters: its longest cell or its name."""
    return [
        max(
            len(str(name)),
            *(len(f"{v:.4g}" if isinstance(v, float) else str(v)) for v in frame[name]),
            0,
        )
        for name in frame
    ]


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if value != value else escaped(f"{value:.4g}".replace("-", "−"))
    return "" if value is None else cell(str(value))
