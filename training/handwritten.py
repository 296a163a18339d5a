"""The questions written by hand for the evaluation, none of which the training text may hold."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "evaluation" / "questions"


@cache
def read(name: str) -> list[list[str]]:
    """The rows of a file of questions, its columns divided by " | "; the first line is a title."""
    lines = (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()[1:]
    return [[cell.strip() for cell in line.split(" | ")] for line in lines]


@cache
def asked_sums() -> frozenset[str]:
    """The sums that are asked, without brackets, such as 3+4*5."""
    return frozenset(row[2].replace("(", "").replace(")", "") for row in read("sums"))
