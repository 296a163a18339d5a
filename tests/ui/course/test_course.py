"""The course in a session: links, progress, score, files of lessons, and what waits for what."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from core.decoding.errors import LessonError
from core.lessons.course import named_by_content, title_in
from core.lessons.facts import FACTS
from core.lessons.finding import PageFacts
from core.lessons.read import read_lesson
from core.lessons.types import Lesson
from pages.ui.classroom.rooms import MOST_NAME
from pages.ui.course import panel, state, steps
from pages.ui.course.lessons import OWN, checked, own_lessons
from pages.ui.course.places import PLACES, place_of
from pages.ui.course.state import Course, Guess, GuessScore, LessonProgress, read_progress
from pages.ui.platform import session
from pages.ui.registry import page_at
from tests.ui.conftest import Open
from tests.ui.seen import settle, texts

LESSONS = own_lessons()
NAMES = [lesson.name for lesson in LESSONS]
HOSTILE = "<img src=x onerror=alert(1)> ![](http://127.0.0.1:9/leak.png) **b**"


def course_of(app: AppTest) -> Course:
    course: Course = app.session_state["course"]
    return course


def panel_of(app: AppTest) -> dict[str, Any]:
    """The data of the lesson's panel."""
    drawn = [e for e in app.get("bidi_component") if e.proto.component_name.endswith("r.lesson")]
    assert len(drawn) == 1
    data: dict[str, Any] = json.loads(drawn[0].proto.json)
    return data


def open_course(lesson: Lesson) -> Course:
    course = Course()
    course.lesson = lesson
    course.show(0)
    return course


@pytest.mark.parametrize("lesson", LESSONS, ids=NAMES)
def test_every_page_control_and_place_of_a_lesson_is_there(lesson: Lesson) -> None:
    assert checked(lesson) is lesson
    assert 3 <= lesson.minutes <= 10 and 3 <= len(lesson.steps) <= 14
    assert list(lesson.questions)
    for step in lesson.steps:
        # Words of one breath each, and a number in a reveal comes from a fact.
        assert len(step.say) < 420
        assert not step.wait or (step.do and step.point and step.reveal)


def test_names_are_unique_and_no_lesson_has_that_of_an_opened_file() -> None:
    assert len(set(NAMES)) == len(NAMES) and OWN not in NAMES


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("  - {page: nowhere, say: a}", "Step 1: there is no page 'nowhere'; decode, course"),
        ("  - {page: beam, say: a, set: {beamz: 1}}", "Beam search has no control 'beamz'"),
        ("  - {page: decode, say: a, point: nothing}", "no control 'nothing' to point at"),
        ("  - {page: decode, say: a, point: run, wait: move}", "'run' is no control that can"),
        (
            "  - {page: decode, say: a, point: prompt, wait: move, to: '>= 1'}",
            "'prompt' is no number",
        ),
        ("  - {page: compare, say: a, set: {prompt: x}}", "Compare has no control 'prompt'"),
    ],
)
def test_a_lesson_is_checked_against_the_pages(steps: str, words: str) -> None:
    file = f"title: T\nminutes: 5\nsummary: S\nsteps:\n{steps}\n".encode()
    with pytest.raises(LessonError, match=words):
        checked(read_lesson(file, OWN))


def test_each_side_of_two_runs_has_controls_of_its_own() -> None:
    compare = page_at("compare")
    compare.load_controls.find()
    assert place_of("a_prompt", compare) is not None and place_of("prompt", compare) is None
    assert place_of("pair_template", compare) is PLACES["pair_template"]


def test_a_link_opens_a_lesson_on_its_page_with_its_controls_and_no_run(open_app: Open) -> None:
    app = open_app(lesson="one-token")
    data = panel_of(app)
    assert (data["place"], data["asks"], data["reveal"]) == ("Step 1 of 5", True, "")
    assert app.number_input(key="tokens").value == 1
    assert app.session_state["view"].trace is None
    assert app.query_params["lesson"] == "one-token"
    # Nothing points at Run before the question is answered.
    assert data["target"] == ""


