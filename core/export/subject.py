"""What an archive's figures show: a run or an evaluation, its settings and its own files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Self

from core.decoding.config import MethodConfig
from core.decoding.trace import Trace
from core.figures.base.labels import settings_caption


@dataclass(frozen=True, slots=True)
class Subject:
    """What the figures show.

    Args:
        caption: its settings in a line.
        settings: all of them.
        files: its own, by their names.
        config: names the figures' files; None where there are several.
        created: the day it was made, ISO 8601; empty where that isn't known.
    """

    caption: str
    settings: Mapping[str, object]
    files: Mapping[str, bytes]
    config: MethodConfig | None = None
    created: str = ""

    @classmethod
    def of_trace(cls, trace: Trace, file: bytes) -> Self:
        """A run and its trace file."""
        settings = {
            "model": trace.model_id,
            "draft": trace.draft_id or None,
            "prompt": trace.rendered_prompt or trace.prompt,
            "text": trace.text,
            "method": trace.config.method,
            "settings": asdict(trace.config),
            "versions": trace.versions,
        }
        files = {"trace.json": file}
        return cls(settings_caption(trace), settings, files, trace.config, trace.created)
