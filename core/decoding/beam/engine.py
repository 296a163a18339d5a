"""Beam search: keep the best paths with their backpointers; one forward per step.

The semantics are those of transformers 5.23 (`_beam_search`). transformers keeps dead rows with a
score of -1e9; here the beam gets narrower instead. With groups it is diverse beam search
(Vijayakumar et al. 2016): groups are searched in turn, and a group loses `diversity_penalty` nats
for a token each time an earlier group took it at the same step. Groups finish independently, like
the prompts of a batch in transformers; a finished group takes no more tokens and penalises no other
group.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor

from ...language import N_
from ..config import Ended
from ..constraints.grammar import masks_of
from ..errors import DecodingError
from ..loop.run import process_prompt, token_limit
from ..protocol import LanguageModel
from ..record.masks import Mask
from ..record.steps import Step
from .candidates import (
    LogProbabilities,
    RankedCandidates,
    choose,
    less_taken,
    looked_at,
    shaper_of,
)
from .config import BeamSearch
from .hypotheses import NOTHING, BeamHypotheses, StopReason
from .types import BeamCandidate, BeamSeconds, BeamStep, Fate


def generate(model: LanguageModel, prompt_ids: Sequence[int], config: BeamSearch) -> Iterator[Step]:
    """Yield the prompt step, then a step for each token of the longest path.

    Args:
        prompt_ids: at least one id; prompt and generated tokens together stay within the
            model's context window.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        DecodingError: the model returned no distribution, or every token is banned.
    """
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    search = _Search(model, prompt_ids, config)
    logits, forward = context.logits.expand(config.num_beam_groups, -1), 0.0
    context.reorder([0] * config.num_beam_groups)
    while True:
        with torch.inference_mode():
            step = search.step(logits, forward)
        yield step
        if step.finish_reason:
            return
        started = perf_counter()
        context.reorder([row.parent for row in search.rows])
        logits = context.extend([[row.token_id] for row in search.rows])[:, -1]
        forward = perf_counter() - started


class _BeamRow(NamedTuple):
    """A path in the beam, with the state that stopping rules need.

    `ids` are the prompt's and the generated tokens; `text` is the generated text.
    """

    parent: int
    token_id: int
    total: float
    ids: list[int]
    text: bytes


@dataclass(slots=True)
class _Group:
    """Rows that are searched separately; `first` is the index of their first row in the beam."""

    number: int
    hypotheses: BeamHypotheses[Ended]
    rows: list[_BeamRow]
    first: int
    stopped_by: StopReason | None = None


class _GroupChoice(NamedTuple):
    """Candidates of a group in the order of choice.

    Args:
        ends: what ends each candidate's path.
        survivors: places of the candidates that go on, in the order of their rows.
        logprobs: each token's shaped log-probability after its parent.
        raw_logprobs: each token's unshaped log-probability after its parent.
        table: `[survivors, rows of the group]`: each survivor's shaped log-probability after every
            row.
        masks: what the constraint allowed after each row; empty without one.
    """

    group: _Group
    choice: RankedCandidates
    ends: list[Ended | None]
    survivors: list[int]
    logprobs: list[float]
    raw_logprobs: list[float]
    table: list[list[float]]
    masks: tuple[Mask, ...]


class _Search:
    """State of the search between two steps."""

    def __init__(self, model: LanguageModel, prompt_ids: Sequence[int], config: BeamSearch) -> None:
        groups, limit = config.num_beam_groups, token_limit(model, prompt_ids, config)
        self._model, self._config = model, config
        self._eos_ids, self._limit, self._index = model.eos_ids, limit, 0
        self._beams = config.num_beams // groups
        self._count = min(looked_at(config, model), self._beams * model.vocab_size)
        self._read, self._shaper = LogProbabilities(), shaper_of(model, config)
        self._stops = [text.encode() for text in config.stop_strings]
        self._tail = max((len(stop) for stop in self._stops), default=1) - 1
        self._generator = torch.Generator().manual_seed(config.seed) if config.draws else None
        rules = (config.length_penalty, config.early_stopping, limit)
        prompt = _BeamRow(0, 0, 0.0, list(prompt_ids), b"")
        self._groups = [
            _Group(n, BeamHypotheses(self._beams, *rules), [prompt], n) for n in range(groups)
        ]
        self.rows = [prompt] * groups

    def step(self, logits: Tensor, forward: float) -> BeamStep:
        """Extend every row of the beam by one token; afterwards `rows` is the next beam, or empty.

        Args:
            logits: `[rows, vocab]`.
            forward: seconds of the forward that gave them.
        """
        started = perf_counter()
        log_probs, entropies = self._read(logits)
        scored = perf_counter()
        belongs = tuple(g.number for g in self._groups if not g.stopped_by for _ in g.rows)
        choices: list[_GroupChoice] = []
        for group in self._groups:
            if not group.stopped_by:
                # Tokens that earlier groups took at this step are penalised.
                taken = [token_id for earlier in choices for token_id in self._taken(earlier)]
                choices.append(self._search(group, log_probs, taken))
        # The next beam holds the survivors of unfinished groups; other survivors come last.
        order = [(f, at) for f in choices for at in f.survivors if not f.group.stopped_by]
        going = len(order)
        order += [(f, at) for f in choices for at in f.survivors if f.group.stopped_by]
        numbers = {(f.group.number, at): number for number, (f, at) in enumerate(order)}
        candidates = tuple(c for f in choices for c in self._candidates(f, numbers))
        table = tuple(_table_row(f, at, len(belongs)) for f, at in order)
        texts = tuple(text for f in choices for text in self._texts(f))
        index = self._index
        self._advance(order[:going])
        ended = [entry for group in self._groups for entry in group.hypotheses.entries]
        return BeamStep(
            index=index,
            candidates=candidates,
            groups=belongs,
            entropies=tuple(entropies),
            kept_logprobs=table,
            finished_texts=texts,
            limit=self._limit,
            origin="sampled" if self._generator else "argmax",
            seconds=BeamSeconds(forward, scored - started, perf_counter() - scored),
            finish_reason=None if self.rows else max(ended, key=lambda entry: entry.score).item,
            masks=tuple(mask for f in choices for mask in f.masks),
        )

    def _search(self, group: _Group, log_probs: Tensor, taken: Sequence[int]) -> _GroupChoice:
        """Return a group's candidates, and add the finished ones to its hypotheses."""
        rows = log_probs[group.first : group.first + len(group.rows)]
        costly = less_taken(rows, self._config.diversity_penalty, taken)
        ids = [row.ids for row in group.rows]
        shaped = self._shaper.rows(costly, ids, [self._index] * len(ids))
        totals = [row.total for row in group.rows]
        choice = choose(shaped, totals, self._beams, self._count, self._generator)
        if not choice.places and not group.hypotheses.entries:
            raise DecodingError(
                N_(
                    "No token is left: the penalties ban every token that the model "
                    "can emit; lower no_repeat_ngram_size or min_new_tokens."
                )
            )
        pairs = zip(choice.parents, choice.token_ids, strict=True)
        ends = [self._ending(group.rows[parent], token_id) for parent, token_id in pairs]
        survivors = self._survivors(choice, ends)
        finished = [(choice.sums[at], end) for at, end in self._finished(choice, ends)]
        group.hypotheses.add(finished, self._index + 1)
        best = choice.sums[survivors[0]] if survivors else None
        group.stopped_by = group.hypotheses.stop_reason(best, self._index + 1)
        at = (choice.parents, choice.token_ids)
        table = shaped[:, [choice.token_ids[place] for place in survivors]].t().tolist()
        masks = masks_of(self._model, rows, self._shaper.allowed)
        raw = rows[at].tolist()
        return _GroupChoice(group, choice, ends, survivors, shaped[at].tolist(), raw, table, masks)

    def _ending(self, row: _BeamRow, token_id: int) -> Ended | None:
        if token_id in self._eos_ids:
            return "eos"
        if self._stops:
            added = self._model.token_bytes(token_id)
            # The tail is long enough for a stop string that ends with this token.
            seen = row.text[max(0, len(row.text) - self._tail) :] + added
            if any(stop in seen for stop in self._stops):
                return "stop"
        return "length" if self._index + 1 == self._limit else None

    def _survivors(self, choice: RankedCandidates, ends: Sequence[Ended | None]) -> list[int]:
        """Return the best candidates without an end, by the same call as transformers, ties
        included.
        """
        running = [NOTHING] * self._count
        for place, total, end in zip(choice.places, choice.sums, ends, strict=True):
            running[place] = NOTHING if end else total
        best = torch.topk(torch.tensor(running), self._beams)[1].tolist()
        at = {place: i for i, place in enumerate(choice.places)}
        return [at[place] for place in best if running[place] > NOTHING / 2]

    def _finished(
        self, choice: RankedCandidates, ends: Sequence[Ended | None]
    ) -> Iterator[tuple[int, Ended]]:
        """Yield the finished candidates; only the first num_beams of the K may finish, as in
        transformers.
        """
        for at, (place, end) in enumerate(zip(choice.places, ends, strict=True)):
            if end and place < self._beams:
                yield at, end

    def _taken(self, chosen: _GroupChoice) -> Iterator[int]:
        """Yield the tokens that later groups are penalised for, which exclude end-of-sequence
        tokens.
        """
        for at in chosen.survivors:
            yield chosen.choice.token_ids[at]
        for at, end in self._finished(chosen.choice, chosen.ends):
            if end != "eos":
                yield chosen.choice.token_ids[at]

    def _candidates(
        self, chosen: _GroupChoice, numbers: dict[tuple[int, int], int]
    ) -> Iterator[BeamCandidate]:
        group, choice, text = chosen.group, chosen.choice, self._model.token_text
        finished = {at for at, _ in self._finished(choice, chosen.ends)}
        for at, token_id in enumerate(choice.token_ids):
            row = numbers.get((group.number, at))
            fate: Fate = "pruned" if row is None else "kept"
            yield BeamCandidate(
                rank=choice.places[at] + 1,
                parent=group.first + choice.parents[at],
                token_id=token_id,
                text=text(token_id),
                logprob=chosen.logprobs[at],
                raw_logprob=chosen.raw_logprobs[at],
                cum_logprob=choice.sums[at],
                fate="finished" if at in finished else fate,
                row=row,
                ended=chosen.ends[at],
            )

    def _texts(self, chosen: _GroupChoice) -> Iterator[str]:
        """Yield the whole text of each finished path."""
        for at, _ in self._finished(chosen.choice, chosen.ends):
            before = chosen.group.rows[chosen.choice.parents[at]].text
            added = self._model.token_bytes(chosen.choice.token_ids[at])
            yield (before + added).decode("utf-8", "replace")

    def _advance(self, order: Sequence[tuple[_GroupChoice, int]]) -> None:
        """Make the next beam from candidates ordered by group."""
        rows: dict[int, list[_BeamRow]] = {}
        for chosen, at in order:
            choice = chosen.choice
            parent, token_id = choice.parents[at], choice.token_ids[at]
            before = chosen.group.rows[parent]
            text = before.text + self._model.token_bytes(token_id)
            ids = [*before.ids, token_id]
            rows.setdefault(chosen.group.number, []).append(
                _BeamRow(chosen.group.first + parent, token_id, choice.sums[at], ids, text)
            )
        self.rows = [row for group in rows.values() for row in group]
        first = 0
        for group in self._groups:
            group.first, group.rows = first, rows.get(group.number, [])
            first += len(group.rows)
        self._index += 1


def _table_row(chosen: _GroupChoice, at: int, width: int) -> tuple[float | None, ...]:
    """Return a survivor's log-probability under each row; None for rows of other groups and banned
    tokens.
    """
    row: list[float | None] = [None] * width
    for place, value in enumerate(chosen.table[chosen.survivors.index(at)]):
        if value > -math.inf:
            row[chosen.group.first + place] = value
    return tuple(row)
