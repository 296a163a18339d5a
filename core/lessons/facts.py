"""Facts: numbers and words of a page's runs, which a lesson's sentences name in braces.

A lesson never holds a result. It names a fact, which is computed from the run on screen.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..evaluation.scoring.verifier import worked_out
from ..figures.base.labels import nats
from ..figures.base.labels import percent as share_words
from ..figures.read.words import number as three_digits
from ..language import N_, tr
from .finding import (
    PageFacts,
    beam_forwards,
    best_way,
    chance_of,
    die,
    draw_end,
    filled,
    first_guesses,
    first_step,
    greedy_loses,
    greedy_way,
    judged,
    log_of,
    log_probability,
    mean_surprisal,
    most_surprising,
    of_way,
    pair,
    parts_at,
    perplexity,
    positions,
    present,
    prompt_guesses,
    prompt_hits,
    rounds,
    target_forwards,
    text_of,
    thinking,
    word,
)
from .types import FactValue


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


def _text(value: FactValue) -> str:
    return f"“{value}”"


def _number(value: FactValue) -> str:
    number = float(value)
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    return f"{number:,.0f}" if number == int(number) else f"{number:,.2f}"


def _precise(value: FactValue) -> str:
    return f"{float(value):.4f}"


def percent(value: FactValue) -> str:
    """Return a share of one in percent, as the figures write it."""
    return share_words(float(value))


def _log(value: FactValue) -> str:
    return nats(float(value), 2)


def _three_digits(value: FactValue) -> str:
    return three_digits(float(value))


def chance(value: FactValue) -> str:
    """Return the probability of a log-probability in words, such as "1 in 5,300"."""
    odds = math.exp(min(max(-float(value), 0.0), 700))
    if odds < 20:
        return percent(1 / odds)
    if odds < 1e6:
        digits = max(0, len(str(int(odds))) - 2)
        return f"1 in {round(odds, -digits):,.0f}"
    power = int(math.log10(odds))
    return tr("1 in a number with {power} digits", power=power + 1)


FACTS: dict[str, Fact] = {
    # The selected step, on Decode; in the lab its step.
    "top_token": Fact(N_("the likeliest token of the step"),
        lambda s: word(s.step.candidates[0].text),
        _text),
    "top_probability": Fact(N_("its probability by the model, before any knob"),
        lambda s: s.step.candidates[0].raw_prob, percent),
    "top_final": Fact(N_("its probability after temperature and cuts"),
        lambda s: s.step.candidates[0].prob, percent),
    "second_token": Fact(N_("the second likeliest token"),
        lambda s: word(s.step.candidates[1].text), _text),
    "second_probability": Fact(N_("its probability by the model"),
        lambda s: s.step.candidates[1].raw_prob, percent),
    "token": Fact(N_("the token that the step picked"), lambda s: word(s.step.chosen.text), _text),
    "token_probability": Fact(N_("its probability by the model"),
        lambda s: s.step.chosen.raw_prob, percent),
    "token_final": Fact(N_("its probability after temperature and cuts"),
        lambda s: s.step.chosen.prob, percent),
    "token_rank": Fact(N_("its rank; 1 is the likeliest token"),
        lambda s: s.step.chosen.rank, _number),
    "kept": Fact(N_("how many tokens could still be drawn after all cuts"),
        lambda s: s.step.stages[-1].kept, _number),
    "die": Fact(N_("the number between 0 and 1 that the dice gave"), die, _precise),
    "die_from": Fact(N_("the beginning of the picked token's part of the line from 0 to 100 %"),
        draw_end(0), percent),
    "die_to": Fact(N_("the end of that part"), draw_end(1), percent),
    # The run.
    "text": Fact(N_("the text that the model wrote"), lambda s: text_of(s.run), _text),
    "whole_text": Fact(N_("the prompt and the text that the model wrote"),
        lambda s: s.run.prompt + s.run.text, _text),
    "tokens": Fact(N_("how many tokens it wrote"), lambda s: len(s.run.token_ids), _number),
    "first_token": Fact(N_("the first token that it wrote"),
        lambda s: word(first_step(s).chosen.text),
        _text),
    "first_probability": Fact(N_("the probability of that token"),
        lambda s: first_step(s).chosen.raw_prob, percent),
    "likeliest_first": Fact(N_("the likeliest first token"),
        lambda s: word(first_step(s).candidates[0].text), _text),
    "likeliest_first_probability": Fact(N_("the probability of that token"),
        lambda s: first_step(s).candidates[0].raw_prob, percent),
    "first_rank": Fact(N_("the rank of the first token"),
        lambda s: first_step(s).chosen.rank, _number),
    "log_probability": Fact(N_("the log-probability of the whole text, in nats"),
        lambda s: log_probability(s.run), _log),
    "chance": Fact(N_("the probability of the whole text, as 1 in so many"),
        lambda s: log_probability(s.run), chance),
    "mean_surprisal": Fact(N_("the mean surprisal of a token, in nats"), mean_surprisal, _number),
    "perplexity": Fact(N_("the perplexity of the text"), perplexity, _three_digits),
    "first_guesses": Fact(N_("the share of tokens that were the model's first guess"),
        first_guesses, percent),
    "surprising_token": Fact(N_("the most surprising token"),
        lambda s: word(most_surprising(s).chosen.text), _text),
    "surprising_probability": Fact(N_("the probability of that token"),
        lambda s: most_surprising(s).chosen.raw_prob, percent),
    # The prompt.
    "prompt_tokens": Fact(N_("how many tokens the prompt has"), lambda s: len(s.run.prompt_ids),
        _number),
    "prompt_guesses": Fact(N_("the likeliest next token at each position of the prompt"),
        prompt_guesses, _text),
    "prompt_hits": Fact(N_("how many of these guesses are the prompt's own next token"),
        prompt_hits, _number),
    "prompt_asked": Fact(N_("how many positions of the prompt have a next token in it"),
        lambda s: len(positions(s)) - 1, _number),
    # Beam search.
    "beams": Fact(N_("how many texts the search kept"), lambda s: len(filled(s.run.hypotheses)),
        _number),
    "beam_forwards": Fact(N_("how many texts went through the model, one for each new token"),
        beam_forwards, _number),
    "greedy_first": Fact(N_("the likeliest first token, which greedy decoding takes"),
        of_way(greedy_way, 0, text=True), _text),
    "greedy_first_probability": Fact(N_("its probability"), of_way(greedy_way, 0, text=False),
        percent),
    "greedy_second": Fact(N_("the likeliest token after it"), of_way(greedy_way, 1, text=True),
        _text),
    "greedy_second_probability": Fact(N_("its probability there"),
        of_way(greedy_way, 1, text=False), percent),
    "greedy_both": Fact(N_("the probability of both, one times the other"), chance_of(greedy_way),
        percent),
    "greedy_log": Fact(N_("the log-probability of both, nats"), log_of(greedy_way), _log),
    "best_first": Fact(N_("the first token of the best text that the search has found"),
        of_way(best_way, 0, text=True), _text),
    "best_first_probability": Fact(N_("its probability"), of_way(best_way, 0, text=False), percent),
    "best_second": Fact(N_("the second token of that text"), of_way(best_way, 1, text=True), _text),
    "best_second_probability": Fact(N_("its probability there"), of_way(best_way, 1, text=False),
        percent),
    "best_both": Fact(N_("the probability of both, one times the other"), chance_of(best_way),
        percent),
    "best_log": Fact(N_("the log-probability of both, nats"), log_of(best_way), _log),
    "greedy_loses": Fact(N_("yes if the best two tokens aren't greedy decoding's, else no"),
        greedy_loses, str),
    # Speculative decoding.
    "rounds": Fact(N_("how many rounds of draft and check there were"), lambda s: len(rounds(s)),
        _number),
    "target_forwards": Fact(
        N_("how many times the large model was run, the prompt's pass included"),
        target_forwards, _number),
    "drafted": Fact(N_("how many tokens the draft proposed"),
        lambda s: sum(len(r.drafted) for r in rounds(s)), _number),
    "accepted": Fact(N_("how many of them were accepted"),
        lambda s: sum(len(r.accepted) for r in rounds(s)), _number),
    "first_drafted": Fact(N_("how many tokens the draft proposed in the first round"),
        lambda s: len(rounds(s)[0].drafted), _number),
    "first_accepted": Fact(N_("how many of these were accepted"),
        lambda s: len(rounds(s)[0].accepted), _number),
    # Reasoning.
    "thinking_tokens": Fact(N_("how many tokens the model thought"),
        lambda s: thinking(s).thinking_tokens, _number),
    "answer": Fact(N_("the number that it answered"), lambda s: judged(s)[0], str),
    "right_answer": Fact(N_("the right answer, computed by a program"),
        lambda s: present(worked_out(s.run.prompt)), str),
    "outcome": Fact(N_("correct, wrong, truncated or unparsable"), lambda s: judged(s)[1], str),
    # Two runs side by side.
    "left_text": Fact(N_("the text of run A"), lambda s: text_of(pair(s)[0]), _text),
    "right_text": Fact(N_("the text of run B"), lambda s: text_of(pair(s)[1]), _text),
    "left_prompt_tokens": Fact(N_("how many tokens the prompt of run A has"),
        lambda s: len(pair(s)[0].prompt_ids), _number),
    "right_prompt_tokens": Fact(N_("how many tokens the prompt of run B has"),
        lambda s: len(pair(s)[1].prompt_ids), _number),
    "parts_at": Fact(N_("the first token that differs, from 1; 0 if none does"), parts_at, _number),
}  # fmt: skip
