"""Texts of figures: tokens, numbers, stage names and settings. Tokens are untrusted text."""

from __future__ import annotations

import html
import math
import unicodedata
from collections.abc import Collection
from dataclasses import fields
from functools import lru_cache
from itertools import accumulate

from ...decoding.config import MethodConfig
from ...decoding.methods import choice_words
from ...decoding.reading.types import is_reading, text_of
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import PENALTIES, SETTINGS, Shaping, parts_of
from ...evaluation.questions.names import set_words
from ...language import N_, Message, current, tr
from ...language.columns import text_columns as text_columns
from .paper import SCREEN, Paper

NBSP = "\u00a0"
MINUS = "\u2212"

# U+2420 would be clearer, but CJK fonts lack it.
SPACE = "␣"
BREAK = "↵"
_SHOWN = {" ": SPACE, "\n": BREAK, "\t": "⇥"}
WHITESPACE = tuple(_SHOWN.values())
_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs")
_SAFE_MARKS = str.maketrans('<>"`$', "＜＞＂｀＄")
_EXACT_MARKS = {safe: mark for mark, safe in _SAFE_MARKS.items()}

# Settings without effect on a run, or named elsewhere in the caption.
_UNSAID = {"shaping", "top_candidates", "seed"}
_ALWAYS_SAID = {"num_beams", "draft_length", "max_thinking_tokens"}
# Number of a prompt's columns in a printed caption.
_PROMPT = 120
# Maximum length of a token whose text is cached.
_REMEMBERED = 40
# Number of a setting's further numbers that fit beside a stage.
_MOST_PARTS = 2
# Number of a list's items in a caption, such as stop strings.
_MOST_ITEMS = 3


def visible_token(text: str, limit: int | None = None) -> str:
    """Return a token as visible plain text: whitespace as signs, control characters as escapes.

    For `textContent`, file names and tests; figures use `show_token`.

    Args:
        limit: maximum number of columns (a CJK character takes two), an ellipsis included.
    """
    return _visible(text, limit) if len(text) <= _REMEMBERED else _visible.__wrapped__(text, limit)


@lru_cache(maxsize=8192)
def _visible(text: str, limit: int | None) -> str:
    if not text:
        return "∅"
    # A long token is cut before its characters are looked at one by one.
    pieces = list(text if limit is None else text[: limit + 1])
    for at, char in enumerate(pieces):
        if char in _SHOWN:
            pieces[at] = _SHOWN[char]
        elif unicodedata.category(char) in _INVISIBLE and char not in ("\u200c", "\u200d"):
            pieces[at] = f"\\x{ord(char):02x}" if ord(char) < 256 else f"\\u{ord(char):04x}"
    if unicodedata.category(text[0]).startswith("M"):
        pieces.insert(0, "◌")
    widths = [text_columns(piece) for piece in pieces]
    if limit is None or sum(widths) <= limit:
        return "".join(pieces)
    ends = list(accumulate(widths))
    return "".join(piece for piece, end in zip(pieces, ends, strict=True) if end < limit) + "…"


def plain_name(text: str, limit: int | None = 24) -> str:
    """Return a name as plain text, like `visible_token` but with spaces unchanged."""
    return visible_token(text, limit).replace(SPACE, " ")


def escaped(text: str) -> str:
    """Return text that Plotly shows unchanged: no tags, entities, MathJax or `%{meta}`."""
    # Plotly decodes numeric entities, but not &quot;.
    plain = html.escape(text).replace("&quot;", "&#34;")
    return plain.replace("$", "&#36;").replace("%{", "&#37;{")


def show_token(text: str, limit: int | None = 24) -> str:
    """Return a token as a Plotly label: visible, cut to `limit` columns, escaped."""
    return escaped(visible_token(text, limit))


def lines(*parts: str | bool | None) -> str:
    """Join the lines of a hover text; false ones are left out."""
    return "<br>".join(str(part) for part in parts if part)


def table_text(text: str) -> str:
    """Return a token's raw text for a table; a lone surrogate, which no table can hold, is
    escaped.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def safe_plain(text: str) -> str:
    """Return plain text without any markup, for alt texts and captions in the figure's meta."""
    return text.translate(_SAFE_MARKS)


def exact_plain(text: str) -> str:
    """Undo `safe_plain`, for files and fields that escape their text themselves."""
    return text.translate(_EXACT_MARKS)


