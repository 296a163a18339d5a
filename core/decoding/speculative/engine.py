"""Speculative decoding: a draft proposes tokens, the target scores them in one forward and verifies
each.

Speculative sampling follows Leviathan et al. 2023 and Chen et al. 2023. Greedy decoding is the case
of one-hot distributions, without separate code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple, cast

import torch
from torch import Tensor

from ..config import Ended
from ..constraints.grammar import masks_of
from ..loop.run import process_prompt, token_limit
from ..loop.text import Ending
from ..protocol import Context, HiddenContext, LanguageModel, TokenRows, offers
from ..record.steps import Step
from .candidates import Position, read_positions
from .config import MAX_DRAFT_LENGTH, Speculative
from .distributions import PositionShaper, Rows, residual_masses
from .drafters.proposal import Draft, Proposal, ReadsHidden, ReadsRounds
from .drafters.start import start_draft
from .scoring import feed
from .types import (
    CacheSizes,
    DraftRound,
    DraftToken,
    ExtraToken,
    Outcome,
    PairCandidate,
    RoundSeconds,
)
from .verification import (
    EmittedByTarget,
    Verification,
    bonus,
    recovered,
    verify_all,
)


def generate(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: Speculative,
    draft: LanguageModel | None = None,
) -> Iterator[Step]:
    """Yield the target's prompt step, then a round for every target forward.

    Args:
        prompt_ids: at least one id; prompt and generated tokens together stay within the target's
            context window. If the draft's window is shorter, the draft stops proposing at its end.
        draft: the draft model, if the source needs one.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        ModelError: the vocabularies differ.
        DecodingError: a model returned no distribution, or every token is banned.
    """
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    with torch.inference_mode():
        # The last token is read again with the first drafted tokens, so that all rounds are alike.
        context.rollback(1)
        source = start_draft(model, draft, prompt_ids, config)
    run = Rounds(model, context, source, prompt_ids, config)
    while not run.finished:
        with torch.inference_mode():
            step = run.round()
        yield step


class _Verdict(NamedTuple):
    """Outcome of a round; `extra` follows the accepted tokens, unless one of them ended the run."""

    outcomes: list[Outcome]
    extra: EmittedByTarget | None
    texts: list[str]
    reason: Ended | None

    @property
    def accepted(self) -> int:
        return self.outcomes.count("accepted")

    @property
    def rejected(self) -> bool:
        return "rejected" in self.outcomes


class _Scored(NamedTuple):
    """A proposal with the target's distributions and the verifications."""

    proposal: Proposal
    length: int
    logits: Tensor
    rows: Rows
    verifications: list[Verification]
    cache_before: int
    cache_peak: int


