"""Extract the texts to translate, update the catalogues, and compile them.

`make messages` runs this. A text is extracted if the code marks it (`tr`, `trn`, `N_`, `Message`),
counts with it (`counted`, `place_of`), or declares it where code finds it: options, settings, the
glossary, lessons, the examples of the menu, the words in a component's HTML and scripts.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeAlias

import yaml
from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from ..decoding.methods import CHOICES, METHODS
from ..decoding.shaping.config import SETTINGS
from ..installation import ROOT
from .browser_texts import html_texts, script_texts
from .catalogue import DOMAIN, ENGLISH, LANGUAGES, LOCALES
from .message import Message as Declared

# A text, or its singular and its plural.
MessageId: TypeAlias = str | tuple[str, str]
_ONE, _TWO = {"tr", "N_", "Message"}, {"trn", "Plural"}
_PLACES = {"place_of": 0, "place_among": 0, "span_of": 0, "ShownPart": 0}


def texts() -> Iterator[tuple[MessageId, str]]:
    """Yield every text with its file."""
    for path, tree in _python():
        yield from _of(path, _of_python(tree))
        if path.is_relative_to(ROOT / "core" / "cli"):
            yield from _of(path, _of_options(tree))
    yield from browser_texts()
    yield from _of(ROOT / "core/decoding/methods.py", _of_settings())
    for path in sorted((ROOT / "assets" / "lessons").glob("*.yaml")):
        yield from _of(path, _of_lesson(yaml.safe_load(path.read_text(encoding="utf-8"))))
    menus = sorted((ROOT / "assets" / "prompts").glob("*.json"))
    for path in (ROOT / "assets" / "models" / "target" / "prompts.json", *menus):
        examples = json.loads(path.read_text(encoding="utf-8"))
        yield from _of(path, (row[key] for row in examples for key in ("label", "look_for")))


def browser_texts() -> Iterator[tuple[str, str]]:
    """Yield the texts that the browser translates, with their files."""
    for path, tree in _python():
        yield from _of(path, _of_html(tree))
    for path in sorted((ROOT / "pages").rglob("*.js")):
        yield from _of(path, script_texts(path.read_text(encoding="utf-8")))
    for path in sorted((ROOT / "pages").rglob("*.html")):
        yield from _of(path, html_texts(path.read_text(encoding="utf-8")))


def _python() -> Iterator[tuple[Path, ast.AST]]:
    for folder in ("core", "pages"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def _of_settings() -> Iterator[str]:
    """Yield the names of methods and of their settings, as captions and knobs have them."""
    for method in METHODS:
        config = method.config
        yield from (config.method.replace("_", " "), config.words, method.against_model)
        yield from (field.name.replace("_", " ") for field in fields(config))
        helps = (field.metadata.get("help", "") for field in fields(config))
        yield from (text for text in helps if not isinstance(text, Declared) or not text.values)
    for names in CHOICES.values():
        yield from (name.replace("_", " ") for name in sorted(names))
    for spec in SETTINGS.values():
        yield from (spec.name, spec.label, spec.help, spec.absent, spec.group)
        if spec.lines:
            yield spec.lines.help
        if spec.state:
            yield from (spec.state.name, spec.state.seen_name, spec.state.unit)


def _of_html(tree: ast.AST) -> Iterator[str]:
    """Yield the words of the HTML of a file's components."""
    for node in ast.walk(tree):
        if (isinstance(node, ast.Assign) and _target(node) == "_HTML") or (
            isinstance(node, ast.keyword) and node.arg == "html"
        ):
            yield from html_texts(_text(node.value))


def _of(path: Path, found: Iterator[Any]) -> Iterator[tuple[Any, str]]:
    name = path.relative_to(ROOT).as_posix()
    return ((message, name) for message in found if message)


def _of_python(tree: ast.AST) -> Iterator[MessageId]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield from _of_call(node)
        elif isinstance(node, ast.Assign) and _target(node) == "TERMS":
            yield from (_text(key) for key in getattr(node.value, "keys", ()))


