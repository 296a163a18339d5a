"""Drafts by the target itself: its first layers, and a head on its hidden states."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from transformers import GenerationConfig
from transformers.generation.candidate_generator import EarlyExitCandidateGenerator

from core import ConfigError, ModelError, Shaping, Speculative, check, collect, load_model
from core.decoding.speculative.measurement.baseline import target_only
from core.models.heads.draft_head import DraftHead
from core.models.heads.layer import HeadLayer, HeadShape
from core.models.scripted import ScriptedContext, ScriptedModel
from core.models.transformers_model import TransformersModel
from tests.decoding.speculative.speculations import (
    drafting,
    near_draft,
    random_config,
    random_prompt,
    scripted,
    target,
)
from tests.decoding.speculative.test_exact import (
    DRAFT_OF_TWO,
    TARGET_OF_TWO,
    TOKENS,
    distance,
    enumerate_runs,
    exact_distribution,
)
from tests.models.builders import KINDS, random_language_model

GREEDY = Shaping(temperature=0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_layers_give_what_transformers_early_exit_gives(kind: str) -> None:
    model = random_language_model(kind)
    first = model.layers.first(1)
    ids = random_prompt(random.Random(kind))
    config = model.hf_model.base_model.config
    count, config.num_hidden_layers = config.num_hidden_layers, 1
    layers = getattr(config, "layer_types", None)
    try:
        if layers:
            config.layer_types = layers[:1]
        with torch.inference_mode():
            name, body = next(
                (name, part)
                for name, part in model.hf_model.base_model.named_children()
                if isinstance(part, torch.nn.ModuleList)
            )
            setattr(model.hf_model.base_model, name, body[:1])
            expected = model.hf_model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
    finally:
        setattr(model.hf_model.base_model, name, body)
        config.num_hidden_layers = count
        if layers:
            config.layer_types = layers
    torch.testing.assert_close(first.start(ids).logits[0], expected.float(), rtol=0, atol=2e-5)
    assert model.layers.first(1) is first
    whole = model.hf_model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1]
    assert not torch.allclose(whole, expected, atol=1e-3)


def test_early_exit_drafts_what_transformers_does() -> None:
    model, accepted = load_model("embedded:target"), 0
    ids = model.encode("Once upon a time, there was a little")
    config = Speculative(max_new_tokens=30, drafter="early_exit", exit_layer=4, shaping=GREEDY)
    trace = collect(model, ids, config)
    for step in trace.rounds:
        held = torch.tensor([[*ids, *trace.token_ids[: step.start]]])
        settings = GenerationConfig(
            assistant_early_exit=4,
            num_assistant_tokens=step.draft_length,
            num_assistant_tokens_schedule="constant",
            assistant_confidence_threshold=0.0,
            max_length=500,
            min_length=0,
            eos_token_id=sorted(model.eos_ids),
        )
        model.hf_model.generation_config.num_assistant_tokens = step.draft_length
        model.hf_model.generation_config.assistant_confidence_threshold = 0.0
        if step.draft_length:
            generator = EarlyExitCandidateGenerator(held, model.hf_model, settings, {})
            candidates = generator.get_candidates(held)[0][0].tolist()
            assert [token.token_id for token in step.drafted] == candidates[held.shape[1] :]
        accepted += len(step.accepted)
    assert accepted > 5


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma3_text"])
def test_every_run_of_the_first_layers_is_proved(kind: str) -> None:
    model = target(kind)
    for case in range(4):
        dice = random.Random(f"early {kind} {case}")
        config = drafting(random_config(dice, greedy=case == 0), "early_exit")
        trace = collect(model, random_prompt(dice), config)
        assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


def test_a_layer_that_the_target_lacks_is_refused() -> None:
    config = Speculative(drafter="early_exit", exit_layer=2)
    with pytest.raises(ConfigError, match="must lie below the target's 2 layers, got 2"):
        collect(target("llama"), [1], config)
    with pytest.raises(ModelError, match="can't be run apart"):
        collect(scripted(*TARGET_OF_TWO), [0], config)


class _OfTwoLayers(ScriptedModel):
    """A scripted target with a scripted first layer."""

    @property
    def layers(self) -> _OfTwoLayers:
        return self

    count, ties_embeddings = 3, False

    def first(self, _: int) -> ScriptedModel:
        return scripted(*DRAFT_OF_TWO)


def _of_two_layers() -> _OfTwoLayers:
    return _OfTwoLayers(lambda ids: TARGET_OF_TWO[ids[-1]], tokens=["a", "b"], eos=None)


SHAPES = {
    "a chain": {},
    "two then one": {"tree_widths": "2,1"},
    "drawn": {"tree_widths": "2,1", "tree_picks": "without_replacement"},
    "drawn with replacement": {"tree_widths": "2", "tree_picks": "with_replacement"},
    "dynamic": {"tree_nodes": 3},
    "expanded": {"tree_nodes": 3, "scoring": "batch_expansion"},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_early_exit_loses_nothing(shape, monkeypatch: pytest.MonkeyPatch) -> None:
    config = Speculative(
        draft_length=2,
        max_new_tokens=TOKENS,
        drafter="early_exit",
        exit_layer=1,
        **SHAPES[shape],
    )
    emitted = enumerate_runs(monkeypatch, _of_two_layers(), None, config)
    assert distance(emitted, exact_distribution(TARGET_OF_TWO, TOKENS)) < 1e-5


class _State(ScriptedContext):
    """Another row where the hidden state before the last token isn't known."""

    known, read, along = 0, 0, True

    def extend(self, ids: Sequence[int]) -> torch.Tensor:
        rows = []
        for token_id in ids:
            if self.along:
                self.known = self.length + 1
            if self.read == self.length and self.known >= self.length:
                self.read = self.length + 1
            row = super().extend([token_id])
            rows.append(row if self.read == self.length else row.flip(-1))
        return torch.cat(rows, dim=1)

    def extend_tree(self, ids, parents, hidden=None) -> torch.Tensor:
        """Nodes are read with the head's own hidden states."""
        return super().extend_tree(ids, parents, hidden).flip(-1)

    def see(self, hidden: torch.Tensor) -> None:
        self.known += len(hidden)

    def forget(self, length: int) -> None:
        self.known = min(self.known, length)

    def rollback(self, n: int) -> None:
        super().rollback(n)
        self.read = min(self.read, self.length)

    def branch(self, rows: Sequence[int]) -> _State:
        branched = _State(self._logits_after, self._limits)
        branched._ids = [list(self._ids[row]) for row in rows]
        branched.known = self.length - 1 if self.along else self.known
        branched.read, branched.along = self.read, False
        return branched


