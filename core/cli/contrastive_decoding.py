"""Contrastive decoding on the command line: the name of its draft model."""

from __future__ import annotations

from argparse import Namespace

from ..models.places import DEFAULT_DRAFT
from .method import MethodOptions


def _draft(args: Namespace) -> str:
    """Return the draft model's name, the embedded one by default."""
    return getattr(args, "draft", None) or DEFAULT_DRAFT


OPTIONS = MethodOptions(by_hand=["draft"], draft=_draft)
