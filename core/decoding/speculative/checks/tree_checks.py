"""Checks of a round's tree of drafts: its shape and the caches, from the file and the models."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from itertools import pairwise

from torch import Tensor

from ....language import N_, Message
from ...checks.forwards import stretched
from ...protocol import LanguageModel
from ...record.trace import Trace
from ..config import Speculative
from ..drafters.model import room_after
from ..rounds import candidate_of
from ..tree.drafting import most_nodes
from ..tree.paths import TokenTree
from ..tree.shape import children_of, path_to
from ..types import CacheSizes, DraftRound, DraftToken
from .replay import Side


def confidence(token: DraftToken) -> float:
    """Return the draft's own probability of a drafted token; 1 without a draft model."""
    candidate = candidate_of(token.candidates, token.token_id)
    return candidate.draft_raw_prob if candidate and candidate.draft_raw_prob is not None else 1.0


def tree_cache_fault(step: DraftRound, config: Speculative, before: int, held: int) -> str:
    """Describe a cache size that the round can't have; empty for none.

    Args:
        before: number of tokens in the target's cache.
        held: number of tokens in the draft's cache.
    """
    rows = step.depth if config.scoring == "batch_expansion" else len(step.drafted)
    if step.window is not None:
        one_row = config.scoring == "multi_query"
        rows = rows + step.window.size if one_row else max(rows, step.window.reach)
    target = CacheSizes(before, before + 1 + rows, before + 1 + len(step.accepted))
    if step.target_cache != target:
        return Message("the target's cache is not {sizes}", sizes=target)
    draft = step.draft_cache
    if not config.source.draws:
        return "" if draft is None else N_("the source has no cache")
    most = before + 1 + len(step.accepted)
    if draft is None or draft.before != held or not held <= draft.after <= min(draft.peak, most):
        return N_("the draft's cache does not go on from the round before")
    return ""


def text_tree_fault(
    step: DraftRound, proposed: TokenTree, ends: Collection[int] | None = None
) -> str:
    """Describe a difference of a round's tree from the one that the text gives; empty for none.

    Args:
        ends: tokens that nothing follows; None if only the model knows them.
    """
    drafted = TokenTree(tuple(token.token_id for token in step.drafted), step.parents)
    if ends is None:
        paths = {*drafted.paths()}
        ends = {path[-2] for path in proposed.paths() if path not in paths and path[:-1] in paths}
    same = proposed.cut_after(ends)[:2] == drafted[:2]
    return "" if same else N_("the text doesn't go on like that where it did before")


def tree_shape_fault(step: DraftRound, config: Speculative, length: int) -> str:
    """Describe a fault of a tree's shape; empty for none.

    Args:
        length: number of levels if max_new_tokens leaves room for them.
    """
    if step.depth > step.draft_length or len(step.drafted) > most_nodes(config):
        return N_("more was drafted than allowed")
    ends = {"length" if step.draft_length == length else "room"}
    if step.depth < step.draft_length:
        ends |= {"room"} if step.drafted else {"room", "no_token"}
    if config.source.from_text:
        ends = {"no_match"} if step.depth < step.draft_length else ends - {"no_token"}
        return "" if step.draft_end in ends else N_("drafting didn't end where the text does")
    if step.draft_end not in ends:
        return N_("drafting didn't end at the tree's last level")
    depths, widths = step.depths, config.widths
    for node, children in children_of(step.tree).items():
        ids = [step.drafted[at].token_id for at in children]
        if widths and children and len(children) > widths[depths[children[0]]]:
            return N_("a token has more children than the widths allow")
        if config.tree_picks != "with_replacement" and len(set(ids)) < len(ids):
            return N_("two siblings are the same token")
        if node >= 0 and children and confidence(step.drafted[node]) < config.draft_threshold:
            return N_("drafting went on after a token below the threshold")
    return ""


