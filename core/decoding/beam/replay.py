"""Paths, hypotheses and re-ranking, computed from a search's stored steps without the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from ...language import Message
from ..counting import listed
from ..record.notes import RANKED_ANEW, Note
from ..record.trace import Trace
from .config import BeamSearch
from .hypotheses import BeamHypotheses, EarlyStopping, StopReason
from .types import BeamCandidate, BeamStep, Hypothesis, SearchRecord


def lineage(
    steps: Sequence[BeamStep], index: int, candidate: BeamCandidate
) -> tuple[BeamCandidate, ...]:
    """Return the path that ends in a candidate of step `index`, in the order of its tokens.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> path = lineage(trace.beam_steps, 2, trace.beam_steps[2].candidates[0])
        >>> [candidate.text for candidate in path]
        [',', ' there', ' was']
    """
    return _path([step.kept for step in steps[:index]], candidate)


def follow(
    steps: Sequence[BeamStep], token_ids: Sequence[int], group: int = 0
) -> tuple[BeamCandidate, ...]:
    """Return the candidates along a given path, as far as the search considered it.

    The last candidate's fate says why the path ends: `pruned` or `finished`; after `kept`, the next
    token was no candidate, or the search or the path ends. This shows where greedy decoding's path
    left the beam.

    Args:
        token_ids: generated tokens of the path, without the prompt.
        group: group whose beam is searched.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> path = follow(trace.beam_steps, trace.token_ids)
        >>> "".join(candidate.text for candidate in path)
        ', there was a little girl'
    """
    path: list[BeamCandidate] = []
    row: int | None = None
    for step, token_id in zip(steps, token_ids, strict=False):
        rows = {place for place, row_group in enumerate(step.groups) if row_group == group}
        parents = rows if not path else rows & {row}
        matches = [c for c in step.candidates if c.parent in parents and c.token_id == token_id]
        path += matches[:1]
        row = matches[0].row if matches else None
        if row is None:
            break
    return tuple(path)


def _path(
    beams: Sequence[tuple[BeamCandidate, ...]], candidate: BeamCandidate
) -> tuple[BeamCandidate, ...]:
    path = [candidate]
    for beam in reversed(beams):
        path.append(beam[path[-1].parent])
    return tuple(reversed(path))


@dataclass(frozen=True, slots=True)
class Replay:
    """Hypotheses and ends of a search, recomputed from its steps.

    Args:
        hypotheses: finished paths that are held at the end, best first.
        ends: for each group, the step after which it ends and the rule that ends it; None if the
            stored steps end earlier.
    """

    hypotheses: tuple[Hypothesis, ...]
    ends: tuple[tuple[int, StopReason] | None, ...]


def replay(steps: Sequence[BeamStep], config: BeamSearch) -> Replay:
    """Recompute hypotheses and stopping rules over stored steps under the settings of `config`.

    Length penalty and stopping rule decide which hypotheses are held and when the search ends, but
    not which rows go on. So the steps of one search serve every such setting; with several groups
    only as long as each group ends at the same step.
    """
    groups, limit = config.num_beam_groups, steps[0].limit if steps else 1
    rules = (config.length_penalty, config.early_stopping, limit)
    held: list[BeamHypotheses[tuple[int, BeamCandidate, str]]] = [
        BeamHypotheses(config.num_beams // groups, *rules) for _ in range(groups)
    ]
    ends: list[tuple[int, StopReason] | None] = [None] * groups
    for index, step in enumerate(steps):
        texts = dict(zip(map(id, step.finished), step.finished_texts, strict=True))
        for group in {*step.groups}:
            if ends[group] is None:
                reason = _add_finished(held[group], step, index, group, texts)
                ends[group] = None if reason is None else (index, reason)
    entries = [
        (entry.score, g, entry.item)
        for g, hypotheses in enumerate(held)
        for entry in hypotheses.entries
    ]
    entries.sort(key=lambda entry: -entry[0])
    beams = [step.kept for step in steps]
    hypotheses = (_hypothesis(beams, score, group, *item) for score, group, item in entries)
    return Replay(tuple(hypotheses), tuple(ends))


def _add_finished(
    held: BeamHypotheses[tuple[int, BeamCandidate, str]],
    step: BeamStep,
    index: int,
    group: int,
    texts: dict[int, str],
) -> StopReason | None:
    candidates = [c for c in step.candidates if step.group_of(c) == group]
    finished = [c for c in candidates if c.fate == "finished"]
    held.add([(c.cum_logprob, (index, c, texts[id(c)])) for c in finished], index + 1)
    best = max((c.cum_logprob for c in candidates if c.fate == "kept"), default=None)
    return held.stop_reason(best, index + 1)


def _hypothesis(
    beams: Sequence[tuple[BeamCandidate, ...]],
    score: float,
    group: int,
    index: int,
    last: BeamCandidate,
    text: str,
) -> Hypothesis:
    path = _path(beams[:index], last)
    return Hypothesis(
        token_ids=tuple(candidate.token_id for candidate in path),
        text=text,
        score=score,
        sum_logprob=last.cum_logprob,
        parents=tuple(candidate.parent for candidate in path),
        finish_reason=last.ended or "length",
        group=group,
    )


def best_row(steps: Sequence[BeamStep]) -> tuple[BeamCandidate, ...]:
    """Return the most probable path that was still open after the last step; empty without
    steps.
    """
    survivors = steps[-1].kept if steps else ()
    if not survivors:
        return ()
    return lineage(
        steps, len(steps) - 1, max(survivors, key=lambda candidate: candidate.cum_logprob)
    )


@dataclass(frozen=True, slots=True)
class Reranking:
    """Result of re-ranking a stored search under another length penalty.

    Args:
        hypotheses: the hypotheses to return, best first.
        exact: whether a new search with these settings would return exactly these; a search that
            would have gone on might have found better ones.
        differs_at: the step after which the stopping rule decides differently; None if it never
            does.
        would: the rule's decision at that step.

    Example:
        >>> model = load_model("embedded:target")
        >>> config = BeamSearch(num_beams=3, max_new_tokens=6, num_return_sequences=3)
        >>> trace = collect(model, "Once upon a time", config)
        >>> reranking = rerank(trace, length_penalty=0.0)
        >>> len(reranking.hypotheses), reranking.exact
        (3, True)
    """

    hypotheses: tuple[Hypothesis, ...]
    exact: bool
    differs_at: int | None = None
    would: Literal["stop", "go_on"] | None = None


def rerank(
    trace: Trace,
    *,
    length_penalty: float | None = None,
    num_return_sequences: int | None = None,
    early_stopping: EarlyStopping | None = None,
) -> Reranking:
    """Return the hypotheses of a stored search under other settings; None keeps a setting.

    Hypotheses that the run dropped come back if the new penalty favours them. Hypotheses that
    finished after the end under the new rule don't count.

    Raises:
        ConfigError: a value outside its interval.
        TraceError: the trace is no beam search.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> rerank(trace, num_return_sequences=1).hypotheses[0] == trace.hypotheses[0]
        True
    """
    config, steps = trace.require(BeamSearch).config, trace.beam_steps
    settings: dict[str, Any] = {
        "length_penalty": length_penalty,
        "num_return_sequences": num_return_sequences,
        "early_stopping": early_stopping,
    }
    new = replace(config, **{name: value for name, value in settings.items() if value is not None})
    then, now = replay(steps, config), replay(steps, new)
    changes = [c for a, b in zip(then.ends, now.ends, strict=True) if (c := _change(a, b))]
    at, would = min(changes, default=(None, None), key=lambda change: change[0] or 0)
    ended = all(now.ends) and (config.num_beam_groups == 1 or not changes)
    return Reranking(now.hypotheses[: new.num_return_sequences], ended, at, would)


# Settings that rank the paths and end the search without changing its steps.
RANKING = ("length_penalty", "early_stopping")


def ranked_anew(trace: Trace, ranking: Reranking, new: BeamSearch) -> Trace:
    """Return the search as re-ranked, for figures and pages; such a trace is never stored.

    It has the new length penalty and stopping rule, the hypotheses that they rank, the best one's
    tokens and text, and a note with the key `RANKED_ANEW`. If both settings are the run's own, the
    trace is returned unchanged.
    """
    old = trace.require(BeamSearch).config
    changed = {n: getattr(new, n) for n in RANKING if getattr(new, n) != getattr(old, n)}
    if not changed:
        return trace
    settings = listed(
        Message(
            "{name} {value}", name=Message(name.replace("_", " ")), value=_said(getattr(old, name))
        )
        for name in changed
    )
    words = Message("ranked anew after a search with {settings}", settings=settings)
    note = Note(RANKED_ANEW, words)
    shown = replace(
        trace,
        config=replace(old, **changed),
        method_record=SearchRecord(ranking.hypotheses),
        notes=(*trace.notes, note),
    )
    best = next(iter(ranking.hypotheses), None)
    return replace(shown, token_ids=best.token_ids, text=best.text) if best else shown


def _said(value: float | bool | str) -> str:
    if isinstance(value, bool):
        return Message("on") if value else Message("off")
    return Message(value) if isinstance(value, str) else f"{value:g}"


def _change(
    then: tuple[int, StopReason] | None, now: tuple[int, StopReason] | None
) -> tuple[int, Literal["stop", "go_on"]] | None:
    if now is not None and (then is None or now[0] < then[0]):
        return now[0], "stop"
    return (then[0], "go_on") if then is not None and now is None else None


class ParentGuess(NamedTuple):
    """A kept token, its stored parent row, and the row that an estimate gives.

    Args:
        row: row of the next beam that the token became.
        parent: the stored backpointer.
        guess: the row under which the token was most probable.
    """

    step: int
    row: int
    token_id: int
    parent: int
    guess: int


class ParentGuesses(NamedTuple):
    """Estimates for a whole search, without the first step, which has only one row."""

    guesses: tuple[ParentGuess, ...]

    @property
    def wrong(self) -> tuple[ParentGuess, ...]:
        """The wrong estimates."""
        return tuple(guess for guess in self.guesses if guess.guess != guess.parent)

    @property
    def error_rate(self) -> float:
        """Share of wrong estimates; 0 if there are none."""
        return len(self.wrong) / len(self.guesses) if self.guesses else 0.0


def guess_parents(trace: Trace) -> ParentGuesses:
    """Estimate each kept token's parent as the row that gives it the highest log-probability.

    Without stored backpointers this is the best available estimate; it ignores the rows' own
    probabilities.

    Raises:
        TraceError: the trace is no beam search.

    Example:
        >>> model = load_model("embedded:target")
        >>> trace = collect(model, "Once upon a time", BeamSearch(num_beams=3, max_new_tokens=6))
        >>> round(guess_parents(trace).error_rate, 2)
        0.25
    """
    trace.require(BeamSearch)
    guesses = []
    for step in trace.beam_steps:
        for candidate, row in zip(step.kept, step.kept_logprobs, strict=True):
            known = [(-value, place) for place, value in enumerate(row) if value is not None]
            rivals = step.groups.count(step.group_of(candidate))
            if known and rivals > 1:
                row_after, token_id, parent = (
                    candidate.row or 0,
                    candidate.token_id,
                    candidate.parent,
                )
                guesses.append(ParentGuess(step.index, row_after, token_id, parent, min(known)[1]))
    return ParentGuesses(tuple(guesses))
