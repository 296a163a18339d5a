"""Facts: numbers and words of what a page shows, which a lesson's sentences name in braces.

A lesson never holds a result. It names a fact, which is computed from the run on screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from core.decoding.beam.compare import greedy_path
from core.decoding.beam.types import BeamCandidate
from core.decoding.comparison.parting import first_difference
from core.decoding.counting import nth
from core.decoding.reasoning.config import Reasoning
from core.decoding.reasoning.transcript import ReasoningSummary, pieces_of, read_run
from core.decoding.record.steps import PromptPosition, TokenStep
from core.decoding.record.trace import Trace
from core.decoding.speculative.types import DraftRound
from core.evaluation.scoring.answers import judge
from core.evaluation.scoring.verifier import worked_out
from core.figures.base.labels import visible_token
from core.lessons.types import FactValue

LONGEST_TEXT = 160
T = TypeVar("T")


@dataclass(frozen=True)
class PageFacts:
    """What a page shows.

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


@dataclass(frozen=True)
class Fact:
    """A fact.

    Args:
        meaning: what it is, for the documentation.
        find: returns its value; raises a LookupError where the page doesn't show it.
        words: returns the value as a sentence has it.
    """

    meaning: str
    find: Callable[[PageFacts], FactValue]
    words: Callable[[FactValue], str]


Find: TypeAlias = Callable[[PageFacts], FactValue]


def _present(value: T | None) -> T:
    """Return a value that the page must show; raise a LookupError if it doesn't."""
    if value is None:
        raise LookupError
    return value


def _filled(items: tuple[T, ...]) -> tuple[T, ...]:
    """Return items of which there must be one or more; else raise a LookupError."""
    return items if items else _present(None)


def _text(value: FactValue) -> str:
    return f"“{value}”"


def _number(value: FactValue) -> str:
    number = float(value)
    return f"{number:,.0f}" if number == int(number) else f"{number:,.2f}"


def _precise(value: FactValue) -> str:
    return f"{float(value):.4f}"


def percent(value: FactValue) -> str:
    """Return a share of one in percent, with two digits below 10 %."""
    share = 100 * float(value)
    if share >= 10 or share == 0:
        return f"{share:.0f} %"
    return f"{share:.1f} %" if share >= 1 else f"{share:.2g} %" if share >= 0.01 else "under 0.01 %"


def chance(value: FactValue) -> str:
    """Return the probability of a log-probability in words, such as "1 in 5,300"."""
    odds = math.exp(min(-float(value), 700))
    if odds < 20:
        return percent(1 / odds)
    if odds < 1e6:
        digits = max(0, len(str(int(odds))) - 2)
        return f"1 in {round(odds, -digits):,.0f}"
    power = int(math.log10(odds))
    return f"1 in a number with {power + 1} digits"


def _word(text: str) -> str:
    """A token as people write it: without the space before it."""
    return text.strip() or visible_token(text)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 1]}…"


def _first(shown: PageFacts) -> TokenStep:
    return shown.run.token_steps[0]


def _log_probability(run: Trace) -> float:
    """Sum of the log-probabilities of a run's tokens, nats; of the best path of a beam search."""
    if run.hypotheses:
        return run.hypotheses[0].sum_logprob
    return -sum(step.surprisal for step in _filled(run.token_steps))


def _mean_surprisal(shown: PageFacts) -> float:
    steps = _filled(shown.run.token_steps)
    return sum(step.surprisal for step in steps) / len(steps)


def _first_guesses(shown: PageFacts) -> float:
    """Share of a run's tokens that were the model's most probable one."""
    steps = _filled(shown.run.token_steps)
    return sum(step.chosen.rank == 1 for step in steps) / len(steps)


def _most_surprising(shown: PageFacts) -> TokenStep:
    return max(_filled(shown.run.token_steps), key=lambda step: step.surprisal)


def _positions(shown: PageFacts) -> tuple[PromptPosition, ...]:
    return _filled(_present(shown.run.prompt_step).positions)


def _guesses(shown: PageFacts) -> str:
    """The most probable next token at each position of the prompt, one after another."""
    return _short(" ".join(_word(p.candidates[0].text) for p in _filled(_positions(shown)[:-1])))


def _hits(shown: PageFacts) -> int:
    return sum(position.next_rank == 1 for position in _positions(shown))


def _draw_end(end: int) -> Find:
    def find(shown: PageFacts) -> float:
        return _present(shown.step.draw.interval)[end]

    return find


def _die(shown: PageFacts) -> float:
    return _present(shown.step.draw.uniform)


def _rounds(shown: PageFacts) -> tuple[DraftRound, ...]:
    return _filled(shown.run.rounds)


