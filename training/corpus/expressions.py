"""Sums with brackets, precedence, negative numbers and one decimal, worked out step by step."""

import ast
import random
import re
from decimal import Decimal
from typing import NamedTuple

from training.corpus.problems import is_held_out
from training.handwritten import asked_sums

MOST_STEPS = 9
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_LARGEST_SUM, _LARGEST_PRODUCT = Decimal(1998), Decimal(199)

# One letter a number: a, b, c, d are amounts, k and m small, x and y have one decimal,
# p and q have three digits, f and g two (the factors of a product by parts).
_SHAPES = """8 a+b
14 a-b
8 p+q
20 p-q
3 p+b
10 p-b
6 k*a
3 a*k
12 f*g
7 a/k
8 k-a
3 b-p
16 x+y
16 x-y
5 x*k
4 k/m
5 a+k*m
4 a-k*m
3 k*m+a
2 k*m-a
4 (a+b)*k
4 (a-b)*k
3 k*(a+b)
3 k*(a-b)
2 a+b*k
5 a-(b+c)
2 a-(b-c)
3 k*m+n*o
2 k*m-n*o
2 a/k+b
5 a-b/k
4 (a+b)/k
5 (a-b)/k
1 (k+m)*(n+o)
1 k+m*n-o
1 a+b/k
1 a-k*m+n
1 a*k-b+c
1 f*g+a
5 k-a+b
5 -k+a
3 -k-m
2 a+b+c
1 a+b-c
1 a-b-c
1 p+q+a
1 a+b+c+d
1 k*m*n
1 a-k-m-n
1 k+m+n+o
3 k-m
2 p-(b+c)
2 p-a-b
2 x+y+k
1 x-y+k
1 k-m-n
1 -k+m+n""".splitlines()


class Sum(NamedTuple):
    """One step: two numbers, the operation between them, and its result."""

    left: Decimal
    sign: str
    right: Decimal
    result: Decimal

    def __str__(self) -> str:
        return f"{show(self.left)} {self.sign} {show(self.right)} = {show(self.result)}."


def show(number: Decimal) -> str:
    """Write a number with a decimal only where it has one."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def work_out(expression: str) -> list[Sum] | None:
    """The steps of an expression in the order of the rules; None where a step is too hard."""
    steps: list[Sum] = []
    result = _value(ast.parse(expression, mode="eval").body, steps)
    return steps if result is not None and len(steps) <= MOST_STEPS else None


def _value(node: ast.expr, steps: list[Sum]) -> Decimal | None:
    if isinstance(node, ast.Constant):
        return Decimal(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return -Decimal(str(node.operand.value))
    if not isinstance(node, ast.BinOp):
        raise ValueError(f"{ast.unparse(node)!r} is no sum.")
    left, right = _value(node.left, steps), _value(node.right, steps)
    if left is None or right is None or right < 0:
        return None
    found = steps_of(left, _SIGNS[type(node.op)], right)
    steps += found
    return found[-1].result if found else None


def steps_of(left: Decimal, sign: str, right: Decimal) -> list[Sum]:
    """The steps of one operation: several for a product of two digits, none if it is too hard."""
    if sign == "/":
        result = left / right if right else Decimal("NaN")
        good = right and 1 <= right <= 12 and result == round(result, 1) and 0 <= left <= 199
        return [Sum(left, sign, right, result)] if good else []
    if sign != "*":
        result = left + right if sign == "+" else left - right
        return [Sum(left, sign, right, result)] if abs(result) <= _LARGEST_SUM else []
    low, high = sorted((left, right))
    if low < 0 or (low != int(low) and high != int(high)):
        return []
    if left * right <= _LARGEST_PRODUCT and (low <= 9 or right == 10):
        return [Sum(left, sign, right, left * right)]
    if not (10 < left < 100 and 10 < right < 100 and left == int(left) and right == int(right)):
        return []
    tens, ones = right - right % 10, right % 10
    if not ones:
        return [Sum(left, sign, right, left * right)]
    parts = [Sum(left, sign, part, left * part) for part in (tens, ones)]
    return [*parts, Sum(parts[0].result, "+", parts[1].result, left * right)]


def key(expression: str) -> str:
    """An expression without spaces and brackets, by which it is held out."""
    return re.sub(r"[ ()]", "", expression)


def is_kept(expression: str) -> bool:
    """Whether an expression is kept for the evaluation."""
    return is_held_out(key(expression)) or key(expression) in asked_sums()


def fill(rng: random.Random, shape: str, whole: bool = False) -> dict[str, str]:
    """Draw numbers for the letters of a shape, until its steps can be worked out in the head.

    Where they must be whole, no step has a result below 1, and no division leaves a rest.
    """
    letters = sorted(set(re.findall(r"\b[a-z]\b", shape)))
    while True:
        wide = rng.random() < 0.15
        numbers = {letter: show(_draw(rng, letter, wide)) for letter in letters}
        expression = put(shape, numbers)
        if is_kept(expression):
            continue
        steps = work_out(expression)
        if steps and (not whole or all(_is_whole(step) for step in steps)):
            return numbers


def _is_whole(step: Sum) -> bool:
    return step.result > 0 and (step.sign != "/" or step.result == int(step.result))


def put(shape: str, numbers: dict[str, str]) -> str:
    """Put numbers in the place of letters."""
    return re.sub(r"\b[a-z]\b", lambda letter: numbers[letter[0]], shape)


def draw_expression(rng: random.Random) -> str:
    """Draw an expression of one to nine steps, most of them short."""
    if rng.random() < 0.06:
        return _long(rng)
    weights, shapes = zip(*(line.split(" ", 1) for line in _SHAPES), strict=True)
    shape = rng.choices(shapes, [int(weight) for weight in weights])[0]
    return put(shape, fill(rng, shape))


def _long(rng: random.Random) -> str:
    """A row of 4 to 10 small numbers added and subtracted."""
    while True:
        most = rng.choice((9, 20, 30))
        numbers = [str(rng.randint(1, most)) for _ in range(rng.randint(4, 10))]
        signs = rng.choice(("+", "+", "+-"))
        expression = numbers[0] + "".join(rng.choice(signs) + number for number in numbers[1:])
        steps = work_out(expression)
        if steps and min(step.result for step in steps) >= 0 and not is_kept(expression):
            return expression


def _draw(rng: random.Random, letter: str, wide: bool) -> Decimal:
    if letter in "kmno":
        return Decimal(rng.randint(2, 12))
    if letter in "xy":
        return Decimal(rng.randint(2, 120 if rng.random() < 0.7 else 400)) / 10
    if letter in "pq":
        return Decimal(rng.randint(100, 999) if rng.random() < 0.8 else 10 * rng.randint(10, 99))
    if letter in "fg":
        return Decimal(rng.randint(11, 99))
    return Decimal(rng.randint(2, 400 if wide else 99))