class _Head(ScriptedModel):
    target_revision = ""

    def start(self, prompt_ids: Sequence[int], *, use_cache: bool = True) -> _State:  # noqa: ARG002
        state = _State(self.logits_after, self._limits)
        state._ids = [[]]
        state.extend(prompt_ids)
        return state


def test_a_head_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second drafted token reads the head's own state: its distribution is another one."""
    head = _Head(lambda ids: DRAFT_OF_TWO[ids[-1]], tokens=["a", "b"], eos=None)
    config = Speculative(draft_length=2, max_new_tokens=TOKENS, drafter="head")
    own = 0
    for seed in range(20):
        trace = collect(scripted(*TARGET_OF_TWO), [0], replace(config, seed=seed), draft=head)
        first, second = trace.rounds[0].drafted
        assert first.draft_prob == pytest.approx(DRAFT_OF_TWO[0][first.token_id])
        row = DRAFT_OF_TWO[first.token_id]
        assert second.draft_prob == pytest.approx(row[1 - second.token_id])
        own += row[0] != row[1]
    assert own
    for shape in SHAPES.values():
        emitted = enumerate_runs(
            monkeypatch, scripted(*TARGET_OF_TWO), head, replace(config, **shape)
        )
        assert distance(emitted, exact_distribution(TARGET_OF_TWO, TOKENS)) < 1e-5