def _beam_forwards(shown: PageFacts) -> int:
    """Number of texts that the search sent through the model, the prompt's pass included."""
    return 1 + sum(len(step.groups) for step in _filled(shown.run.beam_steps)[1:])


def _greedy_way(shown: PageFacts) -> tuple[BeamCandidate, ...]:
    """Greedy decoding's first two tokens in the search."""
    return _two(_present(greedy_path(shown.run)).path)


def _best_way(shown: PageFacts) -> tuple[BeamCandidate, ...]:
    """The first two tokens of the best path that the search has found."""
    best = _filled(shown.run.hypotheses)[0]
    ways = zip(shown.run.beam_steps, best.token_ids, best.parents, strict=False)
    return _two(
        tuple(
            next(c for c in step.candidates if (c.token_id, c.parent) == (token_id, parent))
            for step, token_id, parent in ways
        )
    )


def _two(way: tuple[BeamCandidate, ...]) -> tuple[BeamCandidate, ...]:
    return _present(way[:2] if len(way) > 1 else None)


def _of_way(way: Callable[[PageFacts], tuple[BeamCandidate, ...]], at: int, *, text: bool) -> Find:
    """Return how a token of one of the two ways is found: its text, or its probability."""

    def find(shown: PageFacts) -> FactValue:
        candidate = way(shown)[at]
        return _word(candidate.text) if text else math.exp(candidate.raw_logprob)

    return find


def _chance_of(way: Callable[[PageFacts], tuple[BeamCandidate, ...]]) -> Find:
    return lambda shown: math.exp(sum(candidate.raw_logprob for candidate in way(shown)))


def _greedy_loses(shown: PageFacts) -> str:
    return "no" if _greedy_way(shown) == _best_way(shown) else "yes"


def _thinking(shown: PageFacts) -> ReasoningSummary:
    config = shown.run.config
    reasoning = _present(config if isinstance(config, Reasoning) else None)
    return read_run(pieces_of(shown.run.token_steps), reasoning)


def _judged(shown: PageFacts) -> tuple[str, str]:
    """The answer of a run with thinking, and its outcome."""
    right = _present(worked_out(shown.run.prompt))
    answer, outcome = judge(_thinking(shown).answer, right, shown.run.finish_reason)
    return answer or "no number", outcome


def _pair(shown: PageFacts) -> tuple[Trace, Trace]:
    return shown.runs[0], shown.runs[1]


def _parts_at(shown: PageFacts) -> int:
    left, right = _pair(shown)
    at = first_difference(left.token_ids, right.token_ids)
    return 0 if at is None else nth(at)


