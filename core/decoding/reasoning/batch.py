"""Many reasoning runs in one batch, with different problems, budgets or seeds; each equals a
separate run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

import torch
from torch import Tensor

from ..autoregressive.engine import Picker
from ..autoregressive.picked import cannot_force
from ..errors import DecodingError
from ..protocol import Context, LanguageModel
from ..record.steps import FinishReason
from ..requirements import encode_prompt, require_all_tokens
from ..shaping.stages import NO_DISTRIBUTION
from .config import Reasoning
from .controller import BudgetController
from .transcript import Piece

# Maximum number of float32 logits of prompts that are held at a time.
_HELD = 16 * 2**20
# Share of finished rows from which on they are dropped: dropping copies the cache of the other
# rows.
_DROP_AT = 0.25


class BatchRun(NamedTuple):
    """A prompt of at least one id, with its reasoning settings."""

    prompt_ids: Sequence[int]
    config: Reasoning


class FinishedRun(NamedTuple):
    """A run that has ended.

    Args:
        at: index in the list of runs.
        logprobs: log-probability of each token under the unshaped model.
        seconds: its share of the batch: each forward's time is divided among the runs in it.
    """

    at: int
    token_ids: tuple[int, ...]
    pieces: tuple[Piece, ...]
    logprobs: tuple[float, ...]
    finish_reason: FinishReason
    seconds: float


def reason_in_batch(
    model: LanguageModel, runs: Sequence[BatchRun]
) -> Iterator[tuple[FinishedRun, ...]]:
    """Yield the runs that ended with each forward, often none.

    Rows of a context have equal length, but prompts don't: rows whose prompt is complete already
    generate while others still read theirs, so no padding is needed. Each run emits the tokens of a
    `collect` run, up to rounding (its forwards have another shape), and has its own generator.

    Raises:
        PromptError: an empty prompt, an unknown id, or a prompt that is too long.
        DecodingError: the model returned no distribution, or gives a token to be forced no
            probability.
    """
    require_all_tokens(model, "a batch")
    use_cache = bool(runs) and runs[0].config.use_cache
    together: dict[Hashable, list[_BatchRow]] = {}
    for at, run in enumerate(runs):
        row = _BatchRow(model, at, run)
        together.setdefault(_prompt_angles(model, row.ids, use_cache), []).append(row)
    for rows in together.values():
        yield from _run_rows(model, rows, use_cache)


def _prompt_angles(model: LanguageModel, ids: Sequence[int], use_cache: bool) -> Hashable:
    """Return the key that prompts of one batch must share; None if any prompts may share a
    batch.
    """
    angles: Callable[[int, bool], Hashable] | None = getattr(model, "prompt_angles", None)
    return None if angles is None else angles(len(ids), use_cache)


def _run_rows(
    model: LanguageModel, rows: list[_BatchRow], use_cache: bool
) -> Iterator[tuple[FinishedRun, ...]]:
    started = perf_counter()
    context = _read_prompts(model, [row.ids for row in rows], use_cache=use_cache)
    while True:
        going = [row for row in rows if row.reason is None]
        _step(rows, context)
        seconds = (perf_counter() - started) / len(going)
        for row in going:
            row.seconds += seconds
        yield tuple(row.finished() for row in going if row.reason is not None)
        started = perf_counter()
        left = [at for at, row in enumerate(rows) if row.reason is None]
        if not left:
            return
        if len(left) <= (1 - _DROP_AT) * len(rows):
            context, rows = context.branch(left), [rows[at] for at in left]
        # A finished row reads its last token again until it is dropped.
        context.extend([[row.ids[min(context.length, len(row.ids) - 1)]] for row in rows])


def _read_prompts(
    model: LanguageModel, prompts: Sequence[Sequence[int]], *, use_cache: bool
) -> Context:
    """Return a context with a row for each prompt, read up to the length of the shortest prompt."""
    shortest = min(map(len, prompts))
    columns = zip(*prompts, strict=False)
    shared = next((at for at, ids in enumerate(columns) if len(set(ids)) > 1), shortest)
    begun = prompts[0][: max(shared, 1)]
    if _prompt_angles(model, begun, use_cache) is not None:
        # The whole prompt is read at once: the angles of its keys depend on its length.
        begun, shared = prompts[0], min(shared, shortest - 1)
    context = model.start(begun, use_cache=use_cache).branch([0] * len(prompts))
    if len(begun) > shared:
        context.rollback(len(begun) - shared)
    piece = max(1, _HELD // (len(prompts) * model.vocab_size))
    for first in range(shared, shortest, piece):
        context.extend([ids[first : min(first + piece, shortest)] for ids in prompts])
    return context


def _step(rows: Sequence[_BatchRow], context: Context) -> None:
    """Give each row with a complete prompt its next token."""
    at_end = [
        at for at, row in enumerate(rows) if row.reason is None and len(row.ids) == context.length
    ]
    if not at_end:
        return
    logits = context.logits if len(at_end) == len(rows) else context.logits[at_end]
    best = logits.argmax(dim=-1).tolist() if any(rows[at].greedy for at in at_end) else []
    tokens = [rows[at].step(logits[i], best[i] if best else 0) for i, at in enumerate(at_end)]
    chosen = logits.gather(1, torch.tensor(tokens)[:, None]).squeeze(1)
    logprobs = (chosen - logits.logsumexp(dim=-1)).tolist()
    for at, token, logprob in zip(at_end, tokens, logprobs, strict=True):
        if math.isnan(logprob):
            raise DecodingError(NO_DISTRIBUTION)
        # A picked token always has a probability: this token was forced.
        if logprob == -math.inf:
            raise cannot_force(rows[at].model, token)
        rows[at].logprobs.append(logprob)


class _BatchRow:
    """One run of the batch."""

    def __init__(self, model: LanguageModel, at: int, run: BatchRun) -> None:
        self.model, self._at = model, at
        self.ids = encode_prompt(model, run.prompt_ids)
        self._prompt_length = len(self.ids)
        self._controller = BudgetController(model, self.ids, run.config)
        self._picker = Picker(model, run.config.chooser)
        # No stage shapes its logits, so the batch's argmax is its pick.
        config = run.config
        self.greedy = not (config.draws or config.shaping.penalised or config.min_new_tokens)
        self._pieces: list[Piece] = []
        self.logprobs: list[float] = []
        self.reason: FinishReason | None = None
        self.seconds = 0.0

    def step(self, logits: Tensor, best: int) -> int:
        """Return the token after `[vocab]` logits; `best` is the most probable token."""
        picked, made = None, None
        if self._controller.asks:
            picked = best
            if not self.greedy:
                index = len(self._pieces)
                self._picker.shaper.answer_from = self._controller.answer_from
                made = self._picker.pick(index, logits, self.ids)
                picked = made.pick.token_id
        decision = self._controller.decide(picked)
        if made is not None and decision.forced_as is None:
            self._picker.take(made, decision.token_id)
        text, self.reason = self._controller.after(decision)
        token_id, phase, forced_as, instead_of = decision
        self.ids.append(token_id)
        visible = text or self.model.token_text(token_id)
        self._pieces.append(Piece(text, visible, phase, forced_as, instead_of))
        return token_id

    def finished(self) -> FinishedRun:
        return FinishedRun(
            at=self._at,
            token_ids=tuple(self.ids[self._prompt_length :]),
            pieces=tuple(self._pieces),
            logprobs=tuple(self.logprobs),
            finish_reason=self.reason or "cancelled",
            seconds=self.seconds,
        )
