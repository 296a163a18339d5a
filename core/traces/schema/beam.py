"""The layout of a beam search in a trace file: candidates, the tree that they make, hypotheses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, model_validator

from core.decoding.beam.config import MAX_BEAMS
from core.traces.schema.fields import (
    Index,
    LongText,
    Nats,
    Number,
    Rank,
    Seconds,
    ShortText,
    Strict,
    TokenId,
)

# K of the largest beam, of a model with some sixty end-of-sequence tokens.
MAX_BEAM_CANDIDATES = 64 * MAX_BEAMS
MAX_LENGTH = 100_000

Row: TypeAlias = Annotated[int, Field(ge=0, lt=MAX_BEAMS)]
Ended: TypeAlias = Literal["eos", "stop", "length"]
_Many = Field(max_length=MAX_BEAM_CANDIDATES, fail_fast=True)
_Rows = Field(max_length=MAX_BEAMS, fail_fast=True)


class BeamCandidates(Strict):
    """Columns of equal length."""

    rank: Annotated[list[Rank], _Many]
    parent: Annotated[list[Row], _Many]
    token_id: Annotated[list[TokenId], _Many]
    text: Annotated[list[ShortText], _Many]
    logprob: Annotated[list[Number], _Many]
    raw_logprob: Annotated[list[Number], _Many]
    cum_logprob: Annotated[list[Number], _Many]
    fate: Annotated[list[Literal["kept", "finished", "pruned"]], _Many]
    row: Annotated[list[Row | None], _Many]
    ended: Annotated[list[Ended | None], _Many]

    @model_validator(mode="after")
    def _equal_lengths(self) -> BeamCandidates:
        if len({len(column) for _, column in self}) != 1:
            raise ValueError("the candidates' columns differ in length")
        if len(set(zip(self.parent, self.token_id, strict=True))) != len(self.parent):
            raise ValueError("a candidate is listed twice")
        return self

    @model_validator(mode="after")
    def _rows_of_survivors(self) -> BeamCandidates:
        if any((f == "kept") != (r is not None) for f, r in zip(self.fate, self.row, strict=True)):
            raise ValueError("a kept candidate takes a row of the next beam, and no other does")
        rows = sorted(row for row in self.row if row is not None)
        if rows != list(range(len(rows))):
            raise ValueError("the kept candidates' rows are not 0, 1, 2, ...")
        if any(f == "finished" and e is None for f, e in zip(self.fate, self.ended, strict=True)):
            raise ValueError("a path finished that nothing ended")
        return self


class BeamSeconds(Strict):
    """Where a step's time went."""

    forward: Seconds
    scores: Seconds
    search: Seconds


class BeamStep(Strict):
    """One step of the search."""

    kind: Literal["beam"]
    index: Index
    candidates: BeamCandidates
    groups: Annotated[list[Row], Field(min_length=1, max_length=MAX_BEAMS, fail_fast=True)]
    entropies: Annotated[list[Nats], _Rows]
    kept_logprobs: Annotated[list[Annotated[list[Number | None], _Rows]], _Rows]
    finished_texts: Annotated[list[LongText], _Rows]
    limit: Annotated[int, Field(ge=1, le=MAX_LENGTH)]
    origin: Literal["argmax", "sampled"]
    seconds: BeamSeconds
    finish_reason: Ended | None

    @model_validator(mode="after")
    def _numbers_for_every_row(self) -> BeamStep:
        rows, candidates = len(self.groups), self.candidates
        if any(parent >= rows for parent in candidates.parent):
            raise ValueError("a candidate's parent is no row of its beam")
        if len(self.entropies) != rows or any(len(table) != rows for table in self.kept_logprobs):
            raise ValueError("a table has not one number for each row of the beam")
        if len(self.kept_logprobs) != candidates.fate.count("kept"):
            raise ValueError("the table has not one row for each kept candidate")
        if len(self.finished_texts) != candidates.fate.count("finished"):
            raise ValueError("there is not one text for each finished candidate")
        return self

    def groups_of_kept(self) -> list[int]:
        """The group of each survivor, by row."""
        pairs = zip(self.candidates.row, self.candidates.parent, strict=True)
        kept = sorted((row, parent) for row, parent in pairs if row is not None)
        return [self.groups[parent] for _, parent in kept]


class Hypothesis(Strict):
    """A finished path."""

    token_ids: Annotated[list[TokenId], Field(min_length=1, max_length=MAX_LENGTH, fail_fast=True)]
    text: LongText
    score: Number
    sum_logprob: Number
    parents: Annotated[list[Row], Field(max_length=MAX_LENGTH, fail_fast=True)]
    finish_reason: Ended
    group: Row


def require_a_tree(steps: Sequence[BeamStep], groups: object) -> None:
    """Raises ValueError unless every beam is what the step before it kept.

    Args:
        groups: how many there are, of settings that nobody has checked yet.
    """
    many = groups if isinstance(groups, int) and 1 <= groups <= MAX_BEAMS else 1
    for step in steps:
        if any(group >= many for group in step.groups):
            raise ValueError("a row belongs to a group that the settings don't have")
    if steps and steps[0].groups != list(range(many)):
        raise ValueError("the first beam must hold the prompt once for each group")
    for before, after in pairwise(steps):
        kept, going = before.groups_of_kept(), set(after.groups)
        # The survivors of groups that ended come last and go no further.
        ended = [group for group in kept if group not in going]
        if after.groups + ended != kept:
            raise ValueError("a step's beam is not what the step before it kept")


def require_paths(steps: Sequence[BeamStep], hypotheses: Sequence[Hypothesis]) -> None:
    """Raises ValueError unless every hypothesis is a path of the tree."""
    links = []
    for step in steps if hypotheses else ():
        columns = step.candidates
        links.append(set(zip(columns.parent, columns.token_id, columns.row, strict=True)))
    for found in hypotheses:
        if len(found.parents) != len(found.token_ids) or len(found.token_ids) > len(steps):
            raise ValueError("a hypothesis has not one parent for each token, or is too long")
        path = zip(found.parents, found.token_ids, [*found.parents[1:], None], strict=True)
        if any(link not in known for link, known in zip(path, links, strict=False)):
            raise ValueError("a hypothesis is no path of the tree")
