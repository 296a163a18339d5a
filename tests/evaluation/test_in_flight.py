"""Many units at a time against servers: as many as they take, with the rows of one at a time."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from core import ByEngine, Greedy, load_model
from core.decoding.errors import EvaluationError
from core.evaluation.plan.files import read_evaluation
from core.evaluation.plan.plan_file import take
from core.evaluation.plan.run import evaluate_to_file, run_evaluation
from core.evaluation.plan.types import EvaluationPlan, Way
from core.evaluation.questions.own import own_questions
from core.evaluation.workers import threads
from core.evaluation.workers.threads import Threads, all_on_servers
from core.evaluation.workers.work import RunUnit, rows_of
from tests.evaluation.test_workers import require_same
from tests.models.remote import faults
from tests.models.remote.servers import Script, local, serving


class Server:
    """Scripted report of a server on its load.

    Args:
        waiting: requests that wait, look by look; the last goes on.
    """

    def __init__(self, slots: int | None = None, waiting: Sequence[int | None] = (None,)) -> None:
        self.slots, self._said = slots, list(waiting)

    def waiting(self) -> int | None:
        return self._said.pop(0) if len(self._said) > 1 else self._said[0]


@pytest.mark.parametrize(
    ("servers", "most", "begun"),
    [
        ([Server(waiting=[0, 0, 3])], 256, [4, 4, 8, 0, 0]),
        ([Server(waiting=[0])], 7, [4, 3, 0]),
        ([Server(waiting=[0])], 2, [2, 0]),
        ([Server(waiting=[0]), Server(waiting=[0, 1])], 256, [4, 4, 0]),
        ([Server(slots=6)], 256, [6, 0]),
        ([Server()], 256, [4, 0]),
    ],
    ids=["until some wait", "its bound", "a low bound", "two servers", "its slots", "it is silent"],
)
def test_as_many_are_begun_as_the_servers_take(
    servers: list[Server], most: int, begun: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_LOOK_SECONDS", 0)
    monkeypatch.setattr(threads, "_BUSY", math.inf)
    room = threads._Room(servers, most)
    counts = [room.first]
    while len(counts) < len(begun):
        counts.append(room.more(sum(counts)))
    assert counts == begun
    monkeypatch.setattr(threads, "_BUSY", -1)
    assert threads._Room(servers, most).more(1) == 0


class Nine:
    """Work of nine units."""

    def __init__(self, run: RunUnit[int]) -> None:
        self._run = run

    def key(self, row: int) -> int:
        return row

    def units(self, done: Sequence[int]) -> list[list[int]]:
        return [[unit] for unit in range(9) if unit not in done]

    def begin(self) -> RunUnit[int]:
        return self._run


def test_units_run_at_once_and_each_once() -> None:
    together, lock, under_way = threading.Barrier(3), threading.Lock(), list[int]()

    def rows(unit: list[int], should_stop: Callable[[], bool]) -> Iterator[int]:
        assert not should_stop()
        with lock:
            under_way.append(*unit)
            assert len(under_way) <= 3
        together.wait(60)
        with lock:
            under_way.remove(*unit)
        yield from unit

    assert sorted(rows_of(Nine(rows), pool=Threads([Server(slots=3)]))) == list(range(9))


def test_what_fails_stops_the_others_and_loses_none_of_their_rows() -> None:
    together, received = threading.Barrier(4), list[int]()

    def rows(unit: list[int], should_stop: Callable[[], bool]) -> Iterator[int]:
        together.wait(60)
        if unit == [2]:
            raise EvaluationError("The server of large is gone.")
        while not should_stop():
            threading.Event().wait(0.01)
        yield from unit

    with pytest.raises(EvaluationError, match="large is gone"):
        received.extend(rows_of(Nine(rows), pool=Threads([Server()])))
    assert sorted(received) == [0, 1, 3]


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[str, Any, Script]]:
    with serving(Script(most=20)) as (url, script):
        where = f"vllm:{url}?tokenizer=embedded:target#target"
        yield where, load_model(where), script


def test_an_evaluation_in_flight_is_that_of_one_after_the_other(
    served: tuple[str, Any, Script], tmp_path: Path
) -> None:
    where, model, script = served
    drawn = Way("engine", ByEngine(max_new_tokens=6), where, samples=2)
    plan = EvaluationPlan(
        take(own_questions("facts"), 6), (Way("greedy", Greedy(max_new_tokens=6), where), drawn)
    )
    models, path = {where: model}, tmp_path / "rows.jsonl"
    assert all_on_servers(models.values()) and not all_on_servers([local()])
    alone = run_evaluation(models, plan)
    script.fail(faults.status(400), after=20)
    with pytest.raises(EvaluationError, match=r"refuses the request \(status 400: not now\)"):
        evaluate_to_file(models, plan, path, in_flight=4)
    script.fault = None
    begun = path.read_bytes()
    done = evaluate_to_file(models, plan, path, in_flight=4)
    assert done.complete and path.read_bytes().startswith(begun)
    require_same(done.rows, alone.rows)
    require_same(read_evaluation(path).rows, alone.rows)
