"""A run's steps in its data path: as many as tokens, each with its acts; and their sources."""

from __future__ import annotations

import pytest

from core import ContrastiveSearch, Greedy, Sampling, Shaping, collect
from core.decoding.config import MethodConfig
from core.installation import ROOT
from core.models.scripted import ScriptedModel
from core.traces.data_path.recorder import record
from core.traces.data_path.source import LONGEST, source_of
from core.traces.data_path.steps import act_of, calls_in, calls_of, prompt_call, step_call, steps_in
from core.traces.data_path.types import DataPath, FunctionCall

TOKENS = 5
SHAPED = Shaping(temperature=0.8, top_p=0.9)


SCRIPT = {(): [0.1, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}


def path_of(config: MethodConfig) -> DataPath:
    model = ScriptedModel(SCRIPT)
    with record() as recorder:
        collect(model, "the", config)
    return recorder.path


def steps_recorded(path: DataPath) -> int:
    made = (step_call(path, at) for at in range(2 * TOKENS))
    return sum(call is not None and call.result != "None" for call in made)


def test_n_tokens_are_n_steps_and_n_forwards() -> None:
    path = path_of(Sampling(max_new_tokens=TOKENS, shaping=SHAPED, seed=2))
    forwards = [c for c in path.walk() if act_of(c) == "forward" and c.function.endswith("extend")]
    assert steps_recorded(path) == TOKENS == len(forwards)
    assert prompt_call(path) is not None
    assert [step_call(path, at) is not None for at in range(-1, TOKENS + 2)] == [True] * (
        TOKENS + 2
    ) + [False]


def test_steps_of_recordings_of_older_versions_are_found() -> None:
    made = FunctionCall("_timed", "core/decoding/decode.py", 1, "loop", (), "", True, 0.0, 0.0)
    assert steps_in(DataPath((made,) * 3, 0.0, 0, 0)) == 2


@pytest.mark.parametrize("index", range(TOKENS))
def test_a_step_is_forward_shaping_draw_text_and_record(index: int) -> None:
    made = step_call(path_of(Sampling(max_new_tokens=TOKENS, shaping=SHAPED, seed=2)), index)
    assert made is not None and made.result.startswith("tuple of 2 TokenStep")
    acts = ("forward", "shaping", "draw", "text", "record")
    assert all(calls_of(made, act) for act in acts)
    ends = [max(call.start + call.seconds for call in calls_of(made, act))
            for act in acts]  # fmt: skip
    assert ends == sorted(ends)


@pytest.mark.parametrize("config", [Greedy(max_new_tokens=3), ContrastiveSearch(max_new_tokens=3)])
def test_other_methods_have_steps_too(config: MethodConfig) -> None:
    with record() as recorder:
        run = collect(ScriptedModel(SCRIPT), "the", config)
    assert steps_recorded(recorder.path) == len(run.token_steps) > 0


def test_the_parts_around_the_loop_are_found_by_their_phase() -> None:
    path = path_of(Greedy(max_new_tokens=2))
    assert [bool(calls_in(path.calls, phase)) for phase in ("ids", "answer", "load")] == [
        True, True, False
    ]  # fmt: skip


def test_every_recorded_function_has_its_source() -> None:
    path = path_of(Greedy(max_new_tokens=2))
    for file, line, function in {(c.file, c.line, c.function) for c in path.walk()}:
        source = source_of(file, line)
        name = function.rpartition(".")[2]
        assert f"def {name}(" in source or f"def {name}[" in source, (file, line)
        assert source in (ROOT / file).read_text(encoding="utf-8")


def test_of_a_library_only_python_files_of_models_are_read() -> None:
    source = source_of("transformers/models/llama/modeling_llama.py", _line("class LlamaMLP"))
    assert source.startswith("class LlamaMLP") and "def forward" in source
    for file in ("/etc/passwd", "core/../README.md", "../core/a.py", "streamlit/__init__.py",
                 "core/nowhere.py", "core/decoding/py.typed"):  # fmt: skip
        assert source_of(file, 1) == ""
    assert source_of("core/decoding/decode.py", 10_000) == ""
    assert len(source.splitlines()) <= LONGEST


def _line(start: str) -> int:
    import transformers.models.llama.modeling_llama as module

    with open(module.__file__, encoding="utf-8") as file:
        return next(at for at, line in enumerate(file, start=1) if line.startswith(start))
