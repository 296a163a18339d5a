"""Conversion of a trace to plain JSON values and back; `trace_from_dict(trace_to_dict(t)) == t`.

The layout follows the classes in `record` and in the methods' `types`. Untrusted files are read by
`core.traces.read_trace`, which also checks that their parts are consistent.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ..language import N_, Message
from .config import MethodConfig
from .errors import TraceError
from .methods import METHODS, config_from_dict, config_to_dict
from .record.layout import Codec, Codecs, Kinds, RecordLayout, Rules
from .record.notes import Note, read_note, write_note
from .record.steps import MethodRecord, PromptStep, Stage, Step
from .record.trace import Trace
from .shaping.config import CONTRASTS, STATEFUL, WATERMARKS
from .validation import brief

CODECS: Codecs = {
    MethodConfig: Codec(config_to_dict, config_from_dict),
    Note: Codec(write_note, read_note),
}
KINDS: Kinds = {
    Step: (PromptStep, *dict.fromkeys(method.step for method in METHODS)),
    MethodRecord: [method.record for method in METHODS if method.record is not MethodRecord],
}


def _numbers_are_its_own(stage: Stage) -> None:
    numbers = {"state": STATEFUL, "mark": WATERMARKS, "second": CONTRASTS}
    for name, stages in numbers.items():
        if getattr(stage, name) is not None and stage.name not in stages:
            raise ValueError(
                Message("a stage has a {name} that is no number of its setting", name=name)
            )


# Rules of trusted files too: code that reads a stage's numbers looks its setting up.
RECORD_RULES: Rules = {Stage: (_numbers_are_its_own,)}


@cache
def _layout() -> RecordLayout[Trace]:
    return RecordLayout(Trace, CODECS, RECORD_RULES, KINDS)


def trace_to_dict(trace: Trace) -> dict[str, Any]:
    """Return plain dicts, lists, strings and numbers, ready for `json.dump`."""
    return _layout().plain(trace)


def trace_from_dict(data: Any) -> Trace:
    """Return the trace from the values of `trace_to_dict`.

    Raises:
        TraceError: the values are no trace, have another version, or a field is missing or wrong.
    """
    require_header(data, Trace)
    return _layout().read(data)


def require_header(data: Any, record: Any) -> None:
    """Raise TraceError unless the file declares this record and its version."""
    if not isinstance(data, dict) or data.get("schema") != record.schema:
        raise TraceError(N_("This JSON is no trace file of Decoding Explorer: its schema differs."))
    version = data.get("version")
    if type(version) is not int or version != record.version:
        raise TraceError(
            Message(
                "The trace file has version {given}, this program reads version {version}.",
                given=brief(version),
                version=record.version,
            )
        )
