"""Chains of sums told as short tales about apples, coins and other things to count."""

import random

from training.corpus.problems import Problem

_PEOPLE = {
    "She": "Mia Anna Ella Nora Clara Lucy Emma Zoe Ruby Sara".split(),
    "He": "Tom Ben Max Leo Sam Finn Jack Theo Noah Hugo".split(),
}
# things: ways to get more / ways to have fewer
_THINGS = """apples: picks # more / buys # more / finds # more: eats # / gives away # / sells #
coins: earns # more / finds # more / wins # more: spends # / loses # / gives away #
eggs: collects # more / buys # more / gets # more: breaks # / sells # / cooks #
marbles: wins # more / finds # more / buys # more: loses # / gives away # / trades away #
cookies: bakes # more / buys # more / gets # more: eats # / gives away # / drops #
books: buys # more / gets # more / borrows # more: sells # / lends out # / gives away #
flowers: picks # more / plants # more / buys # more: gives away # / sells # / loses #
stamps: collects # more / buys # more / gets # more: uses # / loses # / gives away #
stickers: wins # more / buys # more / gets # more: uses # / loses # / trades away #
shells: finds # more / collects # more / gets # more: loses # / breaks # / gives away #
pencils: buys # more / finds # more / gets # more: loses # / breaks # / lends out #
fish: catches # more / buys # more / gets # more: eats # / sells # / lets go #
balloons: buys # more / blows up # more / gets # more: pops # / gives away # / loses #
nuts: finds # more / collects # more / buys # more: eats # / drops # / gives away #"""


def ask_as_tale(rng: random.Random, problem: Problem) -> str:
    """Tell a chain as a tale that ends with a question."""
    pronoun = rng.choice(list(_PEOPLE))
    name = rng.choice(_PEOPLE[pronoun])
    things, gains, losses = rng.choice(_THINGS.splitlines()).split(": ")
    sentences = [f"{name} has {problem.start} {things}."]
    for operation, operand in problem.steps:
        if operation in "+-":
            ways = (gains if operation == "+" else losses).split(" / ")
            deed = rng.choice(ways).replace("#", str(operand))
        elif operation == "*":
            deed = f"gets {operand} times as many"
        else:
            deed = f"keeps one of {operand} equal parts"
        sentences.append(f"{pronoun} {deed}.")
    question = f"How many {things} does {pronoun.lower()} have now?"
    return " ".join([*sentences, question])
