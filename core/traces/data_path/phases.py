"""Phases of a run, by the functions that start them; inner calls belong to the same phase."""

from __future__ import annotations

from .types import PathPhase

# File (relative to the project) and name of each function. A test checks that it exists.
BEGINS: dict[tuple[str, str], PathPhase] = {
    ("core/models/registry.py", "load_model"): "load",
    ("core/cli/commands/decode.py", "request_of"): "request",
    ("core/server/api/routes.py", "Routes.read"): "request",
    ("core/models/text/tokenizing.py", "Tokenizing.encode_chat"): "chat",
    ("core/decoding/requirements.py", "encode_prompt"): "ids",
    ("core/decoding/decode.py", "collect"): "loop",
    ("core/decoding/loop/run.py", "_timed"): "loop",
    ("core/decoding/loop/run.py", "_trace"): "answer",
    ("core/decoding/record/steps.py", "emitted_tokens"): "finish",
    ("core/decoding/beam/method.py", "_outcome"): "finish",
}
# Locations of some of them in older recordings.
BEGAN = {
    ("core/decoding/method.py", "emitted_tokens"),
    ("core/decoding/decode.py", "encode_prompt"),
    *(
        (f"core/decoding/{file}.py", name)
        for file in ("loop/record_run", "decode")
        for name in ("_timed", "_trace")
    ),
}
