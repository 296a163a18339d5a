"""Contrastive decoding of a target and a draft model on the Decode page."""

from __future__ import annotations

from core.decoding.contrastive_decoding.config import ContrastiveDecoding
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import SETTINGS
from core.language import N_
from core.models.places import DEFAULT_DRAFT
from pages.ui.decode.methods.strategy import Strategy
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.run.shared import SEED
from pages.ui.widgets.controls.control import Number, Read, declare, value
from pages.ui.widgets.controls.options import Menu

DRAFT = "contrast_draft"
_NAME = "contrastive_decoding"


def _is_chosen(read: Read) -> bool:
    return bool(read("method") == _NAME)


def _drafts() -> dict[str, str]:
    return {name: name for name in dict.fromkeys([DEFAULT_DRAFT, *models.options()])}


ROWS = (
    *declare(
        Number("contrastive_beta", N_("Weight"), 0.5, 0.0, 100.0, 0.1, short=True,
            field="shaping.contrastive_beta", acts=_is_chosen,
            help=SETTINGS["contrastive_beta"].help),
        Number("contrastive_alpha", N_("Share"), 0.1, 0.01, 1.0, 0.05, short=True,
            field="shaping.contrastive_alpha",
            acts=lambda read: _is_chosen(read) and bool(read("contrastive_beta")),
            help=SETTINGS["contrastive_alpha"].help),
    ),
)  # fmt: skip
(_DRAFT,) = declare(
    Menu(DRAFT, N_("Draft"), DEFAULT_DRAFT, _drafts, free=models.free_choice, width=220,
        help=N_("The weaker model: what it makes likely too counts less.")),
)  # fmt: skip


def draft(read: Read = value) -> str:
    """Return the draft model of the chosen method; empty if it has none."""
    return (str(read(DRAFT)).strip() or DEFAULT_DRAFT) if _is_chosen(read) else ""


def draft_of(trace: Trace) -> dict[str, str]:
    """Return the control value of a run's draft model, by key, if it can hold it."""
    name = trace.draft_id
    return {DRAFT: name} if name and _DRAFT.takes(name) else {}


STRATEGY = Strategy(
    N_("Contrastive decoding"),
    ContrastiveDecoding,
    (*ROWS, SEED),
    beside=("contrastive_beta", "contrastive_alpha", DRAFT),
    offered=lambda: not models.is_on_server(shared.model()),
    reshapes=False,
)
