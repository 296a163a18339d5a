"""Parts of a run, by the functions that begin them; their calls belong to the same part."""

from __future__ import annotations

from core.traces.data_path.types import PathPhase

# A function's file, relative to the project, and its name. A test holds that each is there.
BEGINS: dict[tuple[str, str], PathPhase] = {
    ("core/models/registry.py", "load_model"): "load",
    ("core/cli/decode.py", "request_of"): "request",
    ("core/server/api/routes.py", "Routes.read"): "request",
    ("core/models/text/tokenizing.py", "Tokenizing.encode_chat"): "chat",
    ("core/decoding/requirements.py", "encode_prompt"): "ids",
    ("core/decoding/decode.py", "collect"): "loop",
    ("core/decoding/loop/run.py", "_timed"): "loop",
    ("core/decoding/loop/run.py", "_trace"): "answer",
    ("core/decoding/record/steps.py", "emitted_tokens"): "finish",
    ("core/decoding/beam/method.py", "_outcome"): "finish",
}
# Where older recordings have some of them.
BEGAN = {
    ("core/decoding/method.py", "emitted_tokens"),
    ("core/decoding/decode.py", "encode_prompt"),
    *(
        (f"core/decoding/{file}.py", name)
        for file in ("loop/record_run", "decode")
        for name in ("_timed", "_trace")
    ),
}
