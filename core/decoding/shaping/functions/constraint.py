"""Stage of a constraint: it removes the tokens that may not follow the text so far."""

from __future__ import annotations

import math

from torch import Tensor

from ...constraints.grammar import Grammar, StepGrammar
from ...constraints.value import Constraint
from ..stage import StepContext


class constraint:
    """Remove the tokens that the constraint doesn't allow after the generated text (llguidance).

    The text of a reasoning run begins with its answer. At a dead end, where no allowed token has a
    probability, only the end-of-sequence tokens are left. If they have none either, and in a text
    that holds a token that wasn't allowed, it removes nothing.
    """

    def __init__(self, value: Constraint, grammar: Grammar | StepGrammar | None = None) -> None:
        self._value, self._grammar = value, grammar

    def __call__(self, logits: Tensor, context: StepContext) -> Tensor:
        """Return `[vocab]` logits, -inf for removed tokens."""
        if self._grammar is None:
            assert context.grammars is not None
            self._grammar = context.grammars().start(self._value)
        self._grammar.read(context.ids[context.prompt_length + (context.answer_from or 0) :])
        if self._grammar.left and not self._grammar.fault:
            return logits
        for mask in (self._grammar.allowed, self._grammar.stops):
            kept = logits.masked_fill(~mask(logits.shape[-1]), -math.inf)
            if bool((kept > -math.inf).any()):
                return kept
        return logits

    def accept(self, token_id: int) -> None:
        """Do nothing: the next step's context holds the token."""

    def rollback(self, count: int) -> None:
        """Do nothing: the next step's context holds the text."""

    def fork(self) -> constraint:
        """Return an independent copy."""
        return constraint(self._value, self._grammar and self._grammar.copy())
