"""Grammar of one text: which tokens may follow, by llguidance.

In a stretch that the grammar fixes, only the tokenizer's own spelling of it is allowed, as in the
engines that use llguidance; a vocabulary without a token for each character has every spelling.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import torch
from torch import Tensor

from ...language import N_, Message
from ..errors import ConfigError
from ..loop.text import encode_continuation
from ..protocol import LanguageModel
from ..record.masks import Mask, WantedToken
from ..validation import shortened
from .value import Constraint, limits

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

# A hostile grammar can fix a text of a gigabyte; its next tokens follow from its beginning.
_MOST_SPELLED = 2_000
_BITS = torch.arange(8, dtype=torch.uint8)


class _Tokens:
    """A model's tokens as llguidance reads them; it holds the model weakly, as the model's
    tokenizer is cached for as long as the model lives.
    """

    is_tokenizer_wrapper = True
    bos_token_id = None

    def __init__(self, model: LanguageModel, eos_id: int) -> None:
        self._model = weakref.ref(getattr(model.encode, "__self__", model))
        self.eos_token_id = eos_id
        self.tokens = [model.token_bytes(token) for token in range(model.vocab_size)]
        if eos_id == model.vocab_size:
            self.tokens.append(b"")
        # Without a token for each character, a fixed text may have no spelling of its own.
        self.spells = {bytes([byte]) for byte in range(32, 127)} <= {*self.tokens}
        self.special_token_ids = [token for token, text in enumerate(self.tokens) if not text]

    def __call__(self, text: str) -> list[int]:
        model, text = self._model(), text[:_MOST_SPELLED]
        try:
            if model is None:
                return []
            ids = encode_continuation(model, text)
            if all(self.tokens[token] for token in ids):
                return ids
            # `<think>` in a JSON string is text: no special token, but its characters.
            return [token for char in text for token in encode_continuation(model, char)]
        except Exception:  # A tokenizer may refuse a text; then no spelling is its own.
            return []


class GrammarMaker(Protocol):
    """Maker of grammars over one model's tokens."""

    def start(self, constraint: Constraint) -> Grammar | StepGrammar:
        """Return the grammar of a constraint."""
        ...


class Grammars:
    """Maker of grammars at the beginning of a text."""

    def __init__(self, model: LanguageModel) -> None:
        from llguidance import LLTokenizer

        # A model without end-of-sequence tokens gets one that no row of logits has.
        self.stops = sorted(model.eos_ids)
        eos = self.stops or [model.vocab_size]
        tokens = _Tokens(model, eos[0])
        self._forcing = tokens.spells
        self._special = [token for token in tokens.special_token_ids if token not in self.stops]
        self._tokenizer: LLTokenizer = LLTokenizer(cast(Any, tokens), eos_token=eos)

    def start(self, constraint: Constraint) -> Grammar:
        """Return the grammar at the beginning of a text.

        It is compiled anew, because copies share a lexer, whose states are bounded.

        Raises:
            ConfigError: it is larger than llguidance's bounds, or allows no first token.
        """
        from llguidance import LLMatcher

        grammar = constraint.grammar(self._forcing)
        matcher = LLMatcher(self._tokenizer, grammar, log_level=0, limits=limits())
        if fault := matcher.get_error():
            raise ConfigError(
                Message(
                    "The constraint is too large for llguidance ({reason}): shorten it.",
                    reason=first_line(fault),
                ),
                "constraint",
            )
        made = Grammar(matcher, self.stops, self._special)
        if not made.copy().begins():
            raise ConfigError(
                N_("No token can begin a text of the constraint: rewrite it."), "constraint"
            )
        return made


def first_line(message: str) -> str:
    """Return the first line of llguidance's message as a part of a sentence."""
    return shortened(message.split("\n")[0].rstrip("."), 200)


# By the object that encodes: wrappers of a model share its tokens.
_GRAMMARS: weakref.WeakKeyDictionary[Any, dict[tuple[int, frozenset[int]], Grammars]]
_GRAMMARS = weakref.WeakKeyDictionary()


def grammars_of(model: LanguageModel) -> Grammars:
    """Return the cached grammars of a model."""
    made = _GRAMMARS.setdefault(getattr(model.encode, "__self__", model), {})
    key = model.vocab_size, frozenset(model.eos_ids)
    if key not in made:
        made[key] = Grammars(model)
    return made[key]


