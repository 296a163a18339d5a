"""Texts about a beam's candidates, and their table rows."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log

from ...decoding.beam.config import BeamSearch
from ...decoding.beam.hypotheses import score_of
from ...decoding.beam.replay import guess_parents, lineage
from ...decoding.beam.types import BeamCandidate, BeamStep
from ...decoding.counting import nth, sentences
from ...decoding.record.notes import RANKED_ANEW
from ...decoding.record.trace import Trace
from ...language import N_, tr
from ..base.figure import TableRows, table
from ..base.labels import MINUS, NBSP, nats, plain_name, settings_caption, table_text
from ..base.paper import SCREEN, Paper
from ..base.window import numbered
from .graph import beam_graph, best_path

# Rounding error of a log-probability, nats.
_ROUNDING = 1e-4
FATES = {"kept": N_("kept"), "finished": N_("finished"), "pruned": N_("pruned")}
ENDS = {
    "eos": N_("the model ended it"),
    "stop": N_("a stop string ended it"),
    "length": N_("its length ended it"),
}


def plain_number(value: float) -> str:
    """Return a setting with all its digits and a real minus sign."""
    return f"{value:g}".replace("-", MINUS)


def beam_caption(trace: Trace, paper: Paper = SCREEN) -> str:
    """Return model, method and settings; for a re-ranked search also its original settings."""
    notes = [plain_name(tr(words), 120) for key, words in trace.notes if key == RANKED_ANEW]
    return " · ".join([settings_caption(trace, paper), *notes])


def place_words(step: BeamStep, candidate: BeamCandidate) -> str:
    """Return the rank of a candidate in its step; drawn candidates are in the order of drawing."""
    if step.origin == "argmax":
        return tr("rank {rank}", rank=candidate.rank)
    return tr("draw {rank}", rank=candidate.rank)


def fate_words(step: BeamStep, candidate: BeamCandidate) -> str:
    """Return the outcome of a candidate, and its distance to the last survivor."""
    if candidate.fate == "kept":
        return tr("kept as row {row}", row=nth(candidate.row or 0))
    if candidate.fate == "finished":
        return tr("finished: {end}", end=tr(ENDS[candidate.ended or "length"]))
    margin = step.margin(candidate)
    if candidate.ended:
        return tr("pruned: it ended outside the first places")
    if margin is None:
        return tr("pruned: the search ended here")
    distance = f"{nats(abs(margin))}{NBSP}{tr('nats')}"
    if margin <= 0:
        return tr("pruned: {distance} behind", distance=distance)
    return tr("pruned: {distance} ahead", distance=distance)


def margin_words(steps: Sequence[BeamStep], at: int, chosen: BeamCandidate) -> str:
    """Return the distance of a kept candidate of step `at` to the last kept one; empty for the last
    one itself.
    """
    margin = steps[at].margin(chosen)
    if not margin:
        return ""
    group = steps[at].group_of(chosen)
    rivals = (c for c in steps[at].kept if steps[at].group_of(c) == group)
    paths = (
        *lineage(steps, at, chosen),
        *lineage(steps, at, min(rivals, key=lambda c: c.cum_logprob)),
    )
    # Scores after penalties or a draw are no probabilities.
    if any(abs(c.logprob - c.raw_logprob) > _ROUNDING for c in paths):
        return tr("{margin} nats above the last one kept.", margin=nats(margin))
    if margin > log(1e6):
        return tr("Over a million times as likely as the last one kept.")
    return tr("{times:,.1f} times as likely as the last one kept.", times=exp(margin))


def winner_words(trace: Trace) -> str:
    """Return where the winner came closest to being pruned, and whether greedy decoding would have
    lost it.
    """
    steps = trace.beam_steps
    path = [
        steps[at].candidates[place] for at, place in best_path(beam_graph(steps), trace) if at >= 0
    ]
    places = []
    for at, (step, chosen) in enumerate(zip(steps, path, strict=False)):
        rivals = [c.cum_logprob for c in step.kept if step.group_of(c) == step.group_of(chosen)]
        if chosen.fate == "kept":
            places.append((1 + sum(r > chosen.cum_logprob for r in rivals), -at, len(rivals)))
    worst, minus_at, count = max(places, default=(1, 0, 1))
    if worst == 1:
        return tr("The winner was first of the beam at every step.")
    place = {"step": nth(-minus_at), "count": count}
    nearest = (
        tr("At step {step} the winner was last of {count}.", **place)
        if worst == count
        else tr("At step {step} the winner was number {rank} of {count}.", rank=worst, **place)
    )
    if any(step.origin != "argmax" for step in steps) or is_grouped(trace):
        return tr(sentences(nearest, tr("The search won by keeping it.")))
    lost = any(
        c.logprob > chosen.logprob
        for step, chosen in zip(steps, path, strict=False)
        for c in step.candidates
        if c.parent == chosen.parent
    )
    greedy = (
        tr("Greedy would have lost it; beam search kept it.")
        if lost
        else tr("Greedy would have found it too.")
    )
    return f"{nearest} {greedy}"


def score_at(trace: Trace, step: int, candidate: BeamCandidate) -> float:
    """Return the score of the path up to a candidate of this step, if it ended there."""
    return score_of(
        candidate.cum_logprob, step + 1, trace.require(BeamSearch).config.length_penalty
    )


@table(
    "step rank row parent_row token_id token logprob raw_logprob cum_logprob score fate ended "
    "margin on_best_path guessed_parent_row",
    whole="row guessed_parent_row",
)
def beam_tree_data(trace: Trace, *, first: int = 0, columns: int | None = None) -> TableRows:
    """Return every candidate of a window of steps with its stored parent; the token's text is raw.

    Args:
        first: the first step.
        columns: maximum number of steps; by default all.

    `margin` is the distance to the worst survivor in nats; `guessed_parent_row` is the estimate of
    `guess_parents` for kept tokens with several possible rows.
    """
    steps = trace.beam_steps
    best = set(best_path(beam_graph(steps), trace))
    guessed = {(g.step, g.row): g.guess for g in guess_parents(trace).guesses}
    for at, step in numbered(steps, first, columns):
        for place, c in enumerate(step.candidates):
            who = (nth(at), c.rank, *_rows(c.row, c.parent), c.token_id, table_text(c.text))
            guess = guessed.get((step.index, c.row)) if c.row is not None else None
            yield (
                *who,
                c.logprob,
                c.raw_logprob,
                c.cum_logprob,
                score_at(trace, at, c),
                c.fate,
                c.ended,
                step.margin(c),
                (at, place) in best,
                *_rows(guess),
            )


def _rows(*indices: int | None) -> tuple[int | None, ...]:
    """Return the numbers of a beam's rows, from 1; None for no row."""
    return tuple(None if index is None else nth(index) for index in indices)


def is_grouped(trace: Trace) -> bool:
    """Return whether the search had several groups."""
    return trace.require(BeamSearch).config.num_beam_groups > 1
