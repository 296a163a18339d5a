"""Reading of training documents, independent of the code that writes them."""

import re
from collections.abc import Iterable

from training.corpus.document import Message, Part

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


def holds(first: int, operation: str, second: int, result: int) -> bool:
    """Whether a sum is right, by Python's own arithmetic."""
    exact = {"+": first + second, "-": first - second, "*": first * second}
    if operation == "/":
        return result * second == first
    return exact[operation] == result


def value_of_question(question: str) -> int:
    """The value that a question in symbols or in words asks for."""
    if re.match(r"(Start with|Take|What is \d+ times)", question):
        return _follow_orders(question)
    found = re.search(r"[\d(][\d()+*/ -]*", question)
    assert found
    value = eval(found[0].strip())
    assert value == int(value)
    return int(value)


def _follow_orders(question: str) -> int:
    if product := re.match(r"What is (\d+) times (\d+)\?", question):
        return int(product[1]) * int(product[2])
    first, rest = re.match(r"(?:Start with|Take) (\d+)(.*)", question).groups()
    value = int(first)
    for verb, number in re.findall(r"(add|subtract|multiply by|divide by) (\d+)", rest.lower()):
        operand = int(number)
        if verb == "divide by":
            assert value % operand == 0
            value //= operand
        else:
            value = {"add": value + operand, "subtract": value - operand}.get(verb, value * operand)
    return value
