"""A tree of tokens in one forward: a node has the logits of its path, on any architecture."""

from __future__ import annotations

import pytest
import torch

from core import Shaping, Speculative, collect
from core.decoding.errors import ModelError
from core.decoding.protocol import TakesTrees, offers
from tests.decoding.speculative.speculations import scripted
from tests.models.builders import KINDS, random_language_model

PARENTS = [-1, 0, 0, 0, 1, 1, 2, 4]
# Longer than the sliding windows of the random models.
PROMPT = [(7 * at) % 299 for at in range(23)]
IDS = [3, 50, 90, 7, 120, 50, 8, 211]


def _path(node: int) -> list[int]:
    return [] if node < 0 else [*_path(PARENTS[node]), node]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_each_node_has_the_logits_of_its_path(kind: str, fused: bool) -> None:
    model = random_language_model(kind, fuse_single_tokens=fused)
    assert model.takes_trees
    for use_cache in (True, False):
        context = model.start(PROMPT, use_cache=use_cache)
        parts = (slice(0, 4), slice(4, 8))
        found = torch.cat([context.extend_tree(IDS[p], PARENTS[p]) for p in parts])
        for node in range(len(IDS)):
            alone = model.start(PROMPT).extend([IDS[at] for at in _path(node)])[0, -1]
            assert (found[node] - alone).abs().max() < 1e-4
        context.keep(_path(7))
        kept = [*PROMPT, *(IDS[at] for at in _path(7))]
        assert context.length == len(kept)
        assert (context.extend([5, 6]) - model.start(kept).extend([5, 6])).abs().max() < 1e-4


def test_a_kept_path_must_be_one() -> None:
    for model in (random_language_model(), scripted([0.5, 0.5])):
        context = model.start([0])
        context.extend_tree([1, 0, 1], [-1, -1, 0])
        for nodes in ([2], [0, 1], [1, 2], [0, 3]):
            with pytest.raises(ValueError, match="no path"):
                context.keep(nodes)
        context.keep([0, 2])
        assert context.length == 3
        context.extend([0])
        context.extend_tree([1], [-1])
        context.keep([])
        assert context.length == 4


def test_a_line_waits_for_the_tree() -> None:
    context = random_language_model().start([1, 2])
    context.extend_tree([3, 4], [-1, -1])
    for act in (lambda: context.extend([5]), lambda: context.rollback(1)):
        with pytest.raises(ValueError, match="keep a path"):
            act()


RECURRENT = {
    "mamba": {"state_size": 4, "num_hidden_layers": 2},
    "rwkv": {"attention_hidden_size": 32},
}


@pytest.mark.parametrize("kind", RECURRENT)
def test_a_model_with_a_state_takes_no_tree_in_one_sequence_and_says_so(kind: str) -> None:
    model = random_language_model(kind, **RECURRENT[kind])
    assert offers(model, TakesTrees) and not model.takes_trees
    config = Speculative(tree_widths="2,1", max_new_tokens=6, shaping=Shaping(temperature=0.0))
    with pytest.raises(ModelError, match="batch_expansion"):
        collect(model, [5, 9], config, draft=model)
    expanded = Speculative(
        tree_widths="2,1",
        max_new_tokens=6,
        shaping=Shaping(temperature=0.0),
        scoring="batch_expansion",
    )
    chain = Speculative(max_new_tokens=6, shaping=Shaping(temperature=0.0))
    trees = collect(model, [5, 9], expanded, draft=model)
    assert trees.token_ids == collect(model, [5, 9], chain, draft=model).token_ids
