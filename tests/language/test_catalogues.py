"""Catalogues: they hold the texts of the code, translated where the code's room is converted."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from babel.messages.catalog import Catalog
from babel.messages.catalog import Message as Entry
from babel.messages.mofile import write_mo

from core.language.catalogue import DOMAIN, ENGLISH, LANGUAGES, LOCALES
from core.language.make_messages import ROOT, is_translated, stored, template

TRANSLATED = [language for language in LANGUAGES if language != ENGLISH]
# Rooms whose texts are all translated; the list only ever gets longer.
CONVERTED = (
    *("core/figures/base/", "core/figures/home/", "core/figures/classroom/", "core/figures/lanes/"),
    *("core/figures/compare/", "core/figures/constraint/", "core/figures/decode/"),
    *("core/figures/diffusion/", "core/figures/guided/", "core/figures/inside/"),
    *("core/figures/journal/", "core/figures/many/", "core/figures/read/"),
    *("core/figures/evaluate/", "core/figures/samplers/", "core/figures/speculative/"),
    *("core/lessons/", "assets/lessons/"),
    *("core/figures/beam/", "core/figures/reasoning/", "core/figures/lab/"),
    *("pages/ui/beam/", "pages/ui/reasoning/", "pages/ui/lab/"),
    # Errors, declarations and checks; the endpoint stays English.
    *("core/decoding/", "core/evaluation/", "core/export/", "core/models/", "core/traces/"),
    # The command line.
    *("core/cli/", "core/server/settings.py", "core/server/api/serve.py"),
    # The pages' scripts, and the rooms.
    *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")),
    *("pages/ui/classroom/", "pages/ui/compare/", "pages/ui/course/", "pages/ui/decode/"),
    *("pages/ui/diffusion/", "pages/ui/evaluate/", "pages/ui/gallery/", "pages/ui/home/"),
    *("pages/ui/hosting/", "pages/ui/inside/", "pages/ui/many/", "pages/ui/platform/"),
    *("pages/ui/read/", "pages/ui/registry.py", "pages/ui/requests/", "pages/ui/resources/"),
    *("pages/ui/run/", "pages/ui/shell/", "pages/ui/speculative/", "pages/ui/widgets/"),
)
_FIELD = re.compile(r"\{[^{}]*\}")
_SPACED = re.compile(r"[0-9}](?: |\u00a0|\{nbsp\})%")
_WORDS = re.compile(r"[A-Za-z]+ [A-Za-z]+")
# No language's words: names, and abbreviations that all three use.
_SAME = re.compile(r"Best of N|ln p|ln S|[A-Z0-9 +/&.:-]*|top-[kp]|min-p|[^A-Za-z]*")


def entries(catalog: Catalog) -> list[Entry]:
    return [entry for entry in catalog if entry.id]


def forms(text: object) -> list[str]:
    return [str(form) for form in (text if isinstance(text, list | tuple) else [text or ""])]


@pytest.fixture(scope="module")
def code() -> Catalog:
    return template()


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_compiled_catalogue_is_that_of_the_texts(language: str) -> None:
    compiled = BytesIO()
    write_mo(compiled, stored(language))
    path = LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.mo"
    assert path.read_bytes() == compiled.getvalue()


@pytest.mark.parametrize("language", TRANSLATED)
def test_no_entry_of_a_converted_room_is_missing_or_fuzzy(language: str, code: Catalog) -> None:
    """Where one is missing: `make messages`, then translate what is new in the catalogues."""
    catalog = stored(language)
    lacking = [
        entry.id
        for entry in entries(code)
        if any(path.startswith(CONVERTED) for path, _ in entry.locations)
        and not is_translated(catalog.get(entry.id))
    ]
    assert lacking == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_the_placeholders_of_its_text(language: str) -> None:
    for entry in entries(stored(language)):
        for form in filter(None, forms(entry.string)):
            asked = set(_FIELD.findall(forms(entry.id)[-1]))
            # A percent sign has no space before it in these languages.
            assert set(_FIELD.findall(form)) - {"{nbsp}"} == asked - {"{nbsp}"}, entry.id


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_has_no_space_before_a_percent_sign(language: str) -> None:
    translations = (form for entry in entries(stored(language)) for form in forms(entry.string))
    assert [text for text in translations if _SPACED.search(text)] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translation_is_none_in_english(language: str) -> None:
    """A sentence that was copied; names and abbreviations may be the same."""
    same = [
        entry.id
        for entry in entries(stored(language))
        if forms(entry.string)[0] == forms(entry.id)[0] and not _SAME.fullmatch(forms(entry.id)[0])
    ]
    assert [text for text in same if _WORDS.search(_FIELD.sub("", forms(text)[0]))] == []


def test_no_line_breaks_between_japanese_characters_of_a_paragraph() -> None:
    """A browser shows such a break as a space."""
    wide = "[、-ヿ一-鿿ー！-）：-？]"
    broken = [
        form
        for entry in entries(stored("ja"))
        for form in forms(entry.string)
        if re.search(rf"{wide}\n *{wide}", form)
    ]
    assert broken == []
