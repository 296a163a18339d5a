"""Solve arithmetic questions from their words; no torch."""

from __future__ import annotations

import re

from ...decoding.reasoning.calculator import CalculatorError, evaluate, format_value
from ..types import Problem

# Matches a whole question with single spaces; a partial match doesn't count.
_SYMBOLS = re.compile(
    r"(?:(?:what is|compute|calculate) )?([-+*/().0-9 ]+?)(?: ?= ?\??| ?\?|\.)?", re.IGNORECASE
)
_OPERATOR = re.compile(r"[0-9)] ?[-+*/]")
_ORDER = r"(add|subtract|multiply by|divide by) ([0-9]+)"
_TOLD = re.compile(
    rf"(?:start with|take) ([0-9]+)((?:[.,] (?:then )?{_ORDER})+)[.]?"
    r"(?: what (?:is the result|do you get)\?)?",
    re.IGNORECASE,
)
_ORDERS = re.compile(_ORDER, re.IGNORECASE)
_SIGNS = {"add": "+", "subtract": "-", "multiply by": "*", "divide by": "/"}
_SPOKEN = {"plus": "+", "minus": "-", "times": "*", "divided by": "/"}


def check_arithmetic(problem: Problem, answer: str) -> float:
    """Verifier that solves the question itself: return 1 if the answer is right, else 0.

    It reads only the question, never `problem.answer`. It also returns 0 for a question that
    `worked_out` can't read.
    """
    return float(worked_out(problem.question) == answer)


def worked_out(question: str) -> str | None:
    """Return the answer to "What is (7 + 5) * 3?", "7 plus 5" or "Start with 7, add 5, ...".

    Return None for every other question: with other words or numbers, without an operation, or
    without a value.
    """
    expression = _expression_of(" ".join(question.split()))
    try:
        return format_value(evaluate(expression)) if expression else None
    except CalculatorError:
        return None


def _expression_of(question: str) -> str | None:
    if orders := _TOLD.fullmatch(question):
        text = orders[1]
        for order, operand in _ORDERS.findall(orders[2]):
            text = f"({text}) {_SIGNS[order.lower()]} {operand}"
        return text
    for word, sign in _SPOKEN.items():
        question = question.replace(f" {word} ", f" {sign} ")
    symbols = _SYMBOLS.fullmatch(question)
    return symbols[1] if symbols and _OPERATOR.search(symbols[1]) else None
