"""Declaration of the draft sources: one row each, torch-free.

The config's choices, the page's menu, the command line, the checks and the figures read it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ...language import N_

Drafter: TypeAlias = Literal[
    "model",
    "head",
    "mtp",
    "early_exit",
    "prompt_lookup",
    "suffix",
    "ngram_cache",
    "jacobi",
    "lookahead",
    "other_tokenizer",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSource:
    """One source of drafted tokens.

    Args:
        name: value of the config's `drafter`.
        label: its name in a menu.
        words: description of its proposals, for help and sentences.
        start: "module:function" with `(target, draft, config)`, which returns the model that the
            proposals are drawn from; for a text source the rule `(ids, config, length)`, which
            returns the tokens that follow the ids.
        tree: "module:function" of a text source's tree, `(ids, config, length)`; empty if its
            drafts are chains.
        needs_draft: whether the user names a draft model.
        draws: whether each proposal is drawn from a distribution that is recorded; otherwise it
            has probability 1.
        from_rounds: whether the proposals depend on the rounds so far: the rule is
            `(rounds, ids, config, length)`.
        looks_ahead: whether the target's forward also reads a window of guesses; the drafts are
            always trees.
        reads_hidden: whether the draft reads the target's hidden states; it then reads accepted
            tokens again.
        settings: fields of `Speculative` that act with this source only.
    """

    name: Drafter
    label: str
    words: str
    start: str
    tree: str = ""
    needs_draft: bool = False
    draws: bool = True
    from_rounds: bool = False
    looks_ahead: bool = False
    reads_hidden: bool = False
    settings: frozenset[str] = frozenset()

    @property
    def from_text(self) -> bool:
        """True if the proposals depend on the text alone: the checks find them without a model."""
        return not self.draws and not self.needs_draft

    @property
    def grows_trees(self) -> bool:
        """True if the draft may be a tree of the likeliest tokens."""
        return self.draws or bool(self.tree)


# Settings of a draft with a distribution.
_DRAWN = frozenset({"draft_temperature", "draft_threshold"})
_ROWS = (
    DraftSource(
        name="model",
        label=N_("a second model"),
        words=N_("a smaller model runs ahead of the target"),
        start=f"{__package__}.drafters.model:same_vocabulary",
        needs_draft=True,
        settings=_DRAWN,
    ),
    DraftSource(
        name="head",
        label=N_("draft head"),
        words=N_(
            "one trained layer over the target's last hidden state and the next token (MTP, EAGLE)"
        ),
        start=f"{__package__}.drafters.head:require_head",
        needs_draft=True,
        reads_hidden=True,
        settings=_DRAWN,
    ),
    DraftSource(
        name="mtp",
        label=N_("own MTP layers"),
        words=N_(
            "the target's own multi-token-prediction layers, one for each position (DeepSeek-V3, "
            "GLM-4.5; transformers' use_mtp)"
        ),
        start=f"{__package__}.drafters.mtp:own_head",
        reads_hidden=True,
        settings=_DRAWN,
    ),
    DraftSource(
        name="early_exit",
        label=N_("early exit"),
        words=N_("the target's first layers with its last norm and head (LayerSkip)"),
        start=f"{__package__}.drafters.early_exit:first_layers",
        settings=_DRAWN | {"exit_layer"},
    ),
    DraftSource(
        name="prompt_lookup",
        label=N_("prompt lookup"),
        words=N_("repeats the tokens that followed an earlier occurrence of the last tokens"),
        start=f"{__package__}.drafters.prompt_lookup:follow",
        tree=f"{__package__}.drafters.prompt_lookup:branches",
        draws=False,
        settings=frozenset({"lookup_ngram", "lookup_min"}),
    ),
    DraftSource(
        name="suffix",
        label=N_("suffixes of the text"),
        words=N_("the likeliest continuation of the text's own endings (vLLM's suffix decoding)"),
        start=f"{__package__}.drafters.suffix:follow",
        tree=f"{__package__}.drafters.suffix:branches",
        draws=False,
        settings=frozenset({"suffix_factor", "suffix_min_prob"}),
    ),
    DraftSource(
        name="ngram_cache",
        label=N_("n-gram counts"),
        words=N_("the most frequent token after the last 4 to 1 tokens (llama.cpp's lookup)"),
        start=f"{__package__}.drafters.ngram_cache:follow",
        tree=f"{__package__}.drafters.ngram_cache:branches",
        draws=False,
    ),
    DraftSource(
        name="jacobi",
        label=N_("Jacobi iterations"),
        words=N_(
            "the target's own predictions of the last round (lookahead decoding's iterations)"
        ),
        start=f"{__package__}.drafters.guesses:guess",
        draws=False,
        from_rounds=True,
    ),
    DraftSource(
        name="lookahead",
        label=N_("lookahead"),
        words=N_("n-grams that a window of Jacobi iterations gathers in the target's own forwards"),
        start=f"{__package__}.lookahead.draft:guesses",
        draws=False,
        from_rounds=True,
        looks_ahead=True,
        settings=frozenset({"lookahead_window", "lookahead_guesses"}),
    ),
    DraftSource(
        name="other_tokenizer",
        label=N_("other tokenizer"),
        words=N_(
            "a second model with other tokens, translated through text (transformers' universal "
            "assisted generation)"
        ),
        start=f"{__package__}.drafters.other_tokenizer:TranslatedDraft.start",
        needs_draft=True,
        draws=False,
    ),
)
SOURCES: dict[Drafter, DraftSource] = {row.name: row for row in _ROWS}
