"""Reading of training documents, independent of the code that writes them."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import TypeAlias

from training.corpus.document import Message, Part

Number: TypeAlias = int | Decimal
_SUM = re.compile(r"(\d+) ([-+*/]) (\d+) = (\d+)")


def whole(parts: Iterable[Part]) -> str:
    """All the text of a document."""
    return "".join(part.text for part in parts)


def learned(parts: Iterable[Part]) -> str:
    """The text that bears loss, with a ~ for each part that does not."""
    return "".join(part.text if part.learned else "~" for part in parts)


def reply(messages: list[Message]) -> str:
    return whole(messages[-1].parts)


def sums(text: str) -> list[tuple[int, str, int, int]]:
    """Every written-out sum: first, operation, second, result."""
    return [(int(a), op, int(b), int(c)) for a, op, b, c in _SUM.findall(text)]


def holds(first: Number, operation: str, second: Number, result: Number) -> bool:
    """Return whether the result of a calculation is right, by Python's own arithmetic."""
    exact: dict[str, Number] = {"+": first + second, "-": first - second, "*": first * second}
    if operation == "/":
        return result * second == first
    return exact[operation] == result
