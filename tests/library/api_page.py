"""Writer of docs/api.md: the public names of `core`, from their docstrings.

`python -m tests.library.api_page > docs/api.md` writes it.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields, is_dataclass
from itertools import groupby
from pathlib import Path
from types import FunctionType
from typing import Any

import core

ROOT = Path(__file__).parents[2]
INTRODUCTION = """\
# Python interface

`import decoding_explorer` where the wheel is installed, `import core` in the repository. These
names are the stable face. `python -m tests.library.api_page > docs/api.md` writes this page from
their docstrings, and the tests run its examples.

Types with a unit: `Prob` is a probability and `Uniform` a number in [0, 1); `Nats` is an entropy or
a surprisal, log-probabilities are in nats too; `Seconds` are seconds; `Rank` counts from 1, `Index`
and `TokenId` from 0. A trace file's fields are in [trace.schema.json](trace.schema.json), its
tables in [dataframes.md](dataframes.md).

## Stability

- A name of this page, its arguments and its fields stay for all versions with the same major
  number; before 1.0, for all with the same minor number. Other modules may change in any version.
- A name is first deprecated: the changelog lists it under *Deprecated*, its use gives a
  `DeprecationWarning` that names the replacement, and it works for one more minor version.
- A trace file of an earlier program stays readable as long as its `version` is the program's: a new
  field may be missing. A change that such files can't meet raises `version`; the changelog says so.
"""
SECTIONS = {
    "Runs": ("Functions", ("decode", "check", "registry", "adopt", "recorder")),
    "Settings": ("Settings of a run", ("config",)),
    "Records": ("Records of a run", ("steps", "trace", "types")),
    "Files": ("Files and tables", ("file", "foreign_trace", "frames", "save", "widget")),
    "Beams": ("Work on a stored beam search", ("replay",)),
    "Errors": ("Errors", ("errors",)),
}
_TITLE = re.compile(r"^(Args|Returns|Raises|Example):$", re.M)
_NAMED = re.compile(r"([\w, ]+): (.*)")
_WORDS = {"Args": "Arguments", "Returns": "Result", "Raises": "Errors"}


def section_of(name: str) -> str:
    """Return the section of a public name, by the module that declares it."""
    module = getattr(core, name).__module__.rpartition(".")[2]
    return next(key for key, (_, modules) in SECTIONS.items() if module in modules)


def parts_of(thing: object) -> dict[str, str]:
    """Return a docstring's parts by their titles; the text before the first has none."""
    pieces = _TITLE.split(inspect.getdoc(thing) or "")
    titles = ["", *pieces[1::2]]
    return {t: inspect.cleandoc(text) for t, text in zip(titles, pieces[::2], strict=True)}


def items(text: str) -> list[tuple[str, str]]:
    """Return the names and words of a part such as Args; a part of one sentence has no name."""
    lines = re.sub(r"\n +", " ", text).splitlines()
    return [(m[1], m[2]) if (m := _NAMED.match(line)) else ("", line) for line in lines]


def annotation(hint: Any) -> str:
    """Return a type as text, without the bounds of `Annotated`."""
    text = getattr(hint, "__forward_arg__", hint)
    text = text if isinstance(text, str) else inspect.formatannotation(text)
    inner = r"(?:[^][,]|\[(?:[^][]|\[[^][]*\])*\])*"
    while (short := re.sub(rf"Annotated\[({inner}),(?:{inner},?)*\]", r"\1", text)) != text:
        text = short
    return text.replace("|", "\\|")


def field_rows(kind: Any) -> list[str]:
    """Return a table of a record's fields: type, default, words."""
    words = {
        name: text
        for base in reversed(kind.__mro__[:-1])
        for names, text in items(parts_of(base).get("Args", ""))
        for name in names.split(", ")
    }
    helps: dict[str, str] = {}
    if is_dataclass(kind):
        rows = [(f.name, f.type, f.default) for f in fields(kind)]
        helps = {f.name: spec for f in fields(kind) if (spec := _help(f.metadata))}
    else:
        rows = [
            (name, kind.__annotations__[name], kind._field_defaults.get(name, MISSING))
            for name in kind._fields
        ]
    table = ["| field | type | default | |", "|---|---|---|---|"]
    for name, hint, default in rows:
        shown = "" if default is MISSING else f"`{default!r}`"
        meaning = (words.get(name) or helps.get(name, "")).replace("|", "\\|")
        table.append(f"| `{name}` | {annotation(hint)} | {shown} | {meaning} |")
    return table


def _help(metadata: Any) -> str:
    return next((str(v.help) for v in metadata.values() if getattr(v, "help", "")), "")


def example(text: str) -> list[str]:
    """Return an example with the import of the public names in it."""
    names = [n for n in (*core.__all__, "figures") if re.search(rf"\b{n}\b(?=[(.,)]| as)", text)]
    names = sorted({*names, *re.findall(r"except (\w+)", text)})
    lines = ["```pycon", f">>> from decoding_explorer import {', '.join(names)}"]
    return [*lines, *text.splitlines(), "```"]


def members(kind: type) -> list[str]:
    """Return a line for each public method and property of a class."""
    lines = []
    for name, member in vars(kind).items():
        function = (
            member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        )
        if name.startswith("_") or not isinstance(function, FunctionType) or not function.__doc__:
            continue
        call = "" if isinstance(member, property) else "(...)" if _takes(function) else "()"
        first = parts_of(function)[""].split("\n\n")[0].replace("\n", " ")
        lines.append(f"- `{name}{call}`: {first}")
    return lines


def _takes(function: FunctionType) -> bool:
    return len(inspect.signature(function).parameters) > 1


def entry(name: str) -> str:
    """Return a name's part of the page."""
    thing = getattr(core, name)
    parts = parts_of(thing)
    file = Path(inspect.getsourcefile(thing) or "").relative_to(ROOT).as_posix()
    lines = [f"### {name}", ""]
    if isinstance(thing, FunctionType):
        lines += ["```python", _signature(thing), "```", ""]
    lines += [parts[""], ""]
    if isinstance(thing, type) and (is_dataclass(thing) or hasattr(thing, "_fields")):
        lines += [*field_rows(thing), ""]
    for title in ("Args", "Returns", "Raises"):
        if title in parts and not (title == "Args" and isinstance(thing, type)):
            lines += [f"{_WORDS[title]}:", ""]
            lines += [f"- `{n}`: {w}" if n else f"- {w}" for n, w in items(parts[title])] + [""]
    if isinstance(thing, type) and (listed := members(thing)):
        lines += ["Methods and properties:", "", *listed, ""]
    lines += [*example(parts["Example"]), "", f"Source: [{file}](../{file})", ""]
    return "\n".join(lines)


def _signature(function: FunctionType) -> str:
    lines, keyword = [], False
    signature = inspect.signature(function)
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not keyword:
            keyword = True
            lines.append("*")
        default = getattr(one.default, "__name__", repr(one.default))
        shown = "" if one.default is one.empty else f" = {default}"
        lines.append(f"{one.name}: {one.annotation}{shown}")
    inside = "".join(f"    {line},\n" for line in lines)
    return f"{function.__name__}(\n{inside}) -> {signature.return_annotation}"


def page() -> str:
    """Return docs/api.md."""
    order = list(SECTIONS)
    names = sorted(core.__all__, key=lambda name: (order.index(section_of(name)), name.lower()))
    text = INTRODUCTION
    for key, group in groupby(names, section_of):
        text += f"\n## {SECTIONS[key][0]}\n\n" + "\n".join(entry(name) for name in group)
    return text


if __name__ == "__main__":
    print(page(), end="")
