"""Subject of an archive's figures: a run or an evaluation, its settings and its own files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Self

from ..decoding.config import MethodConfig
from ..decoding.reading.types import is_reading
from ..decoding.record.trace import Trace
from ..decoding.version import VERSION
from ..figures.base.labels import plain_name, settings_caption
from ..language import use
from ..language.catalogue import ENGLISH


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of the figures.

    Args:
        caption: the settings on one line.
        settings: all settings.
        files: the subject's own files, by name.
        config: settings for the names of the figures' files; None if there are several configs.
        created: date of creation, ISO 8601; empty if unknown.
        models: models and versions, for a citation; `prompt` likewise.
        cited: the caption in English: BibTeX has no Japanese or Korean characters.
    """

    caption: str
    settings: Mapping[str, object]
    files: Mapping[str, bytes]
    config: MethodConfig | None = None
    created: str = ""
    models: str = ""
    prompt: str = ""
    cited: str = ""

    @classmethod
    def of_trace(cls, trace: Trace, file: bytes) -> Self:
        """Return the subject for a run and its trace file."""
        settings = {
            "app": VERSION,
            "created": trace.created or None,
            "model": trace.model_id,
            "model_revision": trace.model_revision or None,
            "dtype": trace.dtype or None,
            "draft": trace.draft_id or None,
            "draft_revision": trace.draft_revision or None,
            "draft_dtype": trace.draft_dtype or None,
            "prompt": trace.rendered_prompt or trace.prompt,
            "text": trace.text,
            "method": trace.config.method,
            "settings": asdict(trace.config),
            "versions": trace.versions,
        }
        return cls(
            settings_caption(trace),
            settings,
            {"trace.json": file},
            None if is_reading(trace) else trace.config,
            trace.created,
            "; ".join(_versions(trace)),
            trace.rendered_prompt or trace.prompt,
            in_english(partial(settings_caption, trace)),
        )


def pair_subject(left: Trace, right: Trace, file: bytes) -> Subject:
    """Return the subject for two runs and their file."""
    both = [Subject.of_trace(run, b"") for run in (left, right)]
    captions, cited = (
        "\n".join(f"{name}: {text}" for name, text in zip("AB", texts, strict=True))
        for texts in ([one.caption for one in both], [one.cited for one in both])
    )
    return Subject(
        captions,
        {"A": both[0].settings, "B": both[1].settings},
        {"comparison.json": file},
        created=both[0].created,
        models="; ".join(dict.fromkeys(one.models for one in both)),
        prompt=both[0].prompt,
        cited=cited,
    )


def in_english(words: Callable[[], str]) -> str:
    """Return a text in English, whatever the reader's language is."""
    with use(ENGLISH):
        return words()


def _versions(trace: Trace) -> Iterator[str]:
    """Yield each model with its revision and dtype, and the libraries' versions."""
    named = [
        (trace.model_id, trace.model_revision, trace.dtype),
        (trace.draft_id, trace.draft_revision, trace.draft_dtype),
    ]
    for name, revision, dtype in named:
        if name:
            more = [f"revision {plain_name(revision, 80)}" if revision else "", dtype]
            yield ", ".join([plain_name(name, 80), *filter(None, more)])
    yield from (f"{name} {version}" for name, version in trace.versions.items())