def test_a_link_to_an_unknown_lesson_says_so_and_opens_none(open_app: Open) -> None:
    app = open_app(lesson=HOSTILE)
    assert "There is no lesson" in app.toast[0].value
    # Streamlit reads a toast as markup: all of its signs are escaped.
    assert r"\<img" in app.toast[0].value and r"\!\[" in app.toast[0].value
    assert course_of(app).lesson is None and "lesson" not in app.query_params
    assert not [e for e in app.get("bidi_component") if e.proto.component_name.endswith("r.lesson")]


def test_an_old_link_to_an_evaluation_opens_it_and_no_lesson(open_app: Open) -> None:
    app = open_app("evaluate_ways.py", lesson="beam")
    assert app.session_state["evaluation"] == "beam"
    assert course_of(app).lesson is None and not app.toast


def test_the_first_answer_counts_and_is_told_to_those_who_listen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[tuple[str, int, int, int | None]] = []
    monkeypatch.setattr(state, "listeners", [lambda *answer: told.append(answer)])
    course = open_course(LESSONS[0])
    course.answer(99)
    assert course.asks and told == []
    course.answer(1)
    course.answer(0)
    assert told == [("one-token", 0, 1, None)] and course.own.answers == {0: Guess(1)}
    course.judge(1)
    course.judge(0)
    assert course.own.answers[0] == Guess(1, right=True, judged=True)
    assert course.own.score == GuessScore(1, 1)
    assert told[1:] == [("one-token", 0, 1, 1)]


def test_a_wrong_answer_and_one_that_nothing_fits_score_nothing() -> None:
    course = open_course(LESSONS[0])
    course.answer(1)
    course.judge(0)
    assert course.own.score == GuessScore(0, 1) and course.own.answers[0].judged
    course = open_course(LESSONS[0])
    course.answer(1)
    course.judge(None)
    assert course.own.score == GuessScore(0, 1)


def test_progress_goes_to_the_browser_and_comes_back() -> None:
    course = open_course(LESSONS[0])
    course.answer(0)
    course.judge(0)
    course.own.carried = {"text": "a", "tokens": 3}
    course.show(2)
    kept = json.loads(json.dumps(course.plain()))
    again = Course()
    again.take(kept)
    assert again.restored and again.progress == course.progress
    # What this session has done already counts for more.
    other = Course(progress={NAMES[0]: LessonProgress(4)})
    other.take(kept)
    assert other.progress[NAMES[0]].at == 4


@pytest.mark.parametrize(
    "kept",
    [
        None, 3, [], "x", {"one-token": 1}, {"nowhere": {"at": 1}},
        {"one-token": {"at": 99, "answers": {"0": [7, True, True], "1": [0, True, True]}}},
        {"one-token": {"at": "1", "answers": [1], "finished": 1, "carried": {"x": 1}}},
        {"one-token": {"answers": {"0": "abc"}, "carried": {"text": "x" * 9999, "die": 1e999}}},
    ],
)  # fmt: skip
def test_what_a_browser_hands_over_is_checked(kept: Any) -> None:
    for own in read_progress(kept).values():
        assert own == LessonProgress()


def test_a_lesson_goes_on_where_its_page_began_and_a_finished_one_begins_anew() -> None:
    course = Course(progress={NAMES[0]: LessonProgress(3, {0: Guess(0, right=True, judged=True)})})
    steps.begin(course, LESSONS[0])
    assert course.at == 2 and course.own.score == GuessScore(1, 1)
    # The last step alone ends nothing: a lesson that is left there goes on there.
    course.progress[NAMES[0]] = LessonProgress(4, {0: Guess(0)}, reached=all_reached())
    steps.begin(course, LESSONS[0])
    assert course.at == 4 and course.own.answers == {0: Guess(0)} and not course.own.finished
    steps.go_on(course)
    assert course.own.finished
    steps.begin(course, LESSONS[0])
    assert course.at == 0 and course.own == LessonProgress(finished=True)


def all_reached() -> dict[int, state.Reached]:
    return {at: state.Reached({}, {}) for at in range(len(LESSONS[0].steps))}


