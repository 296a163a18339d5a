"""Normalise texts before they are compared or parsed: Unicode forms, LaTeX, Markdown."""

from __future__ import annotations

import re
import unicodedata

# Currency signs besides $.
CURRENCIES = "€£¥₩₹"
# Scripts without a space between a word and a number: kana, Han, Hangul.
UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_MINUS = re.compile(rf"[−–‐‑](?=[${CURRENCIES}]? ?\.?[0-9])")
_GROUPED = re.compile(r"(?<=[0-9])[\u00a0\u2009\u202f'’](?=[0-9]{3}(?![0-9]))")
_FRACTION = re.compile(
    r"\\[dt]?frac ?\{ ?([^{}]{1,99}?) ?\} ?\{ ?([^{}]{1,99}?) ?\}|\\[dt]?frac([0-9])([0-9])"
)
_WORDS = re.compile(r"\\(?:text(?:bf|it|rm)?|math(?:bf|rm|it)|mbox) ?\{([^{}]{0,200})\}")
_SCIENTIFIC = re.compile(
    r"(?<=[0-9]) ?(?:×|\\times|\\cdot|\*|x) ?10 ?\^ ?\{? ?([-+−]?[0-9]{1,4}) ?\}?"
)
_MARKED = re.compile(r"(?<![\w*_`])(\*{1,3}|_{1,3}|`)(?=\S)([^*_`\n]{1,200})(?<=\S)\1(?![\w*_`])")
_RAISED = re.compile(r"\^ ?\{([^{}]{0,99})\}")
_SIGNS = {r"\$": "$", r"\%": "%", "{,}": ",", r"\;": " ", r"\ ": " "} | dict.fromkeys(
    (r"\,", r"\!", r"\(", r"\)", r"\[", r"\]", r"\left", r"\right"), ""
)
_SIGN = re.compile("|".join(map(re.escape, _SIGNS)))


def folded(text: str) -> str:
    """Return the text with composed accents, normal widths, and ASCII signs of numbers.

    `４２` gives `42`, `1½` gives `1 1/2`, a minus or dash before a digit `-`; thin spaces and
    apostrophes between thousands become commas. Other compatibility forms stay: x² is not x2.
    """
    if text.isascii():
        return _GROUPED.sub(",", text)
    plain = unicodedata.normalize("NFC", "".join(map(_ordinary, text)))
    return _GROUPED.sub(",", _MINUS.sub("-", plain))


def _ordinary(char: str) -> str:
    kind = unicodedata.decomposition(char).partition(" ")[0]
    if kind == "<fraction>":
        return " " + unicodedata.normalize("NFKC", char).replace("⁄", "/")
    return unicodedata.normalize("NFKC", char) if kind in ("<wide>", "<narrow>") else char


def without_markup(text: str) -> str:
    r"""Return the text without LaTeX and Markdown marks around numbers and words.

    `\frac{1}{2}` gives `1/2`, `\text{ km}` its words, `10{,}000` a comma, `1.5 \times 10^3` gives
    `1.5e3`, `**42**` gives `42`. Nested commands are resolved from the inside, three levels deep.
    """
    if not any(mark in text for mark in "\\^*_`"):
        return text
    plain = _SIGN.sub(lambda match: _SIGNS[match[0]], text)
    for _ in range(3):
        plain = _RAISED.sub(r"^\1", _FRACTION.sub(r"\1\3/\2\4", _WORDS.sub(r"\1", plain)))
    return _MARKED.sub(r"\2", _SCIENTIFIC.sub(r"e\1", plain))