FACTS: dict[str, Fact] = {
    # The selected step, on Decode; in the lab its step.
    "top_token": Fact("the likeliest token of the step", lambda s: _word(s.step.candidates[0].text),
        _text),
    "top_probability": Fact("its probability by the model, before any knob",
        lambda s: s.step.candidates[0].raw_prob, percent),
    "top_final": Fact("its probability after temperature and cuts",
        lambda s: s.step.candidates[0].prob, percent),
    "second_token": Fact("the second likeliest token",
        lambda s: _word(s.step.candidates[1].text), _text),
    "second_probability": Fact("its probability by the model",
        lambda s: s.step.candidates[1].raw_prob, percent),
    "token": Fact("the token that the step picked", lambda s: _word(s.step.chosen.text), _text),
    "token_probability": Fact("its probability by the model",
        lambda s: s.step.chosen.raw_prob, percent),
    "token_final": Fact("its probability after temperature and cuts",
        lambda s: s.step.chosen.prob, percent),
    "token_rank": Fact("its rank; 1 is the likeliest token", lambda s: s.step.chosen.rank, _number),
    "kept": Fact("how many tokens could still be drawn after all cuts",
        lambda s: s.step.stages[-1].kept, _number),
    "die": Fact("the number between 0 and 1 that the dice gave", _die, _precise),
    "die_from": Fact("the beginning of the picked token's part of the line from 0 to 1",
        _draw_end(0), _precise),
    "die_to": Fact("the end of that part", _draw_end(1), _precise),
    # The run.
    "text": Fact("the text that the model wrote", lambda s: _short(s.run.text), _text),
    "whole_text": Fact("the prompt and the text that the model wrote",
        lambda s: s.run.prompt + s.run.text, _text),
    "tokens": Fact("how many tokens it wrote", lambda s: len(s.run.token_ids), _number),
    "first_token": Fact("the first token that it wrote", lambda s: _word(_first(s).chosen.text),
        _text),
    "first_probability": Fact("the probability of that token",
        lambda s: _first(s).chosen.raw_prob, percent),
    "likeliest_first": Fact("the likeliest first token",
        lambda s: _word(_first(s).candidates[0].text), _text),
    "likeliest_first_probability": Fact("the probability of that token",
        lambda s: _first(s).candidates[0].raw_prob, percent),
    "first_rank": Fact("the rank of the first token", lambda s: _first(s).chosen.rank, _number),
    "log_probability": Fact("the log-probability of the whole text, in nats",
        lambda s: _log_probability(s.run), _number),
    "chance": Fact("the probability of the whole text, as 1 in so many",
        lambda s: _log_probability(s.run), chance),
    "mean_surprisal": Fact("the mean surprisal of a token, in nats", _mean_surprisal, _number),
    "first_guesses": Fact("the share of tokens that were the model's first guess",
        _first_guesses, percent),
    "surprising_token": Fact("the most surprising token",
        lambda s: _word(_most_surprising(s).chosen.text), _text),
    "surprising_probability": Fact("the probability of that token",
        lambda s: _most_surprising(s).chosen.raw_prob, percent),
    # The prompt.
    "prompt_tokens": Fact("how many tokens the prompt has", lambda s: len(s.run.prompt_ids),
        _number),
    "prompt_guesses": Fact("the likeliest next token at each position of the prompt", _guesses,
        _text),
    "prompt_hits": Fact("how many of these guesses are the prompt's own next token", _hits,
        _number),
    "prompt_asked": Fact("how many positions of the prompt have a next token in it",
        lambda s: len(_positions(s)) - 1, _number),
    # Beam search.
    "beams": Fact("how many texts the search kept", lambda s: len(_filled(s.run.hypotheses)),
        _number),
    "beam_forwards": Fact("how many texts went through the model, one for each new token",
        _beam_forwards, _number),
    "greedy_first": Fact("the likeliest first token, which greedy decoding takes",
        _of_way(_greedy_way, 0, text=True), _text),
    "greedy_first_probability": Fact("its probability", _of_way(_greedy_way, 0, text=False),
        percent),
    "greedy_second": Fact("the likeliest token after it", _of_way(_greedy_way, 1, text=True),
        _text),
    "greedy_second_probability": Fact("its probability there",
        _of_way(_greedy_way, 1, text=False), percent),
    "greedy_both": Fact("the probability of both, one times the other", _chance_of(_greedy_way),
        percent),
    "best_first": Fact("the first token of the best text that the search has found",
        _of_way(_best_way, 0, text=True), _text),
    "best_first_probability": Fact("its probability", _of_way(_best_way, 0, text=False), percent),
    "best_second": Fact("the second token of that text", _of_way(_best_way, 1, text=True), _text),
    "best_second_probability": Fact("its probability there", _of_way(_best_way, 1, text=False),
        percent),
    "best_both": Fact("the probability of both, one times the other", _chance_of(_best_way),
        percent),
    "greedy_loses": Fact("yes if the best two tokens aren't greedy decoding's, else no",
        _greedy_loses, str),
    # Speculative decoding.
    "rounds": Fact("how many times the large model was run", lambda s: len(_rounds(s)), _number),
    "drafted": Fact("how many tokens the draft proposed",
        lambda s: sum(len(r.drafted) for r in _rounds(s)), _number),
    "accepted": Fact("how many of them were accepted",
        lambda s: sum(len(r.accepted) for r in _rounds(s)), _number),
    "first_drafted": Fact("how many tokens the draft proposed in the first round",
        lambda s: len(_rounds(s)[0].drafted), _number),
    "first_accepted": Fact("how many of these were accepted",
        lambda s: len(_rounds(s)[0].accepted), _number),
    # Reasoning.
    "thinking_tokens": Fact("how many tokens the model thought",
        lambda s: _thinking(s).thinking_tokens, _number),
    "answer": Fact("the number that it answered", lambda s: _judged(s)[0], str),
    "right_answer": Fact("the right answer, computed by a program",
        lambda s: _present(worked_out(s.run.prompt)), str),
    "outcome": Fact("correct, wrong, truncated or unparsable", lambda s: _judged(s)[1], str),
    # Two runs side by side.
    "left_text": Fact("the text of run A", lambda s: _short(_pair(s)[0].text), _text),
    "right_text": Fact("the text of run B", lambda s: _short(_pair(s)[1].text), _text),
    "left_prompt_tokens": Fact("how many tokens the prompt of run A has",
        lambda s: len(_pair(s)[0].prompt_ids), _number),
    "right_prompt_tokens": Fact("how many tokens the prompt of run B has",
        lambda s: len(_pair(s)[1].prompt_ids), _number),
    "parts_at": Fact("the first token that differs, from 1; 0 if none does", _parts_at, _number),
}  # fmt: skip