def test_again_keeps_the_score_until_a_better_one_is_finished(open_app: Open) -> None:
    course = Course()
    right, wrong = (Guess(0, right=right, judged=True) for right in (True, False))
    for answer, counts in ((wrong, 0), (right, 1), (wrong, 1)):
        steps.begin(course, LESSONS[0])
        assert course.at == 0 and course.own.answers == {}
        course.own.answers[0] = answer
        course.own.reached = all_reached()
        course.show(4)
        steps.go_on(course)
        assert course.own.counted == (counts, 1)
    steps.begin(course, LESSONS[0])
    again = Course()
    again.take(json.loads(json.dumps(course.plain())))
    assert again.progress[NAMES[0]].counted == GuessScore(1, 1)
    app = open_app("course.py")
    course_of(app).progress = again.progress
    app.run()
    assert "done · 1 of 1 guesses right" in texts(app)
    assert "Right guesses so far: 1 of 1." in texts(app)
    assert app.button(key=f"lesson_open_{NAMES[0]}").label == "Again"


@pytest.mark.parametrize("best", [[2, 1], [1, 99], [-1, 1], ["1", 1], [1], 7, [True, True]])
def test_a_forged_best_score_is_no_score(best: Any) -> None:
    kept = {"one-token": {"finished": True, "best": best}}
    assert read_progress(kept)["one-token"].counted == GuessScore()


def test_back_never_shows_a_step_whose_page_is_gone() -> None:
    course = Course()
    steps.begin(course, LESSONS[0])
    steps.enter(course, 2)
    course.show(3)
    steps.go_back(course)
    assert (course.at, course.begins_page) == (2, True)
    course.begins_page = False
    steps.go_back(course)
    assert (course.at, course.begins_page) == (0, True)
    steps.leave(course)
    assert course.lesson is None


def test_the_list_shows_each_lesson_with_its_way_and_score(open_app: Open) -> None:
    app = open_app("course.py")
    shown = texts(app)
    assert all(lesson.title in shown and lesson.summary in shown for lesson in LESSONS)
    assert app.button(key="course_go_on").label == f"Begin the course: {LESSONS[0].title}"
    course_of(app).progress[NAMES[0]] = LessonProgress(1, {0: Guess(0, right=True, judged=True)})
    app.run()
    assert "step 2 of 5 · 1 of 1 guesses right" in texts(app)
    assert app.button(key="course_go_on").label.startswith("Continue: ")
    app.button(key=f"lesson_open_{NAMES[0]}").click().run()
    assert panel_of(app)["place"] == "Step 1 of 5"


def test_a_file_of_a_stranger_is_text_alone(open_app: Open) -> None:
    file = json.dumps(
        {
            "title": HOSTILE,
            "minutes": 5,
            "summary": HOSTILE,
            "steps": [
                {
                    "page": "decode",
                    "say": HOSTILE,
                    "ask": {
                        "question": HOSTILE,
                        "fact": "tokens",
                        "choices": [{"words": HOSTILE, "is": 1}, {"words": "b", "least": 2}],
                    },
                }
            ],
        }
    )
    app = open_app("course.py")
    app.file_uploader(key="lesson_file").set_value(("own.yaml", file.encode(), "text/yaml")).run()
    assert not app.exception
    assert panel_of(app)["say"] == HOSTILE
    # A lesson from a file has no link.
    assert "lesson" not in app.query_params
    app.switch_page("course.py").run()
    drawn = [*app.title, *app.header, *app.subheader, *app.markdown, *app.caption]
    assert not [element.value for element in drawn if "onerror" in element.value]
    assert not [button.label for button in app.button if "onerror" in button.label]


def test_a_broken_file_is_one_sentence_on_the_page(open_app: Open) -> None:
    app = open_app("course.py")
    app.file_uploader(key="lesson_file").set_value(("own.yaml", b"title: [", "text/yaml")).run()
    assert "Line 1 of the lesson is not YAML" in texts(app)
    [shown] = [each for each in app.expander if "of your own" in each.label]
    assert shown.proto.expanded and "is not YAML" in " ".join(each.value for each in shown.text)
    assert course_of(app).lesson is None


def test_a_lesson_from_a_file_has_a_name_of_its_content() -> None:
    file = "title: Dice & luck!\nminutes: 5\nsummary: S\nsteps:\n  - {page: decode, say: a}\n"
    one, same, other = (
        named_by_content(read_lesson(text.encode(), OWN)).name
        for text in (file, f"# mine\n{file}", file.replace("say: a", "say: b"))
    )
    assert one == same != other and title_in(one) == title_in(other) == "Dice luck"
    assert title_in("dice") == "dice" and len(one) <= MOST_NAME


