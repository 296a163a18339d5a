"""Random pairs of models and random settings, for the tests that compare many speculative runs."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import cache

import torch

from core import Shaping, Speculative
from core.decoding.shaping.config import PENALTIES, SETTINGS, STATEFUL
from core.decoding.speculative.sources import SOURCES, Drafter
from core.models.scripted import ScriptedModel
from core.models.transformers_model import TransformersModel
from tests.decoding.shaping.shapings import random_settings
from tests.models.builders import random_language_model, random_model, tiny_tokenizer

ARCHITECTURES = ("llama", "qwen2", "gpt2", "mistral", "gemma", "gpt_neox")
# Of any target: its own MTP layers are few models' (test_mtp.py).
WITHOUT_DRAFT = [row.name for row in SOURCES.values() if not row.needs_draft and row.name != "mtp"]
_ENDS: tuple[frozenset[int], ...] = (
    frozenset({0}),
    frozenset(range(5, 300, 40)),
    frozenset(),
)


@cache
def target(kind: str) -> TransformersModel:
    """The same weights for every test."""
    return random_language_model(kind)


@cache
def near_draft(kind: str) -> TransformersModel:
    """The target with noise on its weights: it agrees now and then."""
    model = random_model(kind)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in model.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            weight += 0.25 * weight.std() * noise if weight.dim() > 1 else 0
    return TransformersModel(model, tiny_tokenizer(), model_id=f"near {kind}")


@cache
def other_draft(kind: str) -> TransformersModel:
    """Another random model: it hardly ever agrees."""
    return random_language_model(kind, seed=1)


def pair(kind: str, dice: random.Random) -> tuple[TransformersModel, TransformersModel]:
    """A target and a draft: mostly one that agrees now and then, else itself or a stranger."""
    model = target(kind)
    model.eos_ids = dice.choice(_ENDS)
    kinds = [near_draft(kind), near_draft(kind), near_draft(kind), model, other_draft(kind)]
    return model, dice.choice(kinds)


def random_prompt(dice: random.Random) -> list[int]:
    return [dice.randrange(1, 300) for _ in range(dice.randint(1, 12))]


def random_config(dice: random.Random, *, greedy: bool) -> Speculative:
    """Any settings; greedy ones have temperature 0, with penalties now and then."""

    def sometimes(value, neutral):
        return value if dice.random() < 0.35 else neutral

    longest = dice.randint(1, 24)
    compared = [name for name in PENALTIES if SETTINGS[name].generate]
    drawn = [name for name in SETTINGS if name not in STATEFUL]
    shaping = random_settings(dice, compared if greedy else drawn, 0.35)
    drafter = dice.choice(["model", "model", "model", *WITHOUT_DRAFT])
    config = Speculative(
        max_new_tokens=longest,
        min_new_tokens=dice.choice([0, 0, 1, longest // 2]),
        stop_strings=dice.choice([(), (), ("a", "e")]),
        shaping=Shaping(**shaping | ({"temperature": 0.0} if greedy else {})),
        top_candidates=dice.choice([1, 5, 20]),
        use_cache=dice.random() < 0.85,
        draft_length=dice.randint(1, 7),
        acceptance=dice.choice(["speculative", "speculative", "exact", "typical"]),
        scoring=dice.choice(["multi_query", "multi_query", "batch_expansion"]),
        draft_temperature=sometimes(dice.choice([0.0, 0.7, 1.5]), None),
        draft_threshold=sometimes(round(dice.uniform(0.01, 0.6), 2), 0.0),
        adaptive=dice.random() < 0.3,
        lookup_ngram=dice.randint(1, 3),
        suffix_factor=dice.choice([1.0, 4.0]),
        exit_layer=1,
        seed=dice.randrange(10_000),
    )
    return _drafting_otherwise(config, drafter, dice)


def _drafting_otherwise(config: Speculative, drafter: Drafter, dice: random.Random) -> Speculative:
    """The config with a drafter; now and then a tree in place of a chain, or block verification."""
    if drafter == "lookahead":
        return replace(
            config,
            drafter=drafter,
            draft_length=max(2, config.draft_length),
            adaptive=False,
            lookahead_window=dice.randint(1, 6),
            lookahead_guesses=dice.randint(1, 4),
        )
    config = replace(config, drafter=drafter)
    if config.source.grows_trees and not config.adaptive and dice.random() < 0.4:
        if dice.random() < 0.4 or not config.source.draws:
            return replace(config, tree_nodes=dice.randint(1, 14))
        picks = dice.choice(["top_k", "without_replacement", "with_replacement"])
        widths = dice.choice(["3,2,1", "2,2", "4", "1,2,1", "1"])
        return replace(config, tree_widths=widths, tree_picks=picks)
    if config.acceptance == "speculative" and dice.random() < 0.25:
        return replace(config, acceptance="block")
    return config


def drafting(config: Speculative, drafter: Drafter) -> Speculative:
    """Random settings with another source, which may draft any shape."""
    return replace(config, drafter=drafter, exit_layer=1)


def scripted(
    *rows: list[float],
    eos: bool = False,
    model_id: str = "scripted",
    context_window: int | None = None,
) -> ScriptedModel:
    """A model over a small vocabulary whose row depends on the last token alone.

    Args:
        rows: probabilities after token 0, after token 1, ...; the last one serves all others.
        eos: whether token 0 ends the run.
    """
    tokens = ["a", "b", "c", "d", "e"][: len(rows[0])]
    return ScriptedModel(
        lambda ids: rows[min(ids[-1], len(rows) - 1)],
        tokens=tokens,
        eos="a" if eos else None,
        model_id=model_id,
        context_window=context_window,
    )
