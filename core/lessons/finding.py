"""Values of facts, computed from a page's runs; a LookupError where it shows none."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from ..decoding.beam.compare import greedy_path
from ..decoding.beam.types import BeamCandidate
from ..decoding.comparison.reasons import first_difference
from ..decoding.counting import nth
from ..decoding.many.methods import cost_of
from ..decoding.reasoning.config import Reasoning
from ..decoding.reasoning.transcript import ReasoningSummary, pieces_of, read_run
from ..decoding.record.steps import PromptPosition, TokenStep
from ..decoding.record.trace import Trace
from ..decoding.speculative.types import DraftRound
from ..evaluation.scoring.answers import judge
from ..evaluation.scoring.verifier import worked_out
from ..figures.base.labels import visible_token
from .types import FactValue

LONGEST_TEXT = 160
T = TypeVar("T")


@dataclass(frozen=True)
class PageFacts:
    """Runs and selection of a page, from which facts are computed.

    Args:
        runs: its runs, on most pages one.
        selected: index of the selected step.
        other: the run of the lab's step, which isn't among `runs`.
    """

    runs: tuple[Trace, ...] = ()
    selected: int = 0
    other: Trace | None = None

    @property
    def run(self) -> Trace:
        """The first run.

        Raises:
            LookupError: the page shows none.
        """
        return self.runs[0]

    @property
    def step(self) -> TokenStep:
        """The selected step, or the lab's.

        Raises:
            LookupError: there is none.
        """
        if self.other is not None:
            return self.other.token_steps[0]
        steps = self.run.token_steps
        return steps[min(self.selected, len(steps) - 1)]


Find: TypeAlias = Callable[[PageFacts], FactValue]


def present(value: T | None) -> T:
    """Return a value that the page must show; raise a LookupError if it doesn't."""
    if value is None:
        raise LookupError
    return value


def filled(items: tuple[T, ...]) -> tuple[T, ...]:
    """Return items of which there must be one or more; else raise a LookupError."""
    return items if items else present(None)


def word(text: str) -> str:
    """A token as people write it: without the space before it."""
    return text.strip() or visible_token(text)


def short(text: str) -> str:
    """A text in one line, cut to what a sentence can hold."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def text_of(run: Trace) -> str:
    """A run's text in one line, with a space for a mark that it leaves out, such as </think>."""
    parts, at = [], 0
    for step in run.token_steps:
        token = step.chosen.text
        is_written = run.text.startswith(token, at)
        parts.append(token if is_written else " ")
        at += len(token) * is_written
    return short("".join(parts) if at == len(run.text) else run.text)


def first_step(shown: PageFacts) -> TokenStep:
    """The first step of the first run."""
    return shown.run.token_steps[0]


def log_probability(run: Trace) -> float:
    """Sum of the log-probabilities of a run's tokens, nats; of the best path of a beam search."""
    if run.hypotheses:
        return run.hypotheses[0].sum_logprob
    return -sum(step.surprisal for step in filled(run.token_steps))


def mean_surprisal(shown: PageFacts) -> float:
    """Mean surprisal of a run's tokens, nats."""
    steps = filled(shown.run.token_steps)
    return sum(step.surprisal for step in steps) / len(steps)


def perplexity(shown: PageFacts) -> float:
    """Perplexity of a run's tokens."""
    return math.exp(mean_surprisal(shown))


def first_guesses(shown: PageFacts) -> float:
    """Share of a run's tokens that were the model's most probable one."""
    steps = filled(shown.run.token_steps)
    return sum(step.chosen.rank == 1 for step in steps) / len(steps)


def most_surprising(shown: PageFacts) -> TokenStep:
    """The step whose token surprised the model most."""
    return max(filled(shown.run.token_steps), key=lambda step: step.surprisal)


def positions(shown: PageFacts) -> tuple[PromptPosition, ...]:
    """The predictions at all positions of the prompt."""
    return filled(present(shown.run.prompt_step).positions)


def prompt_guesses(shown: PageFacts) -> str:
    """The most probable next token at each position of the prompt, one after another."""
    return short(" ".join(word(p.candidates[0].text) for p in filled(positions(shown)[:-1])))


