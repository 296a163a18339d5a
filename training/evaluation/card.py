"""The model cards, written beside the weights."""

import json
from pathlib import Path
from typing import Any

from training.evaluation.measure import Measure, table

TEMPLATES = Path(__file__).parents[1] / "cards"


def history(before: list[dict[str, Any]]) -> str:
    """What the weights had learned already when their last training began."""
    rounds = (f"{one['tokens']:,} tokens in {one['minutes']} minutes" for one in before)
    return "".join(f", after a training on {words}" for words in rounds)


def write_cards(folder: Path, measures: list[Measure]) -> None:
    """Write README.md of each model that is there, from its settings and the measures."""
    for role in ("target", "draft"):
        settings = folder / role / "training.json"
        if not settings.exists():
            continue
        values = json.loads(settings.read_text(encoding="utf-8"))
        template = (TEMPLATES / f"{role}.md").read_text(encoding="utf-8")
        values["history"] = history(values.pop("before", []))
        chosen = [one for one in measures if role == "target" or "draft" in one.name]
        card = template.format(table=table(chosen), **values)
        (folder / role / "README.md").write_text(card, encoding="utf-8")
