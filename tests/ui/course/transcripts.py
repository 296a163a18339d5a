"""Play every lesson in a session and write what its panel said: `assets/lessons/transcripts.json`.

python -m tests.ui.course.transcripts [LESSON ...]    after a change of a lesson or of the models
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from streamlit.testing.v1 import AppTest

from core.lessons.transcript import FILE
from core.lessons.types import Lesson, LessonStep
from pages.ui.course.lessons import own_lessons, page_of
from pages.ui.course.places import PLACES, control_at
from pages.ui.resources import models
from pages.ui.run.display import later
from tests.ui.conftest import ROOT
from tests.ui.knobs import trigger

PATIENCE = 180.0
OWN_TEXT = "Once upon a time, there was a little girl named Iris. She had a red kite."


def panel_of(app: AppTest) -> dict[str, Any]:
    """Return the data of the lesson's panel."""
    drawn = next(
        e for e in app.get("bidi_component") if e.proto.component_name.endswith("r.lesson")
    )
    data: dict[str, Any] = json.loads(drawn.proto.json)
    return data


def press(app: AppTest, kind: str, choice: int = -1) -> None:
    """Press a button of the panel, as the browser reports it."""
    trigger(
        app, "lesson", "pressed", {"kind": kind, "choice": choice, "turn": panel_of(app)["turn"]}
    )
    app.run()


def act(app: AppTest, lesson: Lesson, at: int) -> None:
    """Do what a step asks for."""
    step, page = lesson.steps[at], page_of(lesson, at)
    if step.wait == "run":
        if step.point == "read_text":
            app.session_state["read_text"] = OWN_TEXT
            app.run()
        app.button(key=PLACES[step.point].key if step.point in PLACES else "start").click()
    elif step.wait == "select":
        app.session_state["view"].selected += 1
    elif step.point == "roll_again":
        app.button(key="roll_again").click()
    elif step.to is not None:
        found = control_at(step.point, page)
        assert found is not None
        row = found[1]
        app.session_state[row.state_key] = row.of_address(step.to.word)
    app.run()


def played(lesson: Lesson) -> Iterator[dict[str, Any]]:
    """Yield the texts of each step, with the index of the right choice (-1 for none)."""
    app = AppTest.from_file(str(ROOT / "pages/main.py"), default_timeout=PATIENCE)
    app.query_params["lesson"] = lesson.name
    app.run()
    assert not app.exception, app.exception
    for at, step in enumerate(lesson.steps):
        before = panel_of(app)
        if step.ask is not None:
            press(app, "answer", 0)
            before = panel_of(app)
        if step.wait:
            act(app, lesson, at)
        yield _shown(app, lesson, step, before)
        if at < len(lesson.steps) - 1:
            press(app, "next")


def _shown(
    app: AppTest, lesson: Lesson, step: LessonStep, before: dict[str, Any]
) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE
    while not _is_over(app, step):
        if time.monotonic() > end:
            raise TimeoutError(f"{lesson.name}: {step.say}")
        time.sleep(0.2)
        app.run()
    after = panel_of(app)
    assert not app.exception and "…" not in after["reveal"], (lesson.name, after)
    texts = {"say": after["say"], "question": after["question"], "do": before["do"]}
    return {**texts, "reveal": after["reveal"], "right": after["right"]}


def _is_over(app: AppTest, step: LessonStep) -> bool:
    """Return whether the panel shows the step's end; a page that turns to another one has none."""
    assert not app.exception, app.exception
    try:
        panel = panel_of(app)
    except StopIteration:
        return False
    return not panel["waits"] and bool(panel["reveal"] or not step.reveal)


def main(names: Sequence[str]) -> None:
    """Write the file; without names, of all lessons."""
    logging.disable(logging.WARNING)
    models.warm_up = lambda: None
    models.unloaded = lambda _: None
    later.waits = lambda _: False
    stored = json.loads(FILE.read_text(encoding="utf-8")) if names else {}
    for lesson in own_lessons():
        if names and lesson.name not in names:
            continue
        stored[lesson.name] = list(played(lesson))
        print(lesson.name, flush=True)
        FILE.write_text(json.dumps(stored, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
