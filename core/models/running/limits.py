"""Validation of the ids and rows that a context is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from ...decoding.errors import PromptError
from ...decoding.protocol import TokenRows
from ...language import N_, Message


@dataclass(frozen=True, slots=True)
class InputLimits:
    """Vocabulary and window of a model, which bound its input."""

    vocab_size: int
    window: int | None

    def as_rows(self, ids: TokenRows, rows: int, length: int) -> list[list[int]]:
        """Return ids as `rows` lists of equal length; a flat list is one row.

        Args:
            length: of the text that they follow, in tokens.

        Raises:
            PromptError: no token, an id outside the vocabulary, or too many tokens.
            ValueError: the shape is not `[rows, n]`.
        """
        nested = len(ids) > 0 and isinstance(ids[0], Sequence)
        table = [list(row) for row in cast("Sequence[Sequence[int]]", ids if nested else [ids])]
        width = len(table[0]) if table else 0
        if width == 0:
            raise PromptError(N_("There is no token to process; give at least one token id."))
        if len(table) != rows or any(len(row) != width for row in table):
            shape = [len(row) for row in table]
            raise ValueError(f"A context of {rows} rows takes as many equal rows, got {shape}.")
        for row in table:
            if min(row) < 0 or max(row) >= self.vocab_size:
                stray = next(token_id for token_id in row if not 0 <= token_id < self.vocab_size)
                raise PromptError(
                    Message(
                        "Token ids must lie in [0, {vocab_size}], got {stray}; use ids "
                        "of this model's own tokenizer.",
                        vocab_size=self.vocab_size - 1,
                        stray=stray,
                    )
                )
        if self.window is not None and length + width > self.window:
            raise PromptError(
                Message(
                    "The model's context window holds {window} tokens, {length} were "
                    "asked for; shorten the prompt or generate fewer tokens.",
                    window=self.window,
                    length=length + width,
                )
            )
        return table


def check_branch(rows: Sequence[int], held: int) -> None:
    """Raises ValueError unless every entry names one of the `held` rows."""
    if len(rows) == 0 or min(rows) < 0 or max(rows) >= held:
        raise ValueError(f"A context of {held} rows can't branch into rows {list(rows)}.")