def test_the_documentation_has_a_lesson_and_lists_all_facts_and_places() -> None:
    written = (Path(__file__).parents[3] / "docs/lessons.md").read_text(encoding="utf-8")
    example = written.split("```yaml\n")[1].split("```")[0]
    assert len(checked(read_lesson(example.encode(), OWN)).steps) == 2
    facts, places = (
        dict(re.findall(r"(?m)^\| `(\w+)` \| (.*) \|$", part))
        for part in written.partition("## Facts")[2].split("## Places")
    )
    assert facts == {name: fact.meaning for name, fact in FACTS.items()}
    assert places == {name: place.meaning for name, place in PLACES.items()}


def played(open_app: Open) -> AppTest:
    """The first lesson, its first step done."""
    app = open_app(lesson="one-token")
    course_of(app).answer(0)
    app.run()
    settle(app.button(key="start").click().run(), "view")
    app.run()
    assert panel_of(app)["outcome"]
    return app


def test_a_reached_step_keeps_its_words_on_other_pages_and_after_other_runs(
    open_app: Open,
) -> None:
    app = played(open_app)
    kept = {name: panel_of(app)[name] for name in ("outcome", "reveal", "right")}
    app.number_input(key="tokens").set_value(3).run()
    settle(app.button(key="start").click().run(), "view").run()
    assert kept.items() <= panel_of(app).items()
    app.switch_page("beam.py").run()
    assert kept.items() <= panel_of(app).items() and panel_of(app)["elsewhere"] == "Decode"


def test_the_words_of_a_reached_step_survive_a_reload_and_its_run_is_repeated(
    open_app: Open,
) -> None:
    app = played(open_app)
    course, words = course_of(app), panel_of(app)["reveal"]
    again = Course()
    again.take(json.loads(json.dumps(course.plain())))
    steps.resume(again, LESSONS[0])
    assert again.reached == course.reached
    course.lesson = None
    steps.resume(course, LESSONS[0])
    settle(app.run(), "view").run()
    assert panel_of(app)["reveal"] == words
    assert app.session_state["view"].source == "run" and not course_of(app).resumes


def test_a_run_with_another_setting_does_not_end_a_step(open_app: Open) -> None:
    app = open_app(lesson="one-token")
    course_of(app).answer(0)
    app.number_input(key="tokens").set_value(3).run()
    settle(app.button(key="start").click().run(), "view").run()
    data = panel_of(app)
    assert data["different"] == "New tokens: 3 here, 1 in this step." and not data["reveal"]
    course_of(app).sets_again = True
    app.run()
    data = panel_of(app)
    assert (data["different"], data["reveal"]) == ("", "")
    assert app.number_input(key="tokens").value == 1
    settle(app.button(key="start").click().run(), "view").run()
    assert panel_of(app)["reveal"]


def test_a_slow_browser_s_former_setting_gives_way_to_the_step_s_once(open_app: Open) -> None:
    """A browser that polls while the step sets its controls sends what it has: the former value."""
    app = open_app(lesson="one-token", tokens="40")
    former = course_of(app).former["tokens"]
    app.number_input(key="tokens").set_value(int(former)).run()
    assert app.number_input(key="tokens").value == 1 and panel_of(app)["different"] == ""
    # Once the browser has returned the step's setting, the former one is the learner's.
    app.run()
    app.number_input(key="tokens").set_value(int(former)).run()
    assert panel_of(app)["different"] == f"New tokens: {former} here, 1 in this step."


def test_run_pressed_in_a_slow_browser_makes_the_run_of_the_step(open_app: Open) -> None:
    """It still has the setting of the step before, and sends it with the press and after it."""
    lesson = lesson_from(
        "{page: decode, set: {tokens: 3}, say: a}\n  - {page: decode, set: {tokens: 1}, say: b, "
        "do: c, point: run, wait: run, reveal: d}"
    )
    app = open_app()
    steps.begin(course_of(app), lesson)
    app.run().run()
    before = app._tree.get_widget_states()
    steps.go_on(course_of(app))
    app.run()
    press = app.button(key="start").click()._widget_state
    settle(app._run(WidgetStates(widgets=[*before.widgets, press])), "view")
    app._run(before)
    assert app.session_state["view"].trace.config.max_new_tokens == 1
    assert panel_of(app)["different"] == "" and panel_of(app)["reveal"] == "d"


