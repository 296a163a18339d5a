"""Start of a run's draft by its row in `sources`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import Any

from ...protocol import LanguageModel
from ..config import Speculative
from ..lookahead.draft import LookaheadDraft, guesses
from ..tree.contexts import start_tree
from ..tree.drafting import TreeDraft
from ..tree.paths import TokenTree
from ..types import DraftRound
from .guesses import guess
from .head import HeadDraft
from .jacobi import JacobiDraft
from .model import ModelDraft
from .other_tokenizer import TranslatedDraft
from .proposal import Draft
from .text import Rule, TextDraft, TextTreeDraft


def start_draft(
    target: LanguageModel,
    draft: LanguageModel | None,
    prompt_ids: Sequence[int],
    config: Speculative,
) -> Draft | TreeDraft:
    """Return the draft of a run.

    Args:
        draft: the draft model, if the source needs one.

    Raises:
        ConfigError, ModelError: the draft or a setting doesn't suit the target.
        PromptError: the prompt doesn't fit into the draft's context window.
    """
    if config.source.looks_ahead:
        return LookaheadDraft(target, prompt_ids, config)
    if config.source.from_rounds:
        return JacobiDraft(target, config)
    if config.source.from_text and config.drafts_tree:
        return TextTreeDraft(_named(config.source.tree), target, config)
    if config.source.from_text:
        return TextDraft(text_rule(config), target, config)
    model = drafting_model(target, draft, config)
    if model is None:
        assert draft is not None
        return TranslatedDraft.start(target, draft, prompt_ids, config)
    if config.drafts_tree:
        return start_tree(target, model, prompt_ids, config)
    kind = HeadDraft if config.source.reads_hidden else ModelDraft
    return kind.start(target, model, prompt_ids, config)


def drafting_model(
    target: LanguageModel, draft: LanguageModel | None, config: Speculative
) -> LanguageModel | None:
    """Return the model whose distributions the source draws from; None for a source without
    distributions, and without the draft that a source needs.

    Raises:
        ConfigError, ModelError: the draft or a setting doesn't suit the target.
    """
    source = config.source
    if not source.draws or (source.needs_draft and draft is None):
        return None
    model: LanguageModel = _named(source.start)(target, draft, config)
    return model


def proposed_again(
    config: Speculative, rounds: Sequence[DraftRound], ids: Sequence[int], length: int
) -> TokenTree:
    """Return the tokens that a source without a model proposes after these rounds and ids."""
    source = config.source
    if source.looks_ahead:
        return guesses(rounds, ids, config, length)
    if source.from_rounds:
        return TokenTree.line(guess(rounds, ids, config, length))
    if config.drafts_tree:
        tree: TokenTree = _named(source.tree)(ids, config, length)
        return tree
    return TokenTree.line(text_rule(config)(ids, config, length))


def text_rule(config: Speculative) -> Rule:
    """Return the rule of a source whose proposals depend on the text alone."""
    rule: Rule = _named(config.source.start)
    return rule


def _named(where: str) -> Any:
    module, _, path = where.partition(":")
    return reduce(getattr, path.split("."), import_module(module))