def prompt_hits(shown: PageFacts) -> int:
    """Number of predictions inside the prompt that were its next token."""
    return sum(position.next_rank == 1 for position in positions(shown))


def draw_end(end: int) -> Find:
    """Return a function that finds an end of the drawn interval: 0 its beginning, 1 its end."""

    def find(shown: PageFacts) -> float:
        return present(shown.step.draw.interval)[end]

    return find


def die(shown: PageFacts) -> float:
    """The random number of the step."""
    return present(shown.step.draw.uniform)


def rounds(shown: PageFacts) -> tuple[DraftRound, ...]:
    """The rounds of speculative decoding."""
    return filled(shown.run.rounds)


def target_forwards(shown: PageFacts) -> int:
    """Number of forward passes of the large model in speculative decoding, the prompt's
    included.
    """
    rounds(shown)
    return cost_of(shown.run).forwards


def beam_forwards(shown: PageFacts) -> int:
    """Number of texts that the search sent through the model, the prompt's pass included."""
    return 1 + sum(len(step.groups) for step in filled(shown.run.beam_steps)[1:])


def greedy_way(shown: PageFacts) -> tuple[BeamCandidate, ...]:
    """Greedy decoding's first two tokens in the search."""
    return _two(present(greedy_path(shown.run)).path)


def best_way(shown: PageFacts) -> tuple[BeamCandidate, ...]:
    """The first two tokens of the best path that the search has found."""
    best = filled(shown.run.hypotheses)[0]
    ways = zip(shown.run.beam_steps, best.token_ids, best.parents, strict=False)
    return _two(
        tuple(
            next(c for c in step.candidates if (c.token_id, c.parent) == (token_id, parent))
            for step, token_id, parent in ways
        )
    )


def _two(way: tuple[BeamCandidate, ...]) -> tuple[BeamCandidate, ...]:
    return present(way[:2] if len(way) > 1 else None)


def of_way(way: Callable[[PageFacts], tuple[BeamCandidate, ...]], at: int, *, text: bool) -> Find:
    """Return a function that finds a token of one of the two ways: its text, or its
    probability.
    """

    def find(shown: PageFacts) -> FactValue:
        candidate = way(shown)[at]
        return word(candidate.text) if text else math.exp(candidate.raw_logprob)

    return find


def chance_of(way: Callable[[PageFacts], tuple[BeamCandidate, ...]]) -> Find:
    """Return a function that finds the probability of both tokens of a way."""
    log = log_of(way)
    return lambda shown: math.exp(float(log(shown)))


def log_of(way: Callable[[PageFacts], tuple[BeamCandidate, ...]]) -> Find:
    """Return a function that finds the log-probability of both tokens of a way."""
    return lambda shown: sum(candidate.raw_logprob for candidate in way(shown))


def greedy_loses(shown: PageFacts) -> str:
    """`yes` if the best two tokens aren't greedy decoding's, else `no`."""
    return "no" if greedy_way(shown) == best_way(shown) else "yes"


def thinking(shown: PageFacts) -> ReasoningSummary:
    """Summary of a run with thinking: its text and its token counts."""
    config = shown.run.config
    reasoning = present(config if isinstance(config, Reasoning) else None)
    return read_run(pieces_of(shown.run.token_steps), reasoning)


def judged(shown: PageFacts) -> tuple[str, str]:
    """The answer of a run with thinking, and its outcome."""
    right = present(worked_out(shown.run.prompt))
    answer, outcome = judge(thinking(shown).answer, right, shown.run.finish_reason)
    return answer or "no number", outcome


def pair(shown: PageFacts) -> tuple[Trace, Trace]:
    """The two runs of a page that shows two."""
    return shown.runs[0], shown.runs[1]


def parts_at(shown: PageFacts) -> int:
    """Number of the first token that differs, from 1; 0 if none does."""
    left, right = pair(shown)
    at = first_difference(left.token_ids, right.token_ids)
    return 0 if at is None else nth(at)
