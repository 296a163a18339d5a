"""`python -m core figure` over every kind of file that figures are drawn of."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from core.cli.main import main
from core.decoding.comparison.measures import recorded_measures
from core.decoding.comparison.parting import compare
from core.decoding.errors import TraceError
from core.decoding.record.trace import Trace
from core.evaluation.plan.files import EVALUATIONS
from core.evaluation.row_file import encoded_line
from core.evaluation.sweep.files import SWEEPS
from core.export.comparison import comparison_json
from core.export.drawing import chrome
from core.export.stored import read_stored
from core.traces.data_path.export import as_chrome, as_json
from core.traces.data_path.reading import path_of
from core.traces.data_path.types import DataPath
from core.traces.tree_file import tree_json
from tests.depth import mostly_slow
from tests.export.drawings import raw
from tests.figures.forks import make_tree
from tests.figures.gallery import long_rounds
from tests.figures.insides import make_calls
from tests.figures.reasons import make_sweep
from tests.figures.traces import make_trace

ASSETS = Path(__file__).parents[1] / "assets"
DECODE = ASSETS / "traces/decode.json"
PATH = DataPath(make_calls(), 7.0, 2, 1)


def _sweep() -> bytes:
    sweep = make_sweep()
    return SWEEPS.content(sweep.plan, sweep.rows)


def _comparison() -> bytes:
    left, right = Trace.load(DECODE), Trace.load(ASSETS / "traces/compare.json")
    return comparison_json(left, right, compare(left, right), recorded_measures(left, right))


KINDS: dict[str, tuple[Callable[[], bytes], set[str]]] = {
    "trace": (DECODE.read_bytes, {"heatmap", "prompt", "time"}),
    "runs": (lambda: tree_json(make_tree(Trace.load(DECODE))).encode(), {"tree"}),
    "many runs": (
        (ASSETS / "traces/many-grid.jsonl").read_bytes,
        {"tree", "grid-surprisal", "grid-parts", "forks", "agreement"},
    ),
    "methods": ((ASSETS / "traces/home.jsonl").read_bytes, {"methods"}),
    "comparison": (_comparison, {"entropy", "kl", "variation", "a-heatmap", "b-candidates"}),
    "search": ((ASSETS / "traces/beam.json").read_bytes, {"tree", "step"}),
    "rounds": ((ASSETS / "traces/speculative.json").read_bytes, {"timeline", "feed"}),
    "lab": ((ASSETS / "traces/lab.json").read_bytes, {"stages", "rolls", "tree"}),
    "sweep": (_sweep, {"accuracy", "outcomes", "spent", "difficulty"}),
    "evaluation": ((ASSETS / "evaluation/beam.jsonl").read_bytes, {"accuracy-by-way", "agreement"}),
    "reasoning": ((ASSETS / "traces/reasoning.json").read_bytes, {"stops", "best-of-n"}),
    "data path": (lambda: json.dumps(as_json(PATH)).encode(), {"calls", "run"}),
}


@pytest.mark.parametrize("kind", mostly_slow(KINDS, ("lab", "sweep", "reasoning")))
def test_every_kind_of_file_has_figures_with_tables_and_an_archive(
    kind: str, tmp_path: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(chrome, "svgs", lambda drawn: [raw() for _ in drawn])
    content, names = KINDS[kind]
    file, out = tmp_path / "content", tmp_path / "out"
    file.write_bytes(content())
    assert main(["figure", str(file)]) == 0
    listed = capsys.readouterr().out.split()
    assert names <= set(listed)
    for name in sorted(names):
        table = out.with_suffix(".csv")
        assert main(["figure", str(file), "--figure", name, "--out", str(table)]) == 0
        assert len(pd.read_csv(table)), name
    packed = out.with_suffix(".zip")
    assert main(["figure", str(file), "--figure", "all", "--out", str(packed)]) == 0
    with zipfile.ZipFile(packed) as archive:
        assert sum(name.endswith(".svg") for name in archive.namelist()) == len(listed)
        contents = [archive.read(name) for name in archive.namelist() if "/" not in name]
        assert kind == "evaluation" or file.read_bytes() in contents


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no JSON, or is cut off"),
        (b"\x89PNG\r\n\xff", "no JSON, or is cut off"),
        (b'{"schema": "decoding-explorer/trace", "ver', "no JSON, or is cut off"),
        (b"question,answer\nWho?,Me\n", "no JSON, or is cut off"),
        (b"[1, 2]", "no file of Decoding Explorer"),
        (b'{"schema": ["decoding-explorer/trace"]}', "no file of Decoding Explorer"),
        (json.dumps(as_chrome(PATH)).encode(), "no file of Decoding Explorer"),
        (b'{"question": "Who?"}\n{"question": "What?"}\n', "no file of Decoding Explorer"),
    ],
)
def test_what_is_none_of_these_gets_one_sentence(
    content: bytes, words: str, tmp_path: Path, capsys
) -> None:
    file = tmp_path / "content.json"
    file.write_bytes(content)
    assert main(["figure", str(file)]) == 2
    errors = capsys.readouterr().err
    assert words in errors and "figures are drawn of traces" in errors and errors.count("\n") == 1


def test_a_damaged_file_of_a_kind_says_what_is_wrong_with_it() -> None:
    header = {"schema": EVALUATIONS.schema, "version": 99, "plan": {}}
    with pytest.raises(Exception, match="in version 1"):
        read_stored(encoded_line(header))
    broken = as_json(PATH)
    broken["calls"][0]["seconds"] = float("nan")
    with pytest.raises(TraceError, match="damaged"):
        path_of(broken)


def test_a_data_path_comes_back_as_it_was_written() -> None:
    assert path_of(json.loads(json.dumps(as_json(PATH)))) == PATH


@pytest.mark.parametrize(
    ("trace", "figure", "unit", "last"),
    [
        (long_rounds(48), "timeline", "round", 48),
        (make_trace(60, prompt_tokens=70), "heatmap", "step", 60),
        (make_trace(2, prompt_tokens=70), "prompt", "position", 70),
    ],
)
def test_the_last_step_is_in_the_table_and_the_first_is_not(
    trace, figure: str, unit: str, last: int, tmp_path: Path, capsys
) -> None:
    file, out = tmp_path / "run.json", tmp_path / "table.csv"
    trace.save(file)
    arguments = ["figure", str(file), "--figure", figure, "--step", str(last), "--out", str(out)]
    assert main(arguments) == 0
    steps = set(pd.read_csv(out)[unit])
    assert last in steps and 1 not in steps
    assert main([*arguments[:5], str(last + 1), *arguments[6:]]) == 2
    # A file without steps has none.
    assert main(["figure", str(ASSETS / "traces/lab.json"), "--step", "2"]) == 2
    assert "leave --step out" in capsys.readouterr().err