def unspaced(text: str) -> str:
    """Return a label without the space before a percent sign, where the language has none."""
    return text.replace(f"{NBSP}%", "%") if current() in _UNSPACED else text


def percent(prob: float) -> str:
    """Return a probability as a percentage that stays readable if it is tiny."""
    return unspaced(f"{_hundredths(100 * prob)}{NBSP}%")


def percentage(share: float, spec: str = ".0f") -> str:
    """Return a share as a percentage in a format of its own."""
    return unspaced(f"{100 * share:{spec}}{NBSP}%")


def _hundredths(value: float) -> str:
    if value == 0:
        return "0"
    if 0 < value < 0.0001:
        return f"<{NBSP}0.0001"
    if value >= 1:
        shown = f"{value:.1f}"
        if shown == "100.0":
            return "100" if value >= 99.9999 else f">{NBSP}99.9"
        return shown
    return f"{float(f'{value:.2g}'):f}".rstrip("0").rstrip(".")


def percent_ticks(top: float, count: int = 4) -> dict[str, object]:
    """Return axis ticks from 0 to at most `top` (and 100 %), at round percentages."""
    rough = 100 * min(top, 1.0) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * nice for nice in (1, 2, 2.5, 5, 10) if power * nice >= rough * 0.999)
    values = [step * at for at in range(int(100 * min(top, 1.0) / step + 1e-6) + 1)]
    return {
        "tickmode": "array",
        "tickvals": [v / 100 for v in values],
        "ticktext": [f"{float(f'{value:.6g}'):g}{NBSP}%" for value in values],
    }


def nats(value: float, digits: int = 3) -> str:
    """Return a log-probability with a real minus sign."""
    # Without the sign of a number that is rounded to 0.
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", MINUS)


def milliseconds(seconds: float) -> str:
    """Return seconds as milliseconds with three significant digits."""
    value = 1000 * seconds
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f}{NBSP}ms"


# Languages that write 95%, without a space.
_UNSPACED = frozenset({"ja", "ko"})
_STAGE_WORDS = {
    "forced": N_("forcing"),
    "server": N_("the server's draw"),
    "raw": N_("raw"),
    "final": N_("final"),
}


def stage_name(name: str) -> str:
    """Return a stage's name as in the settings (`top_p` is top-p); plain text, not escaped."""
    if name in SETTINGS:
        return tr(SETTINGS[name].name)
    if name in _STAGE_WORDS:
        return tr(_STAGE_WORDS[name])
    # Not " " directly: a space from an untrusted file is shown as a sign.
    return visible_token(name.replace("_", "-"), 30).replace("-", " ")


def stage_setting(name: str, config: MethodConfig) -> str:
    """Return a stage's name with its value (`top-p 0.9`); plain text."""
    # Declared settings only: a stage's name may come from an untrusted file.
    if name in SETTINGS:
        return setting_words(name, config.shaping, few=True)
    value = getattr(config, name, None) if name in config.__dataclass_fields__ else None
    return f"{stage_name(name)} {value:g}" if isinstance(value, int | float) else stage_name(name)


def setting_words(name: str, shaping: Shaping, *, few: bool = False) -> str:
    """Return a setting of the shaping with its value (`top-p 0.9`); plain text.

    Args:
        few: of many further numbers only those that differ from their defaults, without the name
            of the setting before each (`XTC 0.5, threshold 0.1`).
    """
    parts = parts_of(name)
    if few and len(parts) > _MOST_PARTS:
        parts = tuple(part for part in parts if getattr(shaping, part) != SETTINGS[part].off)
    numbers = ((SETTINGS[one], getattr(shaping, one)) for one in (name, *parts))
    named = f"{tr(SETTINGS[name].name)} " if few else ""
    return tr(", ").join(
        f"{tr(spec.name).removeprefix(named)} {plain_name(shaping_value(spec.field, value), None)}"
        for spec, value in numbers
    )


def set_name(name: str) -> str:
    """Return the name of a problem or question set; plain text."""
    words = set_words(name)
    return plain_name(tr(words) if isinstance(words, Message) else words, 80)


def head(column: str) -> str:
    """Return the name of a table's column as documents and pages have it; a data file keeps the
    name.
    """
    words = column.replace("_", " ")
    shown = tr(words)
    return column if shown == words else shown


