"""Tables of a trace as DataFrames."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from core import TraceError, read_trace, runs_to_frame
from core.decoding.constraints.value import Constraint
from core.decoding.methods import METHODS
from core.decoding.shaping.config import SETTINGS, Shaping
from core.traces.frames import TABLES, document
from tests.figures.traces import make_trace

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "assets" / "traces"
OF_METHOD = {"beam": "beams", "decode": "steps", "speculative": "rounds"}


@pytest.mark.parametrize("name", OF_METHOD)
@pytest.mark.parametrize("rows", TABLES)
def test_a_table_has_its_columns_and_dtypes_with_and_without_rows(name: str, rows: str) -> None:
    frame = read_trace(TRACES / f"{name}.json").to_pandas(rows)
    declared = {key: column.dtype for key, column in TABLES[rows].columns.items()}
    assert {key: str(dtype) for key, dtype in frame.dtypes.items()} == declared
    if rows in ("prompt", OF_METHOD[name]):
        assert len(frame)


@pytest.mark.parametrize("name", OF_METHOD)
@pytest.mark.parametrize("rows", TABLES)
def test_a_table_comes_back_from_parquet_and_arrow_with_its_dtypes(
    name: str, rows: str, tmp_path: Path
) -> None:
    """pyarrow comes with Streamlit."""
    frame = read_trace(TRACES / f"{name}.json").to_pandas(rows)
    frame.to_parquet(tmp_path / "runs.parquet")
    again = pd.read_parquet(tmp_path / "runs.parquet")
    pd.testing.assert_frame_equal(again, frame)
    pd.testing.assert_frame_equal(pa.Table.from_pandas(frame).to_pandas(), frame)


def test_the_values_are_the_trace_s() -> None:
    trace = read_trace(TRACES / "decode.json")
    steps, candidates = trace.to_pandas(), trace.to_pandas("candidates")
    assert tuple(steps["token_id"]) == trace.token_ids
    assert list(steps["surprisal"]) == [step.surprisal for step in trace.token_steps]
    chosen = candidates[candidates["chosen"]]
    assert list(chosen["prob"]) == list(steps["prob"])
    stages = trace.to_pandas("stages")
    last = stages.groupby("step").tail(1)
    assert list(last["chosen_prob"]) == pytest.approx(list(steps["prob"]))
    assert list(last["kept"]) == list(steps["kept"])


def test_rounds_hold_what_the_run_emitted() -> None:
    trace = read_trace(TRACES / "speculative.json")
    rounds = trace.to_pandas("rounds")
    emitted = rounds[rounds["outcome"].isin(["accepted", "added"])]
    assert tuple(emitted["token_id"]) == trace.token_ids
    assert emitted.groupby("round")["position"].apply(list).iloc[0] == list(
        range(len(trace.rounds[0].token_ids))
    )


def test_kept_candidates_of_a_beam_search_are_the_next_step_s_rows() -> None:
    beams = read_trace(TRACES / "beam.json").to_pandas("beams")
    for step, later in beams.groupby("step"):
        before = beams[beams["step"] == step - 1]
        if len(before):
            assert set(later["parent"]) <= set(before["row"].dropna())


def test_several_runs_are_one_table_with_what_differs() -> None:
    left, right = (read_trace(TRACES / f"{name}.json") for name in ("decode", "compare"))
    frame = runs_to_frame([left, right])
    assert list(frame.columns[:3]) == ["run", "temperature", "step"]
    assert list(frame.groupby("run")["temperature"].first()) == [0.8, 0.3]
    assert len(frame) == len(left.token_ids) + len(right.token_ids)
    assert len(runs_to_frame([left, left]).columns) == 1 + len(TABLES["steps"].columns)


def test_lists_and_constraints_that_differ_are_written_as_json() -> None:
    trace = make_trace(3)
    shapings = (
        Shaping(logit_bias={5: 1.0}, constraint=Constraint("choice", "a")),
        Shaping(constraint=Constraint("regex", "b+")),
    )
    configs = [
        replace(trace.config, shaping=shaping, stop_strings=("a", "b")) for shaping in shapings
    ]
    configs.append(replace(trace.config, stop_strings=()))
    frame = runs_to_frame([replace(trace, config=config) for config in configs])
    assert list(frame.groupby("run")["logit_bias"].first()) == ["[[5, 1.0]]", "[]", "[]"]
    assert frame["constraint"][0] == '{"kind": "choice", "text": "a"}'
    assert list(frame.groupby("run")["stop_strings"].first()) == ['["a", "b"]'] * 2 + ["[]"]


def test_no_setting_has_a_column_s_name() -> None:
    columns = {"run", *chain.from_iterable(table.columns for table in TABLES.values())}
    settings = {field.name for method in METHODS for field in fields(method.config)}
    assert not columns & (settings | {*SETTINGS, "model_id", "prompt"})


def test_what_is_no_table_and_no_trace_is_refused() -> None:
    trace = read_trace(TRACES / "decode.json")
    with pytest.raises(TraceError, match="no table 'step'; it has steps, candidates"):
        trace.to_pandas("step")
    with pytest.raises(TraceError, match="no trace to make a table of"):
        runs_to_frame([])
    for other in (trace, "run.json", [trace, None]):
        with pytest.raises(TraceError, match="Give a list of traces"):
            runs_to_frame(other)  # type: ignore[arg-type]


def test_the_page_is_written_from_the_tables_and_its_code_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = document()
    assert (ROOT / "docs" / "dataframes.md").read_text(encoding="utf-8") == text
    code = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert code is not None
    exec(compile(code[1], "dataframes.md", "exec"), {})
    assert "temperature" in capsys.readouterr().out


def test_a_frame_is_stored_as_parquet_and_read_again(tmp_path: Path) -> None:
    frame = read_trace(TRACES / "beam.json").to_pandas("beams")
    frame.to_parquet(tmp_path / "beams.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "beams.parquet"), frame)
