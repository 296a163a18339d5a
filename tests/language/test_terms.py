"""Words of the catalogues: one term a thing, names as the labels have them, one way of spacing."""

from __future__ import annotations

import re

import pytest

from core.installation import ROOT
from core.language.make_messages import browser_texts, stored

LANGUAGES = ("ja", "ko")
# A row of the table of rejected words in docs/locales.md: language, word used, words not used.
_ROW = re.compile(r"^\| (ja|ko) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
_QUOTED = re.compile(r"“([^”{}]+)”")
_JAPANESE = "[ぁ-ヿ一-鿿]"


def texts(language: str) -> list[tuple[str, str]]:
    """Return each form of each text with its translation."""
    found = []
    for entry in stored(language):
        if entry.id:
            one = entry.id if isinstance(entry.id, str) else entry.id[0]
            forms = [entry.string] if isinstance(entry.string, str) else entry.string
            found += [(one, form) for form in forms]
    return found


def rejected(language: str) -> list[str]:
    table = (ROOT / "docs" / "locales.md").read_text("utf-8")
    words = [row[1] for row in _ROW.findall(table) if row[0] == language]
    return [word for cell in words for word in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_rejected_word_does_not_occur(language: str) -> None:
    """Where it fails: use the other word of its row in docs/locales.md."""
    words = rejected(language)
    assert len(words) > 3
    wrong = [(w, form) for w in words for _, form in texts(language) if re.search(w, form)]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_quoted_name_is_translated_as_its_control_is(language: str) -> None:
    """Where it fails: write the name in quotes as the catalogue translates the name itself."""
    labels = dict(texts(language))
    opening, closing = {"ja": "「」", "ko": "‘’"}[language]
    wrong = [
        (name, labels[name], form)
        for text, form in texts(language)
        for name in _QUOTED.findall(text)
        if name in labels and f"{opening}{labels[name]}{closing}" not in form
    ]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("control", "phrase"),
    [
        ("Decode", "Decode page"),
        ("Continue", "press Continue"),
        ("More settings", "under More settings"),
        ("Roll again", "button Roll again"),
        ("Losslessness", "tab Losslessness"),
        ("Speculative", "page Speculative"),
    ],
)
def test_a_name_without_quotes_is_translated_as_its_control_is(
    language: str, control: str, phrase: str
) -> None:
    found = texts(language)
    label = dict(found)[control]
    named = [form for text, form in found if phrase in text]
    assert named and [form for form in named if label not in form] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_lessons_name_the_controls_whose_text_has_a_value(language: str) -> None:
    """The knobs' button and the roll: their texts hold a number."""
    found = dict(texts(language))
    knobs = found["More knobs ({count})"].partition("(")[0].strip()
    assert [
        form for text, form in found.items() if "More knobs," in text and knobs not in form
    ] == []
    roll = found["Roll {roll} draws {token}"].replace("{roll}", "1")
    said = next(form for text, form in found.items() if "“Roll 1”" in text)
    assert re.split("は|이 ", roll)[0] in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_space_stands_before_a_percent_sign(language: str) -> None:
    assert [form for _, form in texts(language) if re.search(r"[\d}] %(?![a-z(])", form)] == []


@pytest.mark.parametrize(
    "other",
    [
        "[：（）]",
        f"{_JAPANESE}, ",
        f"{_JAPANESE}\\.$",
        "[。、] ",
        r"(?:\d|(?<!nbsp)\})[個回件枚行層本秒]",
        f"{_JAPANESE} {_JAPANESE}",
    ],
)
def test_japanese_marks_and_spaces_are_written_in_one_way(other: str) -> None:
    assert [form for _, form in texts("ja") if re.search(other, form)] == []


def test_a_korean_particle_after_a_value_is_a_pair() -> None:
    """A value's last sound isn't known before it is shown."""
    fixed = re.compile(r"\}[”’]?(?:을|를|은|는|이|가|와|과|으로|로)(?![가-힣(])")
    assert [form for _, form in texts("ko") if fixed.search(form)] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_choices_of_early_stopping_differ(language: str) -> None:
    found = dict(texts(language))
    assert len({found["Off"], found["On"], found["Never"]}) == 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_help_of_early_stopping_names_its_choices_as_the_menu_does(language: str) -> None:
    found = dict(texts(language))
    help = next(form for text, form in found.items() if text.startswith("On: as soon as"))
    assert [word for word in ("On", "Off", "Never") if f"{found[word]}: " not in help] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_help_of_the_draw_names_its_methods_as_the_menu_does(language: str) -> None:
    found = dict(texts(language))
    help = next(form for text, form in found.items() if text.startswith("How a token is picked"))
    names = ("Inverse CDF", "Gumbel", "Multinomial")
    assert [name for name in names if f"{found[name]}: " not in help] == []


def test_a_space_stands_on_both_sides_of_a_value_in_a_japanese_sentence() -> None:
    """`without_gaps` drops it where the value is Japanese itself; scripts don't, and a value of
    theirs has a space only if it is a number or a name.
    """
    scripts = {text for text, _ in browser_texts()}
    letters = "ぁ-ゖァ-ヺ一-鿿"
    close = re.compile(rf"(?<!nbsp)\}}[{letters}]|[{letters}]\{{(?!nbsp)")
    wrong = [form for text, form in texts("ja") if text not in scripts and close.search(form)]
    assert wrong == []