def lesson_from(step: str) -> Lesson:
    return read_lesson(f"title: T\nminutes: 5\nsummary: S\nsteps:\n  - {step}\n".encode(), "t")


def test_a_step_without_its_fact_says_so_and_lets_the_learner_go_on(open_app: Open) -> None:
    lesson = lesson_from(
        "{page: decode, set: {tokens: 1, method: greedy}, say: a, do: b, point: run, wait: run, "
        "reveal: 'It took {rounds}.'}"
    )
    app = open_app()
    course_of(app).opened = lesson
    steps.begin(course_of(app), lesson)
    assert panel_of(app.run())["waits"]
    settle(app.button(key="start").click().run(), "view").run()
    data = panel_of(app)
    assert "The page Decode doesn't show how many rounds of draft and check" in data["reveal"]
    assert "(rounds), which this step needs" in data["reveal"] and data["lacks"]
    assert (data["waits"], data["next"], data["target"]) == (False, "Finish", "")
    steps.go_on(course_of(app))
    assert panel_of(app.run())["place"] == "Lesson finished"


def test_a_control_that_is_moved_outside_of_the_lab_ends_a_step(open_app: Open) -> None:
    lesson = lesson_from(
        "{page: decode, set: {tokens: 1}, say: a, do: b, point: tokens, wait: move, to: '>= 3'}"
    )
    app = open_app()
    steps.begin(course_of(app), lesson)
    assert panel_of(app.run())["waits"]
    app.number_input(key="tokens").set_value(2).run()
    assert panel_of(app)["waits"]
    app.number_input(key="tokens").set_value(4).run()
    assert not panel_of(app)["waits"] and course_of(app).reached


def test_a_lab_s_step_that_is_drawn_late_is_the_one_before_the_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    course = open_course(
        lesson_from(
            "{page: sampling, say: a, do: b, point: roll_again, wait: move, "
            "reveal: '{before.token} {token}'}"
        )
    )
    monkeypatch.setattr(steps, "_compare", lambda *_: None)
    for token, step, word in (("example", 1, "0"), ("first", 2, "0"), ("second", 3, "1")):
        mark = state.Mark((), 0, step, word)
        monkeypatch.setattr(steps, "showing", lambda *_, mark=mark: (PageFacts(), mark))
        monkeypatch.setattr(steps, "values", lambda *_, token=token: {"token": token})
        monkeypatch.setattr(steps, "_views", lambda _: [])
        steps.look(course)
    assert course.reached == state.Reached({"token": "second"}, {"token": "first"})


def test_after_the_last_step_come_the_score_and_the_next_lesson(open_app: Open) -> None:
    app = open_app(lesson="one-token")
    course = course_of(app)
    course.show(len(LESSONS[0].steps) - 1)
    steps.go_on(course)
    app.run()
    data = panel_of(app)
    assert (data["back"], data["next"]) == ("All lessons", "Next lesson")
    assert LESSONS[1].title in data["say"]
    steps.go_on(course)
    assert course.lesson is LESSONS[1] and not course.ended
    assert steps.next_lesson(LESSONS[-1]) is None


@pytest.mark.parametrize(("sessions", "longer"), [(1, 1.0), (20, 1.0), (50, 2.5)])
def test_the_panel_looks_often_only_where_a_step_waits_for_the_page(
    sessions: int, longer: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class of 50 with an open question asked for 80 panels a second, a whole core."""
    lesson = next(lesson for lesson in LESSONS if lesson.steps[0].ask)
    course = open_course(lesson)
    monkeypatch.setattr(Course, "current", lambda: course)
    monkeypatch.setattr(session, "connected", lambda: sessions)
    assert course.asks and panel._seconds() == 2.0 * longer
    course.own.answers[0] = Guess(0)
    assert panel._seconds() == pytest.approx(0.6 * longer)
