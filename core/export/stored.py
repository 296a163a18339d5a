"""Read every kind of file that has figures, by its content, with the other files of its archive."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import figures
from ..decoding.comparison.measures import ComparedRuns
from ..decoding.counting import counted
from ..decoding.errors import FigureError
from ..decoding.files import shown
from ..decoding.lab.types import LabExample
from ..decoding.many.types import ManyRuns
from ..decoding.record.trace import Trace
from ..decoding.record.tree import RunTree
from ..decoding.version import VERSION
from ..evaluation.example import SCHEMA as REASONING
from ..evaluation.example import example_from_dict
from ..evaluation.plan.types import Evaluation
from ..evaluation.sweep.types import BudgetSweep
from ..figures.base.labels import config_caption, plain_name
from ..figures.evaluate.words import caption
from ..installation import COMMAND
from ..language import N_, Message
from ..traces.bounded_file import file_bytes, require_sparse, within
from ..traces.data_path.export import SCHEMA as DATA_PATH
from ..traces.file import MAX_BYTES, MAX_FILE_BYTES
from .comparison import comparison_of
from .subject import Subject, in_english, pair_subject
from .tables import read_before, step_tables, tables_of

if TYPE_CHECKING:
    from .catalog import StoredContent
    from .tables import Table

_WHAT = Message("file")
_DRAWN = Message(
    "figures are drawn of traces, trees of runs, many runs (a trace a line), lab steps, budget "
    "sweeps, evaluations, the reasoning example, comparisons and data paths (the JSON of "
    "`{command} path`).",
    command=COMMAND,
)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file's content, and functions for the other parts of its figures' archive."""

    content: StoredContent
    subject: Callable[[], Subject]
    tables: Callable[[], Sequence[Table]] = tuple


def read_stored(source: bytes | str | Path) -> StoredFile:
    """Read a file of any kind that has figures.

    Raises:
        FigureError: the file can't be opened, or is of no such kind.
        DecodingError: the file is invalid; the message names the fault.
    """
    name: str = Message("This file")
    if isinstance(source, bytes):
        raw = within(source, MAX_BYTES, _WHAT, FigureError)
    else:
        name, raw = shown(source), file_bytes(source, MAX_FILE_BYTES, _WHAT, FigureError)
    data = _value(raw)
    if data is None:
        raise FigureError(
            Message("{name} is no JSON, or is cut off: {drawn}", name=name, drawn=_DRAWN)
        )
    schema = data.get("schema") if isinstance(data, dict) else None
    read = _kind(schema) if isinstance(schema, str) else None
    if read is None:
        raise FigureError(
            Message(
                "{name} is no file of Decoding Explorer with figures: {drawn}",
                name=name,
                drawn=_DRAWN,
            )
        )
    return read(data, raw)