class TreeReplay:
    """The tree that the settings give for the draft's own distributions.

    Args:
        probs: `[n + 1, vocab]`, the draft's shaped distribution after the last emitted token and
            after each node; rows after nodes without children may be missing from a full window.
        room: number of levels that the draft's window holds.
        slack: largest relative error of a probability.
    """

    def __init__(
        self,
        step: DraftRound,
        config: Speculative,
        probs: Tensor,
        eos_ids: frozenset[int],
        room: float,
        slack: float,
    ) -> None:
        self._step, self._config, self._probs = step, config, probs
        self._eos_ids, self._slack = eos_ids, slack
        self._depth = min(step.draft_length, room)

    def fault(self) -> str:
        """Describe a child that is missing or doesn't belong; empty for none."""
        step, tree = self._step, self._step.tree
        if (step.draft_end == "room") != (self._depth < self._config.depth):
            return N_("a context window was full, or was not")
        children, joint = children_of(tree), self._joint()
        likeliest_out = 0.0
        for node in range(-1, len(tree)):
            ids = [step.drafted[at].token_id for at in children[node]]
            if not self._goes_on(node):
                if ids:
                    return N_("drafting went on after an end")
                continue
            row, depth = self._probs[node + 1], len(path_to(tree, node))
            count = self._config.tree_nodes or self._config.widths[depth]
            left = row.clone()
            left[ids] = 0.0
            out = float(left.max())
            if self._config.tree_nodes:
                likeliest_out = max(likeliest_out, out * (joint[node] if node >= 0 else 1.0))
                continue
            if len(ids) < count and out > 0 and self._config.tree_picks != "with_replacement":
                return N_("a node has fewer children than the widths give")
            if self._config.tree_picks == "with_replacement" and len(ids) not in (count, 0):
                return N_("a node has fewer children than the widths give")
            if not self._config.draft_draws and self._out_of_order(row, ids, out):
                return N_("a child is not among the draft's likeliest tokens")
        full = len(tree) == self._config.tree_nodes
        if self._config.tree_nodes and likeliest_out > 0 and not full:
            return N_("the tree has fewer nodes than were asked for")
        if self._config.tree_nodes and min(joint, default=1.0) < likeliest_out * self._slack:
            return N_("a likelier node is left out")
        return ""

    def _joint(self) -> list[float]:
        """Return the draft's joint probability of each node."""
        tree, drafted = self._step.tree, self._step.drafted
        own = [
            float(self._probs[parent + 1, drafted[at].token_id]) for at, parent in enumerate(tree)
        ]
        return [math.prod(own[at] for at in path_to(tree, node)) for node in range(len(tree))]

    def _goes_on(self, node: int) -> bool:
        if len(path_to(self._step.tree, node)) >= self._depth:
            return False
        if node < 0:
            return True
        token = self._step.drafted[node]
        return (
            token.token_id not in self._eos_ids
            and confidence(token) >= self._config.draft_threshold
        )

    def _out_of_order(self, row: Tensor, ids: Sequence[int], out: float) -> bool:
        values = [*row[list(ids)].tolist(), out]
        return any(first < second * self._slack for first, second in pairwise(values))


def tree_fault(
    trace: Trace[Speculative],
    step: DraftRound,
    sides: Sequence[Side],
    model: LanguageModel,
    draft: LanguageModel | None,
) -> str:
    """Describe a difference of a round's tree from the one that the draft gives; empty for none.

    Args:
        sides: the target's logits, then the draft's if there is one.
        draft: the model that drafted, the target's own layers included.
    """
    if draft is None or len(sides) < 2 or not step.parents:
        return ""
    logits, shaper = sides[1].logits, sides[1].shaper
    before, drafted = [*trace.prompt_ids, *trace.token_ids[: step.start]], step.drafted
    paths = [path_to(step.tree, node) for node in range(-1, len(step.tree))]
    ids = [[*before, *(drafted[at].token_id for at in path)] for path in paths]
    probs = shaper.rows(logits, ids, [step.start + len(path) for path in paths]).softmax(-1)
    room = room_after(draft, len(before))
    slack = math.exp(-2 * step.depth * stretched(sides[1].tolerance, shaper.shaping))
    return TreeReplay(
        step, trace.config, probs.nan_to_num(nan=0.0), model.eos_ids, room, slack
    ).fault()
