"""The model cards, written beside the weights."""

import json
from pathlib import Path
from typing import Any

from training.evaluation.measure import Measure, table
from training.evaluation.written import Answered

TEMPLATES = Path(__file__).parents[1] / "cards"
EXAMPLES, SHOWN, EVALUATION = "examples.json", 10, "evaluation.json"
ROLES = ("target", "draft", "reward", "head")


def history(before: list[dict[str, Any]], averaged: bool = False) -> str:
    """What the weights had learned when their last training began; averaged: with its own start."""
    rounds = (f"{one['tokens']:,} tokens in {one['minutes']} minutes" for one in before)
    told = "".join(f", after a training on {words}" for words in rounds)
    return told + ", and the mean of these weights and those before" * averaged


def in_words(shares: dict[str, float]) -> str:
    """The shares of the families, the largest first, as the training stored them."""
    rows = sorted(shares.items(), key=lambda row: -row[1])
    return ", ".join(f"{100 * share:.0f} % {name}" for name, share in rows) or "not recorded"


def store_measures(folder: Path, measures: list[Measure]) -> None:
    """Store the measures, which all cards are written from."""
    rows = [measure._asdict() for measure in measures]
    text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    (folder / "target" / EVALUATION).write_text(text, encoding="utf-8")


def read_measures(folder: Path) -> list[Measure]:
    """The stored measures."""
    rows = json.loads((folder / "target" / EVALUATION).read_text(encoding="utf-8"))
    return [Measure(**row) for row in rows]


def replace_measures(folder: Path, subject: str, measures: list[Measure]) -> None:
    """Store measures in place of those whose names begin with `subject`, in their order."""
    stored = read_measures(folder)
    others = [one for one in stored if not one.name.startswith(subject)]
    at = next((at for at, one in enumerate(stored) if one not in others), len(stored))
    store_measures(folder, [*others[:at], *measures, *others[at:]])


def write_cards(folder: Path) -> None:
    """Write README.md of each model that is there, from its settings and the stored measures."""
    for role, text in cards(folder).items():
        (folder / role / "README.md").write_text(text, encoding="utf-8")


def cards(folder: Path) -> dict[str, str]:
    """The card of each model that is there, by its role."""
    measures, found = read_measures(folder), {}
    for role in ROLES:
        settings = folder / role / "training.json"
        if not settings.exists():
            continue
        values = json.loads(settings.read_text(encoding="utf-8"))
        template = (TEMPLATES / f"{role}.md").read_text(encoding="utf-8")
        values["shares"] = in_words(values.get("shares", {}))
        values["examples"] = read_examples(folder / role)
        values["history"] = history(values.pop("before", []), "averaged" in values)
        chosen = [one for one in measures if role == "target" or _is_of(role, one.name)]
        found[role] = template.format(table=table(chosen), **values)
    return found


def _is_of(role: str, name: str) -> bool:
    """Whether a measure is of a model; a draft head's is no draft's."""
    return role in name and (role == "head" or "draft head" not in name)


def write_examples(answered: list[Answered], folder: Path) -> None:
    """Store some replies that are right and some that are not, spread over the questions."""
    found = {}
    for right in (True, False):
        chosen = [one for one in answered if one.right == right]
        spread = chosen[:: max(1, len(chosen) // SHOWN)][:SHOWN]
        found["right" if right else "wrong"] = [[one.question, one.reply] for one in spread]
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    (folder / EXAMPLES).write_text(text, encoding="utf-8")


def read_examples(folder: Path) -> str:
    """The stored replies as two tables in Markdown; nothing where there are none."""
    path = folder / EXAMPLES
    if not path.exists():
        return ""
    tables = []
    for name, rows in json.loads(path.read_text(encoding="utf-8")).items():
        lines = [f"| {name}: the question | the reply |", "|---|---|"]
        lines += [f"| {_cell(question)} | {_cell(reply)} |" for question, reply in rows]
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def _cell(text: str) -> str:
    """A text as it may stand in a table: in one line, its marks shown as they are."""
    line = " ".join(text.split())
    shown = line if len(line) <= 200 else f"{line[:200]} ..."
    for mark, written in (("|", "\\|"), ("<", "&lt;"), ("{", "&#123;"), ("_", "\\_")):
        shown = shown.replace(mark, written)
    return shown