class StepGrammar:
    """Tokens that a constraint allows at one step; it holds no model, and can be pickled.

    Args:
        text: the generated tokens before the step.

    Raises:
        ConfigError: as `Grammars.start`.
    """

    def __init__(self, model: LanguageModel, constraint: Constraint, text: Sequence[int]) -> None:
        grammar = grammars_of(model).start(constraint)
        grammar.read(text)
        self._constraint, self._stops = constraint, grammar.stops(model.vocab_size)
        self._allowed = grammar.allowed(model.vocab_size)
        self.left, self.fault = grammar.left, grammar.fault

    def start(self, constraint: Constraint) -> StepGrammar:
        """Return the grammar itself, of the constraint that it was made for."""
        assert constraint == self._constraint
        return self

    def read(self, ids: Sequence[int]) -> None:
        """Do nothing: the text was read."""

    def allowed(self, _size: int) -> Tensor:
        """Return as `Grammar.allowed`."""
        return self._allowed

    def stops(self, _size: int) -> Tensor:
        """Return as `Grammar.stops`."""
        return self._stops

    def copy(self) -> StepGrammar:
        """Return the grammar itself, which never changes."""
        return self


class Grammar:
    """Grammar with the tokens that it has read; a copy is cheap (6 microseconds).

    Args:
        stops: end-of-sequence tokens.
        special: the other tokens without bytes.
    """

    def __init__(
        self,
        matcher: LLMatcher,
        stops: Sequence[int],
        special: Sequence[int],
        read: Sequence[int] = (),
    ) -> None:
        self._matcher, self._stops, self._special = matcher, stops, special
        # All tokens, of which the matcher holds the first ones: all but the first wrong one and
        # those after it.
        self._ids, self._held = list(read), len(read)
        self._bound = ""

    @property
    def fault(self) -> str:
        """llguidance's message if the grammar is broken or reached a limit; empty otherwise."""
        return first_line(self._matcher.get_error()) or self._bound

    @property
    def held(self) -> int:
        """Number of tokens before the first one that was not allowed."""
        return self._held

    @property
    def left(self) -> bool:
        """True if the text has left the grammar, by a token that was not allowed."""
        return self._held < len(self._ids)

    @property
    def complete(self) -> bool:
        """True if the text without the tokens that were not allowed is complete."""
        return not self.fault and self._matcher.is_accepting()

    def copy(self) -> Grammar:
        """Return an independent copy."""
        twin = Grammar(self._matcher.deep_copy(), self._stops, self._special, self._ids)
        twin._held, twin._bound = self._held, self._bound
        return twin

    def begins(self) -> bool:
        """Compute a mask and return False if no text follows, by any tokens."""
        self._matcher.compute_bitmask()
        return not self.fault.startswith("NoExtension")

    def read(self, ids: Sequence[int]) -> None:
        """Move to the end of another text, given all its tokens."""
        pairs = zip(self._ids, ids, strict=False)
        shared = next((at for at, (a, b) in enumerate(pairs) if a != b), None)
        if shared is None:
            shared = min(len(self._ids), len(ids))
        if shared < self._held:
            self._matcher.rollback(self._held - shared)
            self._held, self._bound = shared, ""
        self._ids[shared:] = ids[shared:]
        while self.left:
            token = self._ids[self._held]
            # A token that isn't allowed would spoil the matcher; a stop would not be counted.
            if token in self._stops:
                return
            if not self._matcher.validate_tokens([token]):
                # llguidance reports a bound only while it computes a mask.
                probe = self._matcher.deep_copy()
                probe.compute_bitmask()
                self._bound = first_line(probe.get_error())
                return
            self._matcher.consume_token(token)
            self._held += 1

    def allowed(self, size: int) -> Tensor:
        """Return `[size]`: True for each token that may follow."""
        mask = torch.frombuffer(bytearray(self._matcher.compute_bitmask()), dtype=torch.uint8)
        bits: Tensor = (mask[:, None] >> _BITS & 1).flatten()[:size].bool()
        # After a regular expression llguidance allows all special tokens, and refuses most then.
        if not self.complete:
            bits[self._stops] = False
        for token in self._special:
            if token < size and bits[token] and not self._matcher.validate_tokens([token]):
                bits[token] = False
        return bits

    def stops(self, size: int) -> Tensor:
        """Return `[size]`: True for each end-of-sequence token."""
        mask = torch.zeros(size, dtype=torch.bool)
        mask[self._stops] = True
        return mask


def masks_of(model: LanguageModel, logits: Tensor, allowed: Tensor | None) -> tuple[Mask, ...]:
    """Return the record of each row's mask; empty without a constraint.

    Args:
        logits: the model's own, `[n, vocab]`.
        allowed: `[n, vocab]`: True for each token that the constraint left.
    """
    if allowed is None:
        return ()
    log_probs = torch.log_softmax(logits.double(), dim=-1)
    masses = log_probs.masked_fill(~allowed, -torch.inf).logsumexp(-1).tolist()
    best, ids = (part.tolist() for part in log_probs.max(-1))
    return tuple(
        Mask(
            int(row.sum()),
            min(mass, 0.0),
            None if row[top] else WantedToken(top, model.token_text(top), math.exp(log_prob)),
        )
        for row, mass, top, log_prob in zip(allowed, masses, ids, best, strict=True)
    )
