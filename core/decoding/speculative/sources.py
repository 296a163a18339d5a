"""Declaration of the draft sources: one row each, torch-free.

The config's choices, the page's menu, the command line, the checks and the figures read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Drafter: TypeAlias = Literal["model", "prompt_lookup"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSource:
    """One source of drafted tokens.

    Args:
        name: value of the config's `drafter`.
        label: its name in a menu.
        words: description of its proposals, for help and sentences.
        start: "module:function" with `(target, draft, prompt_ids, config)`, which returns a
            `Draft`; for a text source the rule `(ids, config, length)`, which returns the tokens
            that follow the ids.
        needs_draft: whether the user names a draft model.
        from_text: whether the proposals depend on the text alone: they have no distribution of
            their own, and the checks find them again without a model.
        settings: fields of `Speculative` that act with this source only.
    """

    name: Drafter
    label: str
    words: str
    start: str
    needs_draft: bool = False
    from_text: bool = False
    settings: frozenset[str] = frozenset()

    @property
    def draws(self) -> bool:
        """True if each proposal is drawn from a distribution that is recorded."""
        return not self.from_text


_ROWS = (
    DraftSource(
        name="model",
        label="a second model",
        words="a smaller model runs ahead of the target",
        start=f"{__package__}.drafters.model:ModelDraft.start",
        needs_draft=True,
        settings=frozenset({"draft_temperature", "draft_threshold"}),
    ),
    DraftSource(
        name="prompt_lookup",
        label="prompt lookup",
        words="repeats the tokens that followed an earlier occurrence of the last tokens",
        start=f"{__package__}.drafters.prompt_lookup:follow",
        from_text=True,
        settings=frozenset({"lookup_ngram"}),
    ),
)
SOURCES: dict[Drafter, DraftSource] = {row.name: row for row in _ROWS}
