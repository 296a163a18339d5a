"""Readings of a text: values derived from a trace, and measurements of a model; torch-free."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..autoregressive.config import Greedy
from ..counting import nth
from ..record.characters import BYTES, is_byte_part
from ..record.steps import Candidate
from ..record.trace import Trace
from ..shaping.settings.bias import token_in

MOST_PINS = 5
MOST_WORD_TOKENS = 8


class TextToken(NamedTuple):
    """A token of a text with the prediction that the model made before it.

    Args:
        place: index in the whole text, the prompt included.
        surprisal: nats; None for a token without a recorded prediction.
        rank: 1 for the model's most probable token; None as `surprisal`.
        entropy: of the prediction, nats.
        expected: the model's most probable tokens by rank; empty without a prediction.
    """

    place: int
    token_id: int
    text: str
    surprisal: float | None = None
    rank: int | None = None
    entropy: float | None = None
    expected: tuple[Candidate, ...] = ()


class ReadingTotals(NamedTuple):
    """Totals over the predicted tokens of a text.

    Args:
        tokens: number of predicted tokens.
        bytes: their length in UTF-8.
        nats: sum of their surprisals.
        entropy: mean entropy of the predictions, nats.
        first: number of tokens that were the model's most probable one.
        parts: number of tokens that are a part of a character.
    """

    tokens: int
    bytes: int
    nats: float
    entropy: float
    first: int
    parts: int = 0

    @property
    def perplexity(self) -> float:
        """Exponential of the mean surprisal; infinite beyond the largest float."""
        mean = self.nats / self.tokens if self.tokens else math.nan
        return math.exp(mean) if not mean > 700 else math.inf

    @property
    def bits_per_byte(self) -> float:
        """Sum of the surprisals in bits, by the length of the text in UTF-8."""
        return self.nats / math.log(2) / self.bytes if self.bytes else math.nan


class PinnedToken(NamedTuple):
    """A token followed through all steps of a run.

    Args:
        logprobs: natural logarithm of its raw probability at each step; None where it isn't known.
        ranks: its rank at each step; None as `logprobs`.
        bounds: where its probability isn't known, the logarithm of the least probable recorded
            candidate, which is an upper bound; None elsewhere.
    """

    token_id: int
    text: str
    logprobs: tuple[float | None, ...]
    ranks: tuple[int | None, ...]
    bounds: tuple[float | None, ...]


class WordSpelling(NamedTuple):
    """A way to write a word as tokens, followed along a text.

    Args:
        spaced: whether a space stands before the word.
        texts: display texts of its tokens.
        logprobs: natural logarithm of the product of the tokens' raw probabilities before each
            token of the text; None where the tokens exceed the context window.
    """

    spaced: bool
    token_ids: tuple[int, ...]
    texts: tuple[str, ...]
    logprobs: tuple[float | None, ...]


class FollowedWord(NamedTuple):
    """A word with the probability that the model continues with it before each token of a text.

    The spellings exclude each other, so that their probabilities add up. A longer word that begins
    with the same tokens counts too.
    """

    word: str
    spellings: tuple[WordSpelling, ...]

    @property
    def probs(self) -> tuple[float | None, ...]:
        """Return the sum over the spellings before each token; None where one isn't known."""
        return tuple(
            None
            if any(value is None for value in at)
            else min(1.0, math.fsum(math.exp(value) for value in at if value is not None))
            for at in zip(*(spelling.logprobs for spelling in self.spellings), strict=True)
        )

    def places_in(self, token_ids: Sequence[int]) -> tuple[int, ...]:
        """Return the indices at which the text itself goes on with the word."""
        ids = tuple(token_ids)
        return tuple(
            at
            for at in range(len(ids))
            if any(ids[at : at + len(s.token_ids)] == s.token_ids for s in self.spellings)
        )


def most_word_tokens(trace: Trace, word: str) -> int:
    """Return the most tokens that `follow_word` computes beside one forward of the text.

    A token has at least one byte, and a word is written with a space before it and without.
    """
    size = len(word.strip().encode())
    further = sum(min(MOST_WORD_TOKENS, length) - 1 for length in (size, size + 1) if length)
    return len(trace.token_ids) * max(0, further)


class TokenDivergence(NamedTuple):
    """The predictions of two models before one token of a text.

    Args:
        place: index in the whole text.
        kl: Kullback-Leibler divergence of the second from the first over the vocabulary, nats.
        total_variation: half the sum of absolute differences of the probabilities.
        favourites, favourite_texts: the most probable token of each.
        surprisals: of the token under each, nats.
    """

    place: int
    token_id: int
    text: str
    kl: float
    total_variation: float
    favourites: tuple[int, int]
    favourite_texts: tuple[str, str]
    surprisals: tuple[float, float]

    @property
    def flipped(self) -> bool:
        """Return whether the models' most probable tokens differ."""
        return self.favourites[0] != self.favourites[1]


class ModelDivergence(NamedTuple):
    """Two models' predictions along a text; names are as in captions."""

    names: tuple[str, str]
    tokens: tuple[TokenDivergence, ...]

    @property
    def flipped(self) -> int:
        """Number of tokens at which the most probable token differs."""
        return sum(token.flipped for token in self.tokens)

    @property
    def mean_kl(self) -> float:
        """Mean of the divergences, nats."""
        return math.fsum(token.kl for token in self.tokens) / max(1, len(self.tokens))


