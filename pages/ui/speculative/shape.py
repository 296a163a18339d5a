"""Controls of the draft's shape: a chain, or a tree by its widths or its number of nodes."""

from __future__ import annotations

import streamlit as st

from core.decoding.speculative.config import Speculative
from core.decoding.speculative.sources import SOURCES, DraftSource
from core.language import N_, tr
from pages.ui.widgets.controls.control import Number, Read, draw, value
from pages.ui.widgets.controls.options import Menu, Segments

CHAIN, DYNAMIC = "chain", "dynamic"
_OF_A_CHAIN = N_(
    "A chain has one token for each position, and a rejection ends the round. In a tree a sibling "
    "may be accepted in its place, and the target scores more tokens."
)
_OF_WIDTHS = N_("The widths set the depth of the tree, so the draft length does nothing.")
_OF_NODES = N_(
    "The tree has at most this number of tokens, in paths no longer than the draft length."
)


def source_of(read: Read) -> DraftSource:
    """Return the row of the chosen source; a name that is no source's is a draft model's."""
    return SOURCES.get(read("draft"), SOURCES["model"])


def _has_shapes(read: Read) -> bool:
    return source_of(read).grows_trees


def _drafts_tree(read: Read) -> bool:
    return bool(read("tree") != CHAIN and _has_shapes(read))


def drafts_chain(read: Read) -> bool:
    return not (_drafts_tree(read) or source_of(read).looks_ahead)


def _is_static(read: Read) -> bool:
    # Without probabilities of a draft, the text's most frequent continuations make the tree.
    return _drafts_tree(read) and bool(read("tree") != DYNAMIC) and source_of(read).draws


def _is_dynamic(read: Read) -> bool:
    return _drafts_tree(read) and not _is_static(read)


def shape_of(config: Speculative) -> str:
    """Return the value of the menu of shapes that describes a run."""
    return DYNAMIC if config.tree_nodes else config.tree_widths.replace(",", ".") or CHAIN


def with_shape(read: Read) -> Read:
    """Return `read` with the shape that the source drafts: some sources draft no static tree."""
    return lambda key: DYNAMIC if key == "tree" and _is_dynamic(read) else read(key)


def uses_length(read: Read) -> bool:
    """Return whether the draft length has an effect: the widths of a tree take its place."""
    return not _is_static(read)


def shape_words(read: Read) -> str:
    """Return what the shape of the draft changes; empty for a source with one shape."""
    if not _has_shapes(read):
        return ""
    if not _drafts_tree(read):
        return _OF_A_CHAIN
    return _OF_WIDTHS if _is_static(read) else _OF_NODES


def draw_shape() -> None:
    """Draw the shape, what it changes, and its own controls."""
    if words := shape_words(value):
        draw("tree")
        st.caption(tr(words))
    draw(*_own_keys(value))


def _own_keys(read: Read) -> list[str]:
    keys = ["tree_nodes"] if _is_dynamic(read) else []
    keys += ["tree_picks"] if _is_static(read) else []
    return [*keys, *(["adaptive"] if drafts_chain(read) else [])]


SHAPE_ROWS = (
    Menu("tree", N_("Shape of the draft"), CHAIN,
        {CHAIN: N_("chain"), "2.1.1": N_("tree 2,1,1"), "3.2.1": N_("tree 3,2,1"),
         "4.2.2": N_("tree 4,2,2"), DYNAMIC: N_("dynamic tree")},
        field="tree_widths", acts=_has_shapes, free=lambda: True,
        to_field=lambda chosen: "" if chosen in (CHAIN, DYNAMIC) else chosen.replace(".", ","),
        from_field=lambda widths: widths.replace(",", ".") or None,
        help=N_("A tree drafts several candidates for a position, which the target scores in one "
        "forward. Type the widths of its levels: 3,2,1 drafts 3 tokens, 2 after each, 1 after "
        "each of these. A dynamic tree has the paths that the draft finds likeliest.")),
    Number("tree_nodes", N_("Nodes of the tree"), 12, 1, 64, field="tree_nodes", acts=_is_dynamic),
    Segments("tree_picks", N_("Candidates"), "top_k",
        {"top_k": N_("Likeliest"), "without_replacement": N_("Drawn"),
         "with_replacement": N_("Drawn with replacement")},
        field="tree_picks", acts=_is_static,
        help=N_("The draft's likeliest tokens, or draws from its distribution.")),
)  # fmt: skip
