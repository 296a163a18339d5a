"""Calculator calls: detection in a text, and evaluation without `eval`."""

from __future__ import annotations

import re
from fractions import Fraction

from ...language import N_, Message

CALL, RESULT, END_RESULT = "<call>", "<result>", "</result>"
CALL_MARKS = (CALL, RESULT, END_RESULT)
ERROR = "error"
MAX_LENGTH = 200
MAX_DEPTH = 20
CALL_IN_VIEW = len(CALL) + len(RESULT) + 2 * MAX_LENGTH
_DIGITS = 12  # significant digits of a value that isn't whole
# ASCII only: `\d` would match digits of every script.
_TOKEN = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+|[-+*/()])", re.ASCII)


class CalculatorError(ValueError):
    """The expression has no value; the message gives the reason."""


def evaluate(expression: str) -> Fraction:
    """Return the exact value of an expression of numbers, + - * / and parentheses.

    The parser is a recursive descent; nothing is executed.

    Raises:
        CalculatorError: the expression is too long or too deep, holds something else, or divides by
            zero.
    """
    if len(expression) > MAX_LENGTH:
        raise CalculatorError(
            Message("the expression is longer than {max_length} characters", max_length=MAX_LENGTH)
        )
    parser = _Parser(_tokens(expression))
    value = parser.sum(0)
    if parser.next is not None:
        raise CalculatorError(
            Message("{next!r} stands where the expression should end", next=parser.next)
        )
    return value


def result_of(expression: str) -> str:
    """Return the result of a call: the value, or `error`."""
    try:
        return format_value(evaluate(expression))
    except CalculatorError:
        return ERROR


def format_value(value: Fraction) -> str:
    """Return a whole number in full, others with twelve significant digits, never with an
    exponent.
    """
    if value.denominator == 1:
        return str(value.numerator)
    sign, size = ("-" if value < 0 else ""), abs(value)
    # Digits after the point, for twelve significant digits in total.
    places = _DIGITS - len(str(int(size))) if size >= 1 else _DIGITS + _leading_zeros(size)
    scaled = round(size * 10 ** max(places, 0))
    text = str(scaled).rjust(max(places, 0) + 1, "0")
    whole, part = (text[:-places], text[-places:].rstrip("0")) if places > 0 else (text, "")
    return f"{sign}{whole}.{part}" if part else f"{sign}{whole}"


def _leading_zeros(size: Fraction) -> int:
    zeros = 0
    while size * 10 ** (zeros + 1) < 1:
        zeros += 1
    return zeros


def _tokens(expression: str) -> list[str]:
    tokens, at, text = [], 0, expression.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CalculatorError(
                Message("{text!r} is neither a number nor one of + - * / ( )", text=text[at])
            )
        tokens.append(match[1])
        at = match.end()
    return tokens


class _Parser:
    """sum: product (+|- product)*; product: sign (*|/ sign)*; sign: -sign | number | (sum)."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def next(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> str:
        if self.next is None:
            raise CalculatorError(N_("the expression ends too early"))
        self._at += 1
        return self._tokens[self._at - 1]

    def sum(self, depth: int) -> Fraction:
        value = self._product(depth)
        while self.next in ("+", "-"):
            value += self._product(depth) if self._take() == "+" else -self._product(depth)
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._sign(depth)
        while self.next in ("*", "/"):
            if self._take() == "*":
                value *= self._sign(depth)
            elif divisor := self._sign(depth):
                value /= divisor
            else:
                raise CalculatorError(N_("a division by zero"))
        return value

    def _sign(self, depth: int) -> Fraction:
        if depth > MAX_DEPTH:
            raise CalculatorError(
                Message(
                    "more than {max_depth} parentheses and signs are nested", max_depth=MAX_DEPTH
                )
            )
        token = self._take()
        if token == "-":
            return -self._sign(depth + 1)
        if token == "(":
            value = self.sum(depth + 1)
            if self._take() != ")":
                raise CalculatorError(N_("a parenthesis is not closed"))
            return value
        if token in "+*/)":
            raise CalculatorError(Message("{token!r} stands where a number should", token=token))
        return Fraction(token)


def call_at_end(text: str) -> str | None:
    """Return the expression of the call at the end of a text; None without a call.

    Only the last `CALL_IN_VIEW` characters are searched.
    """
    if not text.endswith(RESULT):
        return None
    _, mark, expression = text[-CALL_IN_VIEW : -len(RESULT)].rpartition(CALL)
    # A call that already has its result doesn't count.
    return expression if mark and END_RESULT not in expression else None