class Rounds:
    """State between two rounds: both contexts, the tokens so far, and the run's generator."""

    def __init__(
        self,
        model: LanguageModel,
        context: Context,
        draft: Draft,
        prompt_ids: Sequence[int],
        config: Speculative,
    ) -> None:
        """Create the state; `context` holds the prompt without its last token, which every round
        reads first.
        """
        self._model, self._config, self._draft = model, config, draft
        self._context, self._ids = context, list(prompt_ids)
        self._prompt_length = len(prompt_ids)
        self._limit = token_limit(model, prompt_ids, config)
        self._ending = Ending(model, config, self._limit)
        self._shaper = PositionShaper(model, config, config.shaping)
        self._generator = torch.Generator().manual_seed(config.seed)
        self._length = config.draft_length
        self._index, self._prefill = 0, draft.prefill
        self._emitting = 0.0
        self.finished = False

    def _noise(self, n: int) -> list[float]:
        """Return the run's next uniform numbers."""
        drawn = torch.rand(n, generator=self._generator, dtype=torch.float64)
        numbers: list[float] = drawn.tolist()
        return numbers

    def round(self) -> DraftRound:
        """Propose, score and verify; return the recorded round."""
        self._emitting = 0.0
        began, start = perf_counter(), len(self._ids) - self._prompt_length
        proposal, length = self._propose(start)
        proposed, before = perf_counter(), self._context.length
        logits = self._score(proposal.token_ids)
        scored = perf_counter()
        drafted, peak = proposal.token_ids, self._context.length
        rows = self._shaper(logits, [*self._ids, *drafted], start)
        verifications = verify_all(self._config, drafted, rows, proposal.rows, self._noise)
        result = _Scored(proposal, length, logits, rows, verifications, before, peak)
        verdict = self._verify(result, start)
        caches = self._roll_back(result, verdict)
        verified = perf_counter()
        tokens, extra = self._record(result, verdict)
        masks = masks_of(self._model, logits, self._shaper.allowed)
        seconds = RoundSeconds(
            propose=proposed - began,
            score=scored - proposed,
            verify=verified - scored - self._emitting,
            record=perf_counter() - verified + self._emitting,
            prefill=self._prefill,
        )
        self._index, self._prefill = self._index + 1, 0.0
        step = DraftRound(
            index=self._index - 1,
            start=start,
            draft_length=length,
            draft_end=proposal.end,
            drafted=tuple(tokens),
            recovered=extra if verdict.rejected else None,
            bonus=None if verdict.rejected else extra,
            texts=tuple(verdict.texts),
            target_cache=caches[0],
            draft_cache=caches[1],
            seconds=seconds,
            finish_reason=verdict.reason,
            translation=proposal.translation,
            masks=masks,
        )
        if offers(self._draft, ReadsRounds):
            self._draft.after(step)
        return step

    def _propose(self, start: int) -> tuple[Proposal, int]:
        """Draft tokens; also return the number allowed, as the target adds one token of its own."""
        length = min(self._length, self._limit - start - 1)
        proposal = self._draft.propose(self._ids, start, length, self._noise)
        if proposal.end == "length" and length < self._length:
            proposal.end = "room"
        return proposal, length

    def _score(self, drafted: Sequence[int]) -> Tensor:
        """Return the target's logits after the last emitted token and each drafted token, `[n + 1,
        vocab]`.

        Afterwards the context holds all of these tokens.
        """
        context, scoring = self._context, self._config.scoring
        rows = feed(scoring, context.length, self._ids[-1], drafted)
        if len(rows) == 1:
            return self._read(context, rows[0].token_ids)[0]
        expanded = context.branch([0] * len(rows))
        logits = self._read(expanded, [row.token_ids for row in rows])
        expanded.reorder([len(rows) - 1])
        self._context = expanded
        return torch.stack([logits[at, row.reads[0]] for at, row in enumerate(rows)])

    def _read(self, context: Context, ids: TokenRows) -> Tensor:
        """Return the logits of new tokens; a draft that reads hidden states gets those too."""
        if not offers(self._draft, ReadsHidden):
            return context.extend(ids)
        logits, hidden = cast(HiddenContext, context).extend_both(ids)
        self._draft.see(hidden[-1])
        return logits

    def _verify(self, scored: _Scored, start: int) -> _Verdict:
        """Emit the accepted tokens, then the target's own token."""
        drafted, texts = scored.proposal.token_ids, []
        outcomes: list[Outcome] = ["not_reached"] * len(drafted)
        extra: EmittedByTarget | None = None
        reason: Ended | None = None
        for row, (token_id, verification) in enumerate(
            zip(drafted, scored.verifications, strict=True)
        ):
            outcomes[row] = "accepted" if verification.passed else "rejected"
            if not verification.passed:
                extra = recovered(
                    self._config,
                    verification,
                    scored.rows,
                    scored.proposal.rows,
                    row,
                    self._noise,
                )
                break
            text, reason = self._emit(start + row, token_id)
            texts.append(text)
            if reason:
                break
        else:
            extra = bonus(scored.rows, len(drafted), self._noise)
        if extra is not None:
            text, reason = self._emit(start + len(texts), extra.drawn.token_id)
            texts.append(text)
        self.finished = reason is not None
        return _Verdict(outcomes, extra, texts, reason)

    def _emit(self, index: int, token_id: int) -> tuple[str, Ended | None]:
        self._ids.append(token_id)
        # Time for the text isn't counted as decoding, here and in target-only decoding.
        began = perf_counter()
        text, reason = self._ending.after(index, token_id)
        self._emitting += perf_counter() - began
        return text, reason

    def _roll_back(
        self, scored: _Scored, verdict: _Verdict
    ) -> tuple[CacheSizes, CacheSizes | None]:
        """Remove unaccepted tokens from both contexts, and set the next round's length."""
        drafted, accepted = len(scored.verifications), verdict.accepted
        self._context.rollback(drafted - accepted)
        keep = self._context.length
        if self._config.adaptive:
            longer = min(self._length + 2, MAX_DRAFT_LENGTH)
            self._length = longer if accepted == self._length else max(1, self._length - 1)
        caches = CacheSizes(scored.cache_before, scored.cache_peak, keep)
        return caches, self._draft.keep(keep)

    def _record(
        self, scored: _Scored, verdict: _Verdict
    ) -> tuple[list[DraftToken], ExtraToken | None]:
        """Return the round's tokens as the trace records them."""
        proposal, extra, at = scored.proposal, verdict.extra, verdict.accepted
        drawn = (extra.drawn.token_id,) if extra else ()
        positions = [
            Position(row, row, (token_id, *(drawn if verdict.rejected and row == at else ())))
            for row, token_id in enumerate(proposal.token_ids)
        ]
        if extra and not verdict.rejected:
            positions.append(Position(at, None, drawn))
        candidates = read_positions(
            self._model,
            positions,
            scored.logits,
            scored.rows,
            proposal.logits,
            proposal.rows,
            self._config.top_candidates,
        )
        masses = residual_masses(scored.rows, scored.proposal.rows)
        tokens = [
            self._draft_token(scored, row, verdict.outcomes[row], masses[row], candidates[row])
            for row in range(len(scored.verifications))
        ]
        if extra is None:
            return tokens, None
        pair = next(c for c in candidates[at] if c.token_id == extra.drawn.token_id)
        emitted = ExtraToken(
            token_id=pair.token_id,
            text=pair.text,
            prob=extra.drawn.prob,
            target_prob=pair.target_prob,
            draft_prob=pair.draft_prob,
            uniform=extra.uniform,
            interval=extra.drawn.interval if extra.uniform is not None else None,
            candidates=() if verdict.rejected else candidates[at],
        )
        return tokens, emitted

    def _draft_token(
        self,
        scored: _Scored,
        row: int,
        outcome: Outcome,
        mass: float,
        candidates: tuple[PairCandidate, ...],
    ) -> DraftToken:
        proposal, verification = scored.proposal, scored.verifications[row]
        token_id, allowed = proposal.token_ids[row], self._shaper.allowed
        return DraftToken(
            token_id=token_id,
            text=self._model.token_text(token_id),
            draft_prob=verification.draft_prob,
            target_prob=verification.target_prob,
            accept_prob=verification.accept_prob,
            uniform=verification.uniform,
            passed=verification.passed,
            outcome=outcome,
            residual_mass=mass,
            candidates=candidates,
            draft_uniform=proposal.uniforms[row],
            draft_interval=proposal.intervals[row],
            interval=verification.interval,
            threshold=verification.threshold,
            refused=allowed is not None and not allowed[row, token_id],
        )