def text_tokens(trace: Trace) -> list[TextToken]:
    """Return the tokens of a run, the prompt's too, with the predictions that the trace holds."""
    return [*_prompt_tokens(trace), *_step_tokens(trace)]


def predicted_tokens(trace: Trace, reads: bool) -> list[TextToken]:
    """Return the tokens of a run's steps, or all tokens of a text that have a prediction.

    Args:
        reads: the trace is a text that was read.
    """
    tokens = text_tokens(trace) if reads else _step_tokens(trace)
    return [token for token in tokens if token.surprisal is not None]


def _prompt_tokens(trace: Trace) -> Iterator[TextToken]:
    before = None
    for position in trace.prompt_step.positions if trace.prompt_step else ():
        token = TextToken(position.index, position.token_id, position.text)
        if before is not None and before.next_prob is not None:
            prob = before.next_prob
            token = token._replace(
                surprisal=-math.log(prob) if prob > 0 else math.inf,
                rank=before.next_rank,
                entropy=before.entropy,
                expected=before.candidates,
            )
        yield token
        before = position


def _step_tokens(trace: Trace) -> Iterator[TextToken]:
    for index, step in enumerate(trace.token_steps, start=len(trace.prompt_ids)):
        chosen = step.chosen
        expected = tuple(c for c in step.candidates if c.rank <= len(step.candidates))
        yield TextToken(
            index, step.token_id, chosen.text, step.surprisal, chosen.rank, step.entropy, expected
        )


def is_reading(trace: Trace) -> bool:
    """Return whether a trace is that of a text that was read: its prompt is one token, or the
    parts of one character, and tokens were given up to its end.
    """
    given = any(step.forced_as == "given" for step in trace.token_steps)
    named = trace.config.top_candidates
    whole = trace.config == Greedy(max_new_tokens=len(trace.token_ids) or 1, top_candidates=named)
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    parts = bool(positions) and all(is_byte_part(p.text) for p in positions)
    return given and whole and (len(trace.prompt_ids) == 1 or parts)


def text_of(trace: Trace) -> str:
    """Return the text of prompt and run with its special tokens visible."""
    shown = (
        step.text or ("" if BYTES.search(step.chosen.text) else step.chosen.text)
        for step in trace.token_steps
    )
    return (trace.rendered_prompt or trace.prompt) + "".join(shown)


def totals_of(tokens: Sequence[TextToken]) -> ReadingTotals:
    """Return the totals over the tokens that have a prediction."""
    predicted = [token for token in tokens if token.surprisal is not None]
    return ReadingTotals(
        tokens=len(predicted),
        bytes=sum(_bytes_in(token.text) for token in predicted),
        nats=math.fsum(token.surprisal or 0.0 for token in predicted),
        entropy=math.fsum(token.entropy or 0.0 for token in predicted) / max(1, len(predicted)),
        first=sum(token.rank == 1 for token in predicted),
        parts=sum(is_byte_part(token.text) for token in predicted),
    )


def _bytes_in(text: str) -> int:
    """Return the length of a token's display text in bytes; `<E2><98>` stands for two."""
    shown = sum(len(match[0]) for match in BYTES.finditer(text))
    return len(text.encode("utf-8", "surrogatepass")) - shown + shown // 4


def recorded_pins(trace: Trace, token_ids: Sequence[int]) -> tuple[PinnedToken, ...]:
    """Return the pinned tokens as far as the trace's candidates hold them."""
    return tuple(_recorded_pin(trace, token_id) for token_id in token_ids)


def recorded_ids(trace: Trace, texts: Sequence[str]) -> tuple[int, ...]:
    """Return the ids of pinned tokens, `#id` or text, as far as the trace's candidates tell."""
    known = {c.text: c.token_id for step in trace.token_steps for c in step.candidates}
    ids = (token_in(text, lambda word: known.get(word, -1)) for text in texts)
    return tuple(token_id for token_id in dict.fromkeys(ids) if token_id >= 0)[:MOST_PINS]


def _recorded_pin(trace: Trace, token_id: int) -> PinnedToken:
    steps, text = trace.token_steps, f"#{token_id}"
    logprobs, ranks, bounds = list[float | None](), list[int | None](), list[float | None]()
    for step in steps:
        candidate = next((c for c in step.candidates if c.token_id == token_id), None)
        if candidate is not None:
            text = candidate.text
        known = candidate is not None and candidate.raw_prob > 0
        # A token that is not listed has at most the last ranked one's probability.
        ranked = (c.raw_prob for at, c in enumerate(step.candidates) if c.rank == nth(at))
        least = min((prob for prob in ranked if prob > 0), default=1.0)
        logprobs.append(math.log(candidate.raw_prob) if candidate is not None and known else None)
        ranks.append(candidate.rank if candidate is not None and known else None)
        bounds.append(None if known else math.log(least))
    return PinnedToken(token_id, text, tuple(logprobs), tuple(ranks), tuple(bounds))
