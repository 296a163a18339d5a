"""Speculative decoding: a draft proposes tokens, the target scores them in one forward and verifies
each.

Speculative sampling follows Leviathan et al. 2023 and Chen et al. 2023. Greedy decoding is the case
of one-hot distributions, without separate code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import cast

import torch
from torch import Tensor

from ..config import Ended
from ..constraints.grammar import masks_of
from ..loop.run import process_prompt, token_limit
from ..loop.text import Ending
from ..protocol import Context, HiddenContext, LanguageModel, TokenRows, offers
from ..record.steps import Step
from .config import MAX_DRAFT_LENGTH, Speculative
from .distributions import PositionShaper
from .drafters.proposal import Draft, Proposal, ReadsHidden, ReadsRounds
from .drafters.start import start_draft
from .lookahead.window import GuessWindow, Levels, parents_of
from .recording import RoundVerdict, ScoredDraft, record
from .scoring import feed
from .tree.contexts import TreeForward, tree_forward
from .tree.drafting import TreeDraft
from .tree.shape import children_of, path_to
from .tree.verifying import compared_rows
from .types import CacheSizes, DraftRound, Outcome, RoundSeconds
from .verification import EmittedByTarget, accepted_if_reached, bonus, recovered, verify_all


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
        ModelError: the vocabularies differ, or a model can't score a tree as `scoring` says.
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


class Rounds:
    """State between two rounds: both contexts, the tokens so far, and the run's generator."""

    def __init__(
        self,
        model: LanguageModel,
        context: Context,
        draft: Draft | TreeDraft,
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
        self._length = config.depth
        self._forward: TreeForward | None = None
        # The target's hidden states after the nodes of a tree, for a head.
        self._hidden: list[Tensor] | None = None
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
        logits, window = self._score(proposal)
        scored = perf_counter()
        result = self._verified(proposal, logits, start, before)
        verdict = self._verify(result, start)
        caches = self._roll_back(result, verdict)
        verified = perf_counter()
        tokens, extra = record(self._model, self._config, result, verdict, self._shaper.allowed)
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
            recovered=None if verdict.rejected_at is None else extra,
            bonus=extra if verdict.rejected_at is None else None,
            texts=tuple(verdict.texts),
            target_cache=caches[0],
            draft_cache=caches[1],
            seconds=seconds,
            finish_reason=verdict.reason,
            parents=tuple(proposal.parents or ()),
            translation=proposal.translation,
            masks=masks,
            window=window,
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

    def _score(self, proposal: Proposal) -> tuple[Tensor, GuessWindow | None]:
        """Return the target's logits after the last emitted token and each drafted token, `[n + 1,
        vocab]`, and the window that lookahead decoding read beside them.

        Afterwards the context, or the forward of a tree, holds all of these tokens.
        """
        context, scoring, drafted = self._context, self._config.scoring, proposal.token_ids
        if proposal.parents is not None:
            return self._score_tree(drafted, proposal.parents, proposal.window)
        rows = feed(scoring, context.length, self._ids[-1], drafted)
        if len(rows) == 1:
            return self._read(context, rows[0].token_ids)[0], None
        expanded = context.branch([0] * len(rows))
        logits = self._read(expanded, [row.token_ids for row in rows])
        expanded.reorder([len(rows) - 1])
        self._context = expanded
        return torch.stack([logits[at, row.reads[0]] for at, row in enumerate(rows)]), None

    def _score_tree(
        self, drafted: Sequence[int], parents: Sequence[int], levels: Levels
    ) -> tuple[Tensor, GuessWindow | None]:
        """`_score` of a tree; the guesses of `levels` are nodes that follow no drafted token."""
        self._forward = tree_forward(self._model, self._context, self._config)
        count, guesses = len(drafted) + 1, [token_id for level in levels for token_id in level]
        behind = [0 if at < 0 else count + at for at in (parents_of(levels) if levels else ())]
        self._hidden = [] if self._config.source.reads_hidden else None
        logits = self._forward.extend(
            [self._ids[-1], *drafted, *guesses],
            [-1, *(parent + 1 for parent in parents), *behind],
            self._hidden,
        )
        if not levels:
            return logits, None
        predicted = logits[-len(levels[-1]) :].argmax(-1).tolist()
        return logits[:count], GuessWindow(levels, tuple(predicted))

    def _read(self, context: Context, ids: TokenRows) -> Tensor:
        """Return the logits of new tokens; a draft that reads hidden states gets those too."""
        if not self._config.source.reads_hidden:
            return context.extend(ids)
        assert offers(self._draft, ReadsHidden)
        logits, hidden = cast(HiddenContext, context).extend_both(ids)
        self._draft.see(hidden[-1])
        return logits

    def _verified(self, proposal: Proposal, logits: Tensor, start: int, before: int) -> ScoredDraft:
        """Shape the target's logits, and verify every drafted token."""
        drafted, parents = proposal.token_ids, proposal.parents
        if parents is None:
            peak = self._context.length
            rows = compared = self._shaper(logits, [*self._ids, *drafted], start)
        else:
            assert self._forward is not None
            peak = self._forward.peak
            paths = [path_to(parents, node) for node in range(-1, len(parents))]
            histories = [[*self._ids, *(drafted[at] for at in path)] for path in paths]
            rows = self._shaper.of(logits, histories, [start + len(path) for path in paths])
            rule = self._config.acceptance
            here = rows.take([parent + 1 for parent in parents])
            compared = compared_rows(here, proposal.rows, drafted, parents, rule)
        verifications = verify_all(self._config, drafted, compared, proposal.rows, self._noise)
        return ScoredDraft(proposal, logits, rows, compared, verifications, before, peak)

    def _verify(self, scored: ScoredDraft, start: int) -> RoundVerdict:
        """Emit the accepted tokens, then the target's own token."""
        drafted, texts, path = scored.proposal.token_ids, list[str](), list[int]()
        outcomes: list[Outcome] = ["not_reached"] * len(drafted)
        extra: EmittedByTarget | None = None
        reason: Ended | None = None
        passed = accepted_if_reached(self._config, [v.passed for v in scored.verifications])
        children, node = children_of(scored.tree), -1
        while reason is None and (siblings := children[node]):
            node = next((at for at in siblings if passed[at]), -1)
            tried = siblings if node < 0 else siblings[: siblings.index(node)]
            for at in tried:
                outcomes[at] = "rejected"
            if node < 0:
                rows = scored.compared, scored.proposal.rows
                extra = recovered(self._config, scored.verifications, *rows, tried[-1], self._noise)
                break
            outcomes[node] = "accepted"
            path.append(node)
            text, reason = self._emit(start + len(texts), drafted[node])
            texts.append(text)
        else:
            if reason is None:
                extra = bonus(scored.rows, node + 1, self._noise)
        if extra is not None:
            text, reason = self._emit(start + len(texts), extra.drawn.token_id)
            texts.append(text)
        self.finished = reason is not None
        return RoundVerdict(outcomes, extra, texts, reason, path)

    def _emit(self, index: int, token_id: int) -> tuple[str, Ended | None]:
        self._ids.append(token_id)
        # Time for the text isn't counted as decoding, here and in target-only decoding.
        began = perf_counter()
        text, reason = self._ending.after(index, token_id)
        self._emitting += perf_counter() - began
        return text, reason

    def _roll_back(
        self, scored: ScoredDraft, verdict: RoundVerdict
    ) -> tuple[CacheSizes, CacheSizes | None]:
        """Remove unaccepted tokens from both contexts, and set the next round's length."""
        drafted, accepted = len(scored.verifications), verdict.accepted
        if self._forward is not None:
            self._context = self._forward.keep([0, *(node + 1 for node in verdict.path)])
        else:
            self._context.rollback(drafted - accepted)
        keep = self._context.length
        if self._config.adaptive:
            longer = min(self._length + 2, MAX_DRAFT_LENGTH)
            self._length = longer if accepted == self._length else max(1, self._length - 1)
        caches = CacheSizes(scored.cache_before, scored.cache_peak, keep)
        draft = self._draft
        if isinstance(draft, TreeDraft):
            if self._hidden:
                draft.see(self._hidden[0][[0, *(node + 1 for node in verdict.path)]])
            return caches, draft.keep(verdict.path)
        return caches, draft.keep(keep)
