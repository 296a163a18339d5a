"""Contents of each page's archive, without a browser."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
import streamlit as st

from core.decoding.record.trace import Trace
from core.evaluation.plan.files import file_of, read_evaluation
from core.export.archive import Archive
from core.export.part import Part
from core.export.stored import evaluation_subject, evaluation_tables
from core.export.stored_parts import evaluation_parts
from core.figures import printed
from core.figures.speculative.words import EXTRA
from pages.ui import registry
from pages.ui.inside import save as inside_save
from pages.ui.inside.state import InsideView
from pages.ui.requests.state import RequestsView
from pages.ui.run.files import save
from pages.ui.speculative import save as spec_save
from pages.ui.speculative.state import SpecView

STORED = Path(__file__).parents[3] / "assets"
PAPER = printed("85mm")


@pytest.fixture(autouse=True)
def no_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls have their defaults."""
    monkeypatch.setattr(st, "session_state", {})


@pytest.mark.parametrize("name", ["decode", "beam", "speculative", "reasoning"])
def test_a_request_s_run_leaves_as_from_its_own_page(name: str) -> None:
    file = json.loads((STORED / f"traces/{name}.json").read_text(encoding="utf-8"))
    trace = Trace.from_dict(file.get("run", file))
    method_view = save.as_on_its_page(RequestsView(), trace)
    row = registry.page_of(trace.config.method)
    assert method_view.trace == trace and isinstance(method_view, row.view.find().__self__)
    assert save.as_on_its_page(method_view, trace) is method_view
    parts = row.saved.find().parts(method_view, trace, PAPER)
    assert len({part.name for part in parts}) == len(parts)
    assert sum(part.draw is not None for part in parts) >= 5 or name in ("beam", "reasoning")
    assert row.saved.find().tables(method_view, trace)


@pytest.mark.parametrize(("place", "said"), [(0, "position-1"), (EXTRA, "own-token")])
def test_a_verification_is_named_by_its_token(place: int, said: str) -> None:
    trace = Trace.load(STORED / "traces/speculative.json")
    view = SpecView(trace=trace, token=(2, place))
    assert f"verification-round-3-{said}" in [part.name for part in spec_save.parts(view, trace)]


def test_an_evaluation_leaves_with_its_plan_and_rows() -> None:
    evaluation = read_evaluation(STORED / "evaluation/hot-draft.jsonl")
    archive = Archive(evaluation_subject(evaluation), PAPER, tables=evaluation_tables(evaluation))
    with zipfile.ZipFile(io.BytesIO(archive.encode())) as packed:
        names = set(packed.namelist())
        settings = json.loads(packed.read("settings.json"))
        assert packed.read("evaluation.jsonl") == file_of(evaluation)
    assert {"plan.yaml", "figures.tex", "figures.md"} <= names
    assert [way["name"] for way in settings["ways"]] == [w.name for w in evaluation.plan.ways]
    assert settings["width"] == "85mm" and len(evaluation_parts(evaluation)) >= 2


def test_what_was_not_read_inside_a_run_is_named() -> None:
    view = InsideView()
    view.figures["lens"] = Part("lens", lambda **_: None)
    needs = {part.name: part.needs for part in inside_save.parts(view)}
    assert needs["lens-step-1"] == "" and "Modules" in needs["modules"] and len(needs) == 4
    view.select(0)
    assert all(part.needs for part in inside_save.parts(view))
