"""The face that everything builds on; names are resolved at first use, so that reading a stored
trace loads neither torch nor transformers."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from core.decoding.beam.replay import Reranking as Reranking
    from core.decoding.beam.replay import follow as follow
    from core.decoding.beam.replay import guess_parents as guess_parents
    from core.decoding.beam.replay import lineage as lineage
    from core.decoding.beam.replay import rerank as rerank
    from core.decoding.check import check as check
    from core.decoding.config import BeamSearch as BeamSearch
    from core.decoding.config import Greedy as Greedy
    from core.decoding.config import Reasoning as Reasoning
    from core.decoding.config import Sampling as Sampling
    from core.decoding.config import Shaping as Shaping
    from core.decoding.config import Speculative as Speculative
    from core.decoding.decode import collect as collect
    from core.decoding.decode import decode as decode
    from core.decoding.errors import ConfigError as ConfigError
    from core.decoding.errors import DecodingError as DecodingError
    from core.decoding.errors import ModelError as ModelError
    from core.decoding.errors import PromptError as PromptError
    from core.decoding.errors import TraceError as TraceError
    from core.decoding.trace import BeamCandidate as BeamCandidate
    from core.decoding.trace import BeamStep as BeamStep
    from core.decoding.trace import Candidate as Candidate
    from core.decoding.trace import Check as Check
    from core.decoding.trace import DraftRound as DraftRound
    from core.decoding.trace import DraftToken as DraftToken
    from core.decoding.trace import Draw as Draw
    from core.decoding.trace import ExtraToken as ExtraToken
    from core.decoding.trace import Hypothesis as Hypothesis
    from core.decoding.trace import PromptStep as PromptStep
    from core.decoding.trace import Stage as Stage
    from core.decoding.trace import TokenStep as TokenStep
    from core.decoding.trace import Trace as Trace
    from core.models.registry import load_model as load_model
    from core.traces.file import read_trace as read_trace

_HOMES = {
    "core.decoding.beam.replay": ("Reranking", "follow", "guess_parents", "lineage", "rerank"),
    "core.decoding.check": ("check",),
    "core.decoding.config": (
        "BeamSearch",
        "Greedy",
        "Reasoning",
        "Sampling",
        "Shaping",
        "Speculative",
    ),
    "core.decoding.errors": (
        "ConfigError",
        "DecodingError",
        "ModelError",
        "PromptError",
        "TraceError",
    ),
    "core.decoding.decode": ("collect", "decode"),
    "core.decoding.trace": (
        "BeamCandidate",
        "BeamStep",
        "Candidate",
        "Check",
        "DraftRound",
        "DraftToken",
        "Draw",
        "ExtraToken",
        "Hypothesis",
        "PromptStep",
        "Stage",
        "TokenStep",
        "Trace",
    ),
    "core.models.registry": ("load_model",),
    "core.traces.file": ("read_trace",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'core' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