class _WithLayers(ScriptedModel):
    """A scripted target with two layers that draft for it, after a text of two tokens or more."""

    def mtp_head(self) -> _Head:
        head = _Head(lambda ids: DRAFT_OF_TWO[ids[-1]], tokens=["a", "b"], eos=None)
        head.reach = lambda length: 2 if length > 1 else 0
        return head


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("length", [2, 3])
def test_the_targets_own_layers_lose_nothing(shape, length, monkeypatch) -> None:
    """The first round drafts nothing; a draft that may be longer has two tokens."""
    config = Speculative(draft_length=length, max_new_tokens=TOKENS, drafter="mtp", **SHAPES[shape])
    target = _WithLayers(lambda ids: TARGET_OF_TWO[ids[-1]], tokens=["a", "b"], eos=None)
    emitted = enumerate_runs(monkeypatch, target, None, config)
    assert distance(emitted, exact_distribution(TARGET_OF_TWO, TOKENS)) < 1e-5
    assert collect(target, [0, 1], config).rounds[0].drafted


def test_a_tree_of_a_head_is_verified_in_one_forward_and_reads_again_what_was_accepted() -> None:
    """Against a row for each node; the cache of the next round holds no node of the tree."""
    model = target("llama")
    head, ids = _random_head(model), [5, 9, 2, 77, 31]
    context = head.start(ids).branch([0])
    nodes, parents = [7, 8, 9, 11], [-1, -1, 0, 1]
    first = context.extend_tree(nodes[:2], parents[:2])
    logits = torch.cat([first, context.extend_tree(nodes[2:], parents[2:])])
    for path, row in (([7], 0), ([8], 1), ([7, 9], 2), ([8, 11], 3)):
        alone = head.start(ids).branch([0]).extend(path)[0, -1]
        torch.testing.assert_close(logits[row], alone, rtol=0, atol=2e-5)
    assert context.length == len(ids) + 4
    context.keep([])
    assert context.length == len(ids)
    with pytest.raises(ValueError, match="keeps no node"):
        context.keep([0])
    context.extend_tree([7], [-1])
    with pytest.raises(ValueError, match="one depth"):
        context.extend_tree([8, 9], [-1, 0])


def _random_head(model: TransformersModel) -> DraftHead:
    torch.manual_seed(3)
    shape = HeadShape(model.hf_model.config.hidden_size, 48, 4, 2, 10_000.0, 1e-6)
    return DraftHead(model, HeadLayer(shape), model_id="a head", revision="1")


@pytest.mark.parametrize("case", range(6))
def test_every_run_of_a_head_is_proved_and_greedy_is_greedy(case: int) -> None:
    model = target("llama")
    model.eos_ids = frozenset()
    dice, head = random.Random(f"head {case}"), _random_head(model)
    config = drafting(random_config(dice, greedy=case % 2 == 0), "head")
    prompt = random_prompt(dice)
    trace = collect(model, prompt, config, draft=head)
    assert [outcome for outcome in check(trace, model, head) if not outcome.passed] == []
    if config.shaping.temperature == 0:
        assert trace.token_ids == collect(model, prompt, target_only(config)).token_ids


def test_a_head_reads_the_targets_hidden_states_and_then_its_own() -> None:
    model = target("llama")
    head, ids = _random_head(model), [5, 9, 2, 77, 31]
    reading = head.start(ids[:3])
    ahead = reading.branch([0])
    first, second = ahead.extend([77])[0, -1], ahead.extend([31])[0, -1]
    assert (ahead.read, ahead.length) == (3, 5)
    # With the target's hidden states the same tokens give other logits.
    reading.extend([77, 31])
    assert not torch.allclose(second, reading.logits[0], atol=1e-4)
    assert not torch.allclose(first, head.start(ids[:4]).logits[0], atol=1e-4)
    # Read again with the target's, they are as in one pass.
    ahead.rollback(2)
    states = model.start(ids[:1])
    states.rollback(1)
    ahead.see(states.extend_hidden(ids)[0][2:])
    ahead.extend([77, 31])
    torch.testing.assert_close(ahead.logits, head.start(ids).logits, rtol=0, atol=2e-5)


def test_a_head_of_another_target_and_a_model_that_is_none_are_refused() -> None:
    config = Speculative(drafter="head")
    with pytest.raises(ModelError, match="is no draft head: set drafter to 'model'"):
        collect(target("llama"), [1], config, draft=near_draft("llama"))
    model = TransformersModel(
        target("llama").hf_model, target("llama").tokenizer, model_id="other", revision="2"
    )
    with pytest.raises(ModelError, match="reads the hidden states of another model than other"):
        collect(model, [1], config, draft=_random_head(target("llama")))
