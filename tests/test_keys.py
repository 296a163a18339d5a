"""Code decides by keys: no English text is compared, searched or looked up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pages.ui import registry
from pages.ui.widgets.controls.control import rows
from pages.ui.widgets.controls.old_labels import OLD_LABELS
from pages.ui.widgets.controls.options import Options

ROOT = Path(__file__).parents[1]
# What looks into a text, or finds something by it.
_METHODS = {
    *("startswith", "endswith", "removeprefix", "removesuffix", "partition", "rpartition"),
    *("index", "find", "get", "pop", "setdefault", "search", "match", "fullmatch", "findall"),
}
# A word or a sentence as people read it; keys have neither capitals nor spaces.
_ENGLISH = re.compile(r"[A-Z][a-z]{2,}( .*)?|.*[a-z] [a-z].*", re.DOTALL)
# Files that look for words of others, and tables of words of ours.
ALLOWED = {
    "core/decoding/constraints/value.py": "llguidance's sentences",
    "core/decoding/record/faults.py": "pydantic's sentences",
    "core/export/drawing/svg.py": "names of fonts",
    "core/figures/base/fonts.py": "names of fonts",
    "core/figures/base/measure.py": "names of fonts",
    "core/models/": "names in the files of models",
    "core/traces/data_path/text.py": "a value as Python writes it",
    "pages/ui/inside/rows.py": "a value as Python writes it",
    "pages/ui/run/jobs.py": "name of a class",
    "pages/ui/widgets/style.py": "how browsers name themselves",
}


def _texts(node: ast.AST) -> Iterator[str]:
    """The texts that an expression holds by itself, not in what it calls."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        for item in node.elts:
            yield from _texts(item)
    elif isinstance(node, ast.JoinedStr):
        for item in node.values:
            yield from _texts(item)


def looked_at(tree: ast.AST) -> Iterator[str]:
    """The texts that code compares, searches for, or finds something by."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            places = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            places = node.args[:1] if node.func.attr in _METHODS else []
        elif isinstance(node, ast.Subscript):
            places = [node.slice]
        elif isinstance(node, ast.MatchValue):
            places = [node.value]
        else:
            continue
        for place in places:
            yield from _texts(place)


def english(source: str) -> list[str]:
    return [text for text in looked_at(ast.parse(source)) if _ENGLISH.fullmatch(text)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('name == "Not proved"', ["Not proved"]),
        ('note.startswith("ranked anew after")', ["ranked anew after"]),
        ('tab in ("Time", "uncertainty")', ["Time"]),
        ('label = words["Best of N"]', ["Best of N"]),
        ('f"{name} ended it" in said', [" ended it"]),
        ('name == "top_p" and st.text("Press Run.")', []),
    ],
)
def test_an_english_text_that_decides_is_found(source: str, found: list[str]) -> None:
    assert english(source) == found


def test_no_code_decides_by_an_english_text() -> None:
    seen, texts_by_file = 0, dict[str, list[str]]()
    for path in sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "pages").rglob("*.py")]):
        name, source = str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        seen += sum(1 for _ in looked_at(ast.parse(source)))
        if not name.startswith(tuple(ALLOWED)) and (texts := english(source)):
            texts_by_file[name] = texts
    assert seen > 1_000 and texts_by_file == {}


def test_no_script_of_a_page_decides_by_an_english_text() -> None:
    decides = re.compile(
        r"""(?:[!=]==? ?|\.(?:includes|startsWith|indexOf|split)\()["`][^"`\n]*[a-z] [a-z]"""
        r"""|/[^/\n]*[a-z] [a-z(][^/\n]*/[a-z]*\.test"""
    )
    assert decides.search('if (text === "removed by argmax") return;')
    assert decides.search("/^(after shaping|removed by) /.test(line)")
    for path in [*(ROOT / "core").rglob("*.js"), *(ROOT / "pages").rglob("*.js")]:
        assert not decides.search(path.read_text(encoding="utf-8")), path


def test_each_name_on_a_page_of_runs_has_its_slot_s_prefix() -> None:
    """The rule includes tabs and menus, which are drawn only after they are opened."""
    seen, bare = 0, list[str]()
    rooms = (
        *("widgets", "run", "decode", "beam", "speculative", "inside", "lab", "reasoning"),
        *("compare", "read"),
    )
    for path in (path for room in rooms for path in (ROOT / "pages/ui" / room).rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and re.match(
                r"st\.|_\w*component$", ast.unparse(call.func)
            ):
                keys = [word.value for word in call.keywords if word.arg == "key"]
                seen += len(keys)
                bare += [ast.unparse(key) for key in keys if not isinstance(key, ast.Call)]
    # Of the frame around all pages, and names that were given their prefix before.
    assert seen > 120 and set(bare) <= {
        "'figure-choices'",
        "'trace_file'",
        "key",
        "name",
        "self.state_key",
    }


def test_the_address_holds_keys_and_old_links_their_labels() -> None:
    for page in registry.PAGES:
        page.load_controls.find()
    keys = re.compile(r"[a-z0-9_.:/-]+|[a-z]+mm")
    options = {row.key: row for row in rows(Options)}
    assert len(options) > 20
    for row in options.values():
        for held in row.words:
            word = row.in_address(held)
            assert keys.fullmatch(word) and row.of_address(word) == held, (row.key, word)
    for key, labels in OLD_LABELS.items():
        for label, held in labels.items():
            assert not keys.fullmatch(label), label
            if key in options:
                assert options[key].of_address(label) == held