def shaping_value(name: str, value: object) -> str:
    """Return the value of a setting of the shaping in words, which may hold untrusted text."""
    shown = SETTINGS[name].shown(value)
    return tr(shown) if isinstance(shown, Message) else shown


def name_of(setting: str) -> str:
    """Return the declared name of a setting of a method or of the shaping."""
    return SETTINGS[setting].name if setting in SETTINGS else setting.replace("_", " ")


def named_setting(name: str, value: object, limit: int = 30, label: str = "") -> str:
    """Return a setting of a method or of the shaping with its value; plain text.

    Args:
        limit: number of columns of a text.
        label: name of the setting on the page; empty for its name in captions.
    """
    if name in SETTINGS:
        words = label or tr(name_of(name))
        return f"{words} {plain_name(shaping_value(name, value), limit)}"
    return _setting(name, value, limit, label)


def _choice(name: str, value: str) -> str:
    """Return a text of a method's setting; one of several names, such as `prompt_lookup`, in
    words.
    """
    words = choice_words(name, value)
    return tr(words) if isinstance(words, Message) else words


def settings_caption(trace: Trace, paper: Paper = SCREEN) -> str:
    """Return model, method, settings that differ from the neutral default, and seed; plain text.

    `embedded:target · sampling · temperature 0.8 · top-p 0.9 · seed 7`
    """
    if is_reading(trace):
        caption = f"{plain_name(trace.model_id, 80)} · {tr('reading')}"
    else:
        caption = config_caption(trace.model_id, trace.config, draft_id=trace.draft_id)
    if trace.known is not None:
        known = tr("{known} tokens of a step known", known=trace.known)
        caption += f" · {known}"
    return with_text(caption, trace, paper)


def with_text(caption: str, trace: Trace, paper: Paper) -> str:
    """Return a caption that, if printed, names a run's prompt, or the text that was read; plain
    text.
    """
    if is_reading(trace):
        return with_prompt(caption, text_of(trace), paper, N_("text"))
    return with_prompt(caption, trace.prompt, paper)


def with_prompt(caption: str, prompt: str, paper: Paper, name: str = N_("prompt")) -> str:
    """Return a caption that names the prompt, or a text of another name, too if printed; plain
    text.
    """
    if not paper.printed or not prompt.strip():
        return caption
    limit = None if paper.whole_prompt else _PROMPT
    return f"{caption} · {tr(name)} “{plain_name(prompt.strip(), limit)}”"


def config_caption(
    model_id: str, config: MethodConfig, unsaid: Collection[str] = (), *, draft_id: str = ""
) -> str:
    """Return the caption of runs with these settings, without those in `unsaid`."""
    names = list(SETTINGS if config.can_draw else PENALTIES)
    active = [*config.shaping.active(names), *["temperature"] * getattr(config, "do_sample", False)]
    seed = getattr(config, "seed", None)
    parts = [
        plain_name(model_id, 80),
        tr((config.method or "decoding").replace("_", " ")),
        draft_id and tr("draft {model}", model=plain_name(draft_id, 80)),
        *(setting_words(name, config.shaping) for name in names if name in active),
        *(
            _setting(field.name, getattr(config, field.name))
            for field in fields(config)
            if field.name not in {*_UNSAID, *unsaid, *getattr(config, "idle", ())}
            and (getattr(config, field.name) != field.default or field.name in _ALWAYS_SAID)
        ),
        ""
        if seed is None or "seed" in unsaid or not getattr(config, "draws", True)
        else tr("seed {seed}", seed=seed),
    ]
    return " · ".join(filter(None, parts))


def _setting(name: str, value: object, limit: int = 30, label: str = "") -> str:
    if name == "use_cache" and not value:
        return tr("cache off")
    if name == "do_sample" and value:
        return tr("drawn")
    words = label or tr(name_of(name))
    if isinstance(value, tuple):
        shown = tr(", ").join(f"“{visible_token(str(item), 20)}”" for item in value[:_MOST_ITEMS])
        if len(value) > _MOST_ITEMS:
            shown = tr("{items} and {number} more", items=shown, number=len(value) - _MOST_ITEMS)
        return f"{words} {shown}" if value else ""
    if isinstance(value, bool):
        return words if value else tr("no {setting}", setting=words)
    if isinstance(value, float):
        return f"{words} {value:g}"
    return f"{words} {plain_name(_choice(name, str(value)), limit).strip()}"
