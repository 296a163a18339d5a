"""Start of a run's draft by its row in `sources`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from importlib import import_module
from typing import Any

from ...protocol import LanguageModel
from ..config import Speculative
from .proposal import Draft
from .text import Rule, TextDraft


def start_draft(
    target: LanguageModel,
    draft: LanguageModel | None,
    prompt_ids: Sequence[int],
    config: Speculative,
) -> Draft:
    """Return the draft of a run.

    Args:
        draft: the draft model, if the source needs one.

    Raises:
        ModelError: the draft doesn't suit the target.
        PromptError: the prompt doesn't fit into the draft's context window.
    """
    source = config.source
    if source.from_text:
        return TextDraft(text_rule(config), target, config)
    started: Draft = _named(source.start)(target, draft, prompt_ids, config)
    return started


def text_rule(config: Speculative) -> Rule:
    """Return the rule of a source whose proposals depend on the text alone."""
    rule: Rule = _named(config.source.start)
    return rule


def _named(where: str) -> Any:
    module, _, path = where.partition(":")
    return reduce(getattr, path.split("."), import_module(module))
