"""The embedded target's own attempts at sums, right and wrong: what the reward model learns from.

Each problem is attempted several times at two temperatures, as the app samples. A file of them is
written as they end and gone on with, so that a training can begin while it grows.
"""

import json
import random
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from core.decoding.protocol import LanguageModel
from core.decoding.reasoning.config import Reasoning
from core.decoding.shaping.config import Shaping
from core.evaluation.attempts import AttemptTask, attempt_all
from core.evaluation.questions.asking import prompt_ids_of
from core.evaluation.questions.chains import MOST_STEPS, Chain, draw_chain
from core.evaluation.questions.problems import THINKING_SYSTEM
from core.evaluation.types import Attempt, Problem
from core.evaluation.votes.sampling import whole_reply
from training.corpus import sums
from training.corpus.arithmetic import ask
from training.corpus.expressions import show

TEMPERATURES = (1.0, 1.3)
EACH = 2  # attempts at each temperature
CHAIN_SHARE = 0.7
MOST_ANSWER, MOST_TOKENS = 24, 220
_BATCH = 24  # problems whose attempts run at once
# A sum in words is kept for the measure by its question: its corpus holds no problem out.
_HELD_OUT_OF = 20


class Labelled(NamedTuple):
    """An attempt at a question, as text, and whether its answer is right."""

    question: str
    reply: str
    right: bool
    kind: str
    answer: str | None = None
    mean_logprob: float = 0.0


def draw_problem(rng: random.Random, held_out: bool) -> Problem:
    """A chain of 1 to 8 steps in the app's or the corpus' words, or a sum in any words."""
    if rng.random() < CHAIN_SHARE:
        chain = draw_chain(rng, rng.randint(1, MOST_STEPS), held_out)
        return _of_chain(rng, chain)
    while True:
        question, steps = sums.make_question(rng)
        if (zlib.crc32(question.encode()) % _HELD_OUT_OF == 0) == held_out:
            return Problem(question, question, show(steps[-1].result))


def _of_chain(rng: random.Random, chain: Chain) -> Problem:
    return Problem(chain.key, ask(rng, chain), str(chain.answer), len(chain.steps), THINKING_SYSTEM)


def draw_attempts(
    model: LanguageModel, seed: int, count: int, held_out: bool = False
) -> Iterator[Labelled]:
    """Yield the attempts at so many problems, those of one after another.

    Args:
        held_out: of problems that the training never draws.
    """
    rng = random.Random(seed)
    for first in range(0, count, _BATCH):
        problems = [draw_problem(rng, held_out) for _ in range(min(_BATCH, count - first))]
        tasks = [
            AttemptTask(problem, prompt_ids_of(model, problem), config)
            for problem in problems
            for config in _configs(rng)
        ]
        found = dict(attempt_all(model, tasks, rows=len(tasks)))
        for at in sorted(found):
            yield _labelled(tasks[at], found[at])


def _configs(rng: random.Random) -> list[Reasoning]:
    plain = Reasoning(do_sample=True, max_answer_tokens=MOST_ANSWER, max_new_tokens=MOST_TOKENS)
    return [
        replace(plain, seed=rng.randrange(2**31), shaping=Shaping(temperature=temperature))
        for temperature in TEMPERATURES
        for _ in range(EACH)
    ]


def _labelled(task: AttemptTask, attempt: Attempt) -> Labelled:
    return Labelled(
        task.problem.question,
        whole_reply(attempt, task.config),
        attempt.outcome == "correct",
        "chain" if task.problem.steps else "sum",
        attempt.answer,
        attempt.mean_logprob,
    )


def read_attempts(path: Path) -> list[Labelled]:
    """The attempts of a file; half a line at its end is left out."""
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    return [Labelled(*json.loads(line)) for line in lines]


def write_attempts(model: LanguageModel, path: Path, seed: int, count: int) -> None:
    """Write the attempts at so many problems, each as soon as it has ended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for one in draw_attempts(model, seed, count):
            file.write(json.dumps(one) + "\n")
            file.flush()