def _of_call(call: ast.Call) -> Iterator[MessageId]:
    function = call.func
    name = getattr(function, "attr", getattr(function, "id", ""))
    owner = getattr(getattr(function, "value", None), "id", "")
    given = [_text(argument) for argument in call.args]
    if name in _ONE:
        yield given[0]
    elif name in _TWO and given[0]:
        yield given[0], given[1]
    elif name == "counted" and len(given) > 1 and given[1]:
        yield f"{{count}} {given[1]}", f"{{count}} {given[1]}s"
    elif name in _PLACES and given and given[0]:
        yield from _places(given[0])
    elif (owner, name) == ("pager", "draw"):
        yield from _places(given[3])
    elif (owner, name) == ("table", "draw"):
        yield from _columns(call)
    elif (owner, name) == ("", "table") and given:
        columns = given[0].split() or [_text(item) for item in getattr(call.args[0], "elts", ())]
        yield from (column.replace("_", " ") for column in columns)


def _of_options(tree: ast.AST) -> Iterator[str]:
    """Yield the help of a command's options, and the titles of their groups."""
    for call in ast.walk(tree):
        name = getattr(getattr(call, "func", None), "attr", "")
        if isinstance(call, ast.Call) and name == "add_argument":
            yield from (_text(word.value) for word in call.keywords if word.arg == "help")
        elif isinstance(call, ast.Call) and name == "add_argument_group":
            yield _text(call.args[0])


def _places(what: str) -> Iterator[str]:
    """Yield the texts of a place and a range of it, as `place_of` and `span_of` make them."""
    one = what.removesuffix("s")
    for form in (one, one.capitalize()):
        yield f"{form} {{nth}} of {{count}}"
    yield f"{one.capitalize()}s {{first}} to {{last}} of {{count}}"


def _columns(call: ast.Call) -> Iterator[str]:
    """Yield the names of a table's columns."""
    for argument in call.args[1:]:
        yield from (_text(key) for key in getattr(argument, "keys", ()) if key is not None)


def _target(node: ast.Assign) -> str:
    return getattr(node.targets[0], "id", "")


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _of_lesson(lesson: dict[str, Any]) -> Iterator[str]:
    yield from (lesson["title"], lesson["summary"])
    for step in lesson["steps"]:
        ask = step.get("ask", {})
        yield from (step.get(name, "") for name in ("say", "do", "reveal"))
        yield ask.get("question", "")
        yield from (choice["words"] for choice in ask.get("choices", ()))


def template() -> Catalog:
    """Return the catalogue of all texts without translations."""
    catalog = Catalog(project="Decoding Explorer", charset="utf-8", fuzzy=False)
    for message, path in texts():
        catalog.add(message, locations=[(path, 1)])
    return catalog


def stored(language: str) -> Catalog:
    """Return a language's catalogue as it is stored; an empty one if there is none."""
    path = LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"
    if not path.exists():
        return Catalog(language)
    with path.open("rb") as file:
        return read_po(file, language)


def write(language: str, catalog: Catalog) -> None:
    """Write a language's catalogue, and its compiled form."""
    folder = LOCALES / language / "LC_MESSAGES"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{DOMAIN}.po").open("wb") as file:
        write_po(file, catalog, width=100, no_location=False, include_lineno=False,
            sort_output=False, omit_header=False, ignore_obsolete=True)  # fmt: skip
    with (folder / f"{DOMAIN}.mo").open("wb") as file:
        write_mo(file, catalog)


def is_translated(entry: Message | None) -> bool:
    """Return whether an entry has all its forms."""
    strings = entry.string if entry else ""
    forms = strings if isinstance(strings, list | tuple) else [strings]
    return entry is not None and not entry.fuzzy and all(forms)


def missing(catalog: Catalog, texts_of_code: Catalog) -> Counter[str]:
    """Return the number of texts without a translation in each room."""
    return Counter(
        entry.locations[0][0].rpartition("/")[0]
        for entry in texts_of_code
        if entry.id and not is_translated(catalog.get(entry.id))
    )


def main() -> int:
    """Update and compile every catalogue; print what isn't translated, by room."""
    texts_of_code = template()
    for language in LANGUAGES:
        if language == ENGLISH:
            continue
        catalog = stored(language)
        catalog.update(texts_of_code, no_fuzzy_matching=True, update_creation_date=False)
        write(language, catalog)
        lacking = missing(catalog, texts_of_code)
        print(f"{language}: {len(catalog) - lacking.total()} of {len(catalog)} texts")
        for room, count in lacking.most_common():
            print(f"  {count} of {room}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