def _value(raw: bytes) -> Any:
    """Return the JSON value of a file, or of its first line (JSON lines); None for no JSON."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    for part in (text, text.partition("\n")[0]):
        require_sparse(part, _WHAT, FigureError)
        try:
            return json.loads(part)
        except (ValueError, RecursionError):
            continue
    return None


def _kind(schema: str) -> Callable[[Any, bytes], StoredFile] | None:
    """Return the reader for a schema; None if it is unknown."""
    kinds = {
        Trace.schema: _trace,
        RunTree.schema: _tree,
        LabExample.schema: _lab,
        REASONING: _reasoning,
        DATA_PATH: _data_path,
        ComparedRuns.schema: _comparison,
    }
    if schema in kinds:
        return kinds[schema]
    # These import torch, which takes seconds.
    from ..evaluation.plan.files import EVALUATIONS
    from ..evaluation.sweep.files import SWEEPS

    return {SWEEPS.schema: _sweep, EVALUATIONS.schema: _evaluation}.get(schema)


def _trace(data: Any, raw: bytes) -> StoredFile:
    """Read one trace, or many runs in lines."""
    from ..traces.file import trace_of

    if b"\n{" in raw:
        return _many(raw)
    trace = trace_of(data)
    return StoredFile(trace, partial(Subject.of_trace, trace, raw), partial(tables_of, trace))


def _tree(data: Any, raw: bytes) -> StoredFile:
    from ..traces.tree_file import tree_of

    tree = tree_of(data)

    def subject() -> Subject:
        first = Subject.of_trace(tree.branches[0].trace, raw)
        return replace(first, files={"tree.json": raw})

    return StoredFile(
        tree, subject, lambda: [(N_("Every token of every run."), figures.run_tree_data(tree))]
    )


def _many(raw: bytes) -> StoredFile:
    from ..traces.many_file import read_runs

    many = read_runs(raw)
    return StoredFile(many, partial(many_subject, many, raw), partial(many_tables, many))


def many_subject(many: ManyRuns, raw: bytes = b"") -> Subject:
    """Return many runs as a subject, with the traces of all of them.

    Args:
        raw: their file, if they come from one.
    """
    from ..traces.many_file import many_jsonl

    first = Subject.of_trace(many.traces[0], b"")
    raw = raw or many_jsonl(many.traces).encode()
    return replace(first, caption=caption_of_runs(many), files={"runs.jsonl": raw})


def caption_of_runs(many: ManyRuns) -> str:
    """Return the caption of runs of one method, or of several."""
    return figures.methods_caption(many) if many.has_searches else figures.many_caption(many)


def many_tables(many: ManyRuns) -> list[Table]:
    """Return the tables of all runs, and of the forks of runs of one method."""
    if many.has_searches:
        return [(N_("Every run."), figures.methods_data(many))]
    return [
        (N_("Every run."), figures.many_runs_data(many)),
        (N_("Every fork."), figures.many_forks_data(many)),
    ]


def _comparison(data: Any, raw: bytes) -> StoredFile:
    comparison = comparison_of(data)
    left, right = comparison.left, comparison.right
    return StoredFile(
        comparison,
        partial(pair_subject, left, right, raw),
        lambda: [(N_("Measures of both runs."), figures.pair_lines_data(comparison.measures))],
    )


def _lab(data: Any, raw: bytes) -> StoredFile:
    from ..traces.lab_file import lab_of

    example = lab_of(data)
    step = example.step
    return StoredFile(
        example,
        partial(Subject.of_trace, read_before(step), raw),
        partial(step_tables, step.step, step.trace),
    )


def _sweep(_: Any, raw: bytes) -> StoredFile:
    from ..evaluation.sweep.files import read_sweep

    sweep = read_sweep(raw)
    subject = partial(_sweep_subject, sweep, {"sweep.jsonl": raw})
    return StoredFile(sweep, subject, lambda: [_costs(sweep)])


def _evaluation(_: Any, raw: bytes) -> StoredFile:
    from ..evaluation.plan.files import read_evaluation

    evaluation = read_evaluation(raw)
    return StoredFile(
        evaluation, partial(evaluation_subject, evaluation), partial(evaluation_tables, evaluation)
    )


def _reasoning(data: Any, raw: bytes) -> StoredFile:
    example = example_from_dict(data)
    return StoredFile(
        example,
        partial(_sweep_subject, example.sweep, {"reasoning.json": raw}),
        lambda: [
            _costs(example.sweep),
            (N_("Strategies with the same budget."), figures.reason_rivals_data(example.rivalry)),
        ],
    )


def _data_path(data: Any, raw: bytes) -> StoredFile:
    from ..traces.data_path.reading import path_of

    path = path_of(data)
    caption = counted(sum(1 for _ in path.walk()), "recorded call")
    settings = {"app": VERSION, "calls": caption, "seconds": path.seconds}
    return StoredFile(path, partial(Subject, caption, settings, {"data-path.json": raw}))


def _costs(sweep: BudgetSweep) -> Table:
    return N_("Outcomes and costs by budget."), figures.reason_spent_data(sweep)


def _sweep_subject(sweep: BudgetSweep, files: dict[str, bytes]) -> Subject:
    plan = sweep.plan
    settings = {
        "app": VERSION,
        "model": plan.model_id,
        "model_revision": plan.model_revision or None,
        "problems": plan.problems.name,
        "budgets": plan.budgets,
        "budget_field": plan.budget_field,
        "samples": plan.samples,
        "method": plan.config.method,
        "settings": asdict(plan.config),
    }
    revision = f", revision {plain_name(plan.model_revision)}" if plan.model_revision else ""
    return Subject(
        config_caption(plan.model_id, plan.config),
        settings,
        files,
        models=f"{plain_name(plan.model_id)}{revision}",
        cited=in_english(partial(config_caption, plan.model_id, plan.config)),
    )


def evaluation_subject(evaluation: Evaluation) -> Subject:
    """Return the evaluation as a subject, with its plan and all its rows."""
    plan = evaluation.plan
    settings = {
        "app": VERSION,
        "models": plan.models,
        "model_revisions": dict(plan.revisions),
        "questions": plan.questions.name,
        "metrics": plan.metrics,
        "ways": [{**asdict(way), "method": way.config.method} for way in plan.ways],
    }
    from ..evaluation.plan.files import file_of
    from ..evaluation.plan.plan_file import write_plan

    revision = write_plan(plan, plan.questions.name.split(",")[0])
    return Subject(
        caption(evaluation),
        settings,
        {"plan.yaml": revision.encode(), "evaluation.jsonl": file_of(evaluation)},
        models="; ".join(
            f"{name}, revision {plain_name(revision)}" for name, revision in plan.revisions
        ),
        cited=in_english(partial(caption, evaluation)),
    )


def evaluation_tables(evaluation: Evaluation) -> list[Table]:
    """Return tables of accuracy and cost, of every way against the first, and of failures."""
    import pandas as pd

    from ..evaluation.plan.statistics import all_paired, failures

    tables = [(N_("What each way gained and cost."), figures.evaluate_accuracy_data(evaluation))]
    for title, records in (
        (N_("Every way against the first one."), all_paired(evaluation)),
        (N_("Ways that failed."), failures(evaluation)),
    ):
        if records:
            tables.append((title, pd.DataFrame(records)))
    return tables
