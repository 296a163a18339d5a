"""The Class page and the pupils' line on every page, in sessions of their own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.testing.v1 import AppTest

from pages.ui import platform
from pages.ui.classroom import membership, page, state
from pages.ui.classroom.membership import Membership
from pages.ui.classroom.refusals import ENDED, MOST_PUPILS, NO_CLASS, RELEASED
from pages.ui.classroom.rooms import Rooms
from tests.ui.conftest import Open
from tests.ui.knobs import trigger
from tests.ui.seen import data_of, specs, texts

NEXT = ("dice", "2")


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch) -> Rooms:
    """A store of the test's own, in place of the process's."""
    made = Rooms()
    for module in (membership, page, state):
        monkeypatch.setattr(module, "ROOMS", made)
    for name in ("controls", "lessons"):
        monkeypatch.setattr(f"pages.ui.classroom.{name}.ROOMS", made)
    return made


@pytest.fixture
def teacher(open_app: Open) -> AppTest:
    """A teacher's page with an open class."""
    app = open_app("classroom.py")
    app.button(key="open_class").click().run()
    assert not app.exception
    return app


def key_of(app: AppTest) -> str:
    """Return the secret key of a teacher's session."""
    return str(app.session_state["class-view"].key_of_class)


def code_of(app: AppTest) -> str:
    """Return the code on a teacher's page."""
    [code] = [e.proto.body for e in app.get("html") if '"de-code"' in e.proto.body]
    return str(code.partition('"de-code">')[2].partition("<")[0])


def pupil(open_app: Open, code: str, script: str = "decode.py") -> AppTest:
    """Return a pupil's page, opened by the link of the class in a browser that is new to it."""
    app = tell(open_app(script, **{"class": code}), "pupil", "")
    assert not app.exception
    return app


def guess(app: AppTest, choice: int, right: int | None = None) -> None:
    """Answer as the panel of a lesson does, which tells the right answer after its run."""
    for known in dict.fromkeys((None, right)):
        app.session_state["membership"].answer(*NEXT, choice, known)


def refresh(app: AppTest) -> AppTest:
    assert not app.run().exception
    return app


def bars(app: AppTest) -> list[float]:
    [figure] = specs(app)
    return list(figure["data"][0]["x"])


def kept(app: AppTest, item: str) -> Iterator[dict[str, Any]]:
    for _, data in data_of(app, "keeper"):
        if data["item"].endswith(item):
            yield data


def tell(app: AppTest, item: str, secret: str) -> AppTest:
    """Run the app as the browser has it run when it has kept a secret."""
    states = app._tree.get_widget_states()
    [name] = [n for n, data in data_of(app, "keeper") if data["item"].endswith(item)]
    states.widgets.append(WidgetState(id=name, json_value=json.dumps({"kept": secret})))
    return app._run(states)


def test_a_class_is_opened_joined_and_its_guesses_are_drawn(
    teacher: AppTest, open_app: Open, store: Rooms
) -> None:
    code = code_of(teacher)
    assert key_of(teacher) not in teacher.main.__repr__()
    assert "0 pupils in the class" in texts(teacher) and page.WAITING in texts(teacher)
    one, other = pupil(open_app, code), pupil(open_app, code.lower(), "beam.py")
    assert f"You are in class {code}" in texts(one) and f"class {code}" in texts(other)
    guess(one, 1)
    guess(other, 0)
    refresh(teacher)
    assert "2 pupils in the class" in texts(teacher) and bars(teacher) == [0.5, 0.5]
    guess(one, 0)
    assert bars(refresh(teacher)) == [1.0, 0.0]
    assert store.counts(code, *NEXT) == {0: 2}


def test_the_right_answer_waits_for_its_button(teacher: AppTest, open_app: Open) -> None:
    one = pupil(open_app, code_of(teacher))
    guess(one, 0, right=1)
    hidden = json.dumps(specs(refresh(teacher)))
    assert "✓" not in hidden and "right answer" not in hidden
    teacher.button(key="reveal_answer").click().run()
    assert "✓" in json.dumps(specs(teacher), ensure_ascii=False)
    teacher.button(key="reveal_answer").click().run()
    assert "✓" not in json.dumps(specs(teacher), ensure_ascii=False)
    teacher.button(key="reveal_answer").click().run()
    teacher.button(key="clear_guesses").click().run()
    assert page.WAITING in texts(teacher)
    guess(one, 1)
    assert "✓" not in json.dumps(specs(refresh(teacher)), ensure_ascii=False)


def test_runs_with_other_settings_are_named(teacher: AppTest, open_app: Open) -> None:
    code = code_of(teacher)
    for right in (1, 1, 0):
        guess(pupil(open_app, code), 0, right)
    refresh(teacher).button(key="reveal_answer").click().run()
    assert "In 2 of 3 runs of your pupils answer 2 is right" in texts(teacher)


def test_the_teacher_turns_to_any_question(teacher: AppTest, open_app: Open) -> None:
    one = pupil(open_app, code_of(teacher))
    for name in ("10", "4"):
        one.session_state["membership"].answer("dice", name, 0)
    one.session_state["membership"].answer("beams", "1", 1)
    refresh(teacher)
    assert "beams, question 1" in json.dumps(specs(teacher))
    teacher.selectbox(key="class_lesson").select("dice").run()
    assert "dice, question 1" in json.dumps(specs(teacher))
    assert teacher.button(key="class_to_chevron_left").disabled
    teacher.button(key="class_to_chevron_right").click().run()
    assert "dice, question 2" in json.dumps(specs(teacher))
    assert teacher.query_params["question"] == "10"
    assert teacher.query_params["class_lesson"] == "dice"
    assert teacher.button(key="class_to_chevron_right").disabled


def test_a_reload_finds_the_teacher_s_class_again(
    teacher: AppTest, open_app: Open, store: Rooms
) -> None:
    code, key = code_of(teacher), key_of(teacher)
    assert [data["value"] for data in kept(teacher, "teacher")] == [key]
    fresh = open_app("classroom.py")
    assert [data["value"] for data in kept(fresh, "teacher")] == [""]
    tell(fresh, "teacher", key)
    assert code_of(fresh) == code
    stranger = open_app("classroom.py")
    tell(stranger, "teacher", code)
    assert stranger.button(key="open_class") and store.room(key)


def test_a_page_that_is_left_at_once_leaves_no_pupil(
    teacher: AppTest, open_app: Open, store: Rooms
) -> None:
    """It joined as another pupil before the browser had said which one it was."""
    code = code_of(teacher)
    one = pupil(open_app, code)
    [before] = kept(one, "pupil")
    again = open_app(**{"class": code})
    assert store.tally(code).pupils == 1
    tell(again, "pupil", before["value"])
    assert f"You are in class {code}" in texts(again) and store.tally(code).pupils == 1


def test_a_reload_is_the_same_pupil(teacher: AppTest, open_app: Open, store: Rooms) -> None:
    code = code_of(teacher)
    one = pupil(open_app, code)
    guess(one, 1)
    [before] = kept(one, "pupil")
    again = pupil(open_app, code)
    tell(again, "pupil", before["value"])
    guess(again, 0)
    assert store.counts(code, *NEXT) == {0: 1} and store.tally(code).pupils == 1
    forged = pupil(open_app, code)
    tell(forged, "pupil", f"{code} forged")
    assert store.tally(code).pupils == 2
    assert forged.session_state["membership"].pupil != "forged"


@pytest.mark.parametrize("script", ["course.py", "decode.py", "sampling.py", "home.py"])
def test_each_page_finds_the_class_of_the_browser_without_a_link(
    teacher: AppTest, open_app: Open, store: Rooms, script: str
) -> None:
    code = code_of(teacher)
    [before] = kept(pupil(open_app, code), "pupil")
    again = open_app(script)
    assert "You are in class" not in texts(again)
    hand_over(again, before["value"])
    assert f"You are in class {code}" in texts(again) and store.tally(code).pupils == 1
    assert again.query_params["class"] == code
    again.button(key="leave_class").click().run()
    assert "You are in class" not in texts(again) and "class" not in again.query_params
    # The browser forgets it.
    assert [data["value"] for data in kept(again, "pupil")] == [""]
    late = open_app(script)
    hand_over(late, before["value"])
    assert "You are in class" not in texts(late) and not late.exception
    assert [data["value"] for data in kept(late, "pupil")] == [""]


@pytest.mark.parametrize("stored", ["", "BBBB-2222", "BBBB-2222 x", "x" * 5000, "\ud800 \ud800"])
def test_what_a_browser_has_stored_is_no_way_in(open_app: Open, stored: str) -> None:
    app = hand_over(open_app(), stored)
    assert "class" not in texts(app) and not app.exception


def hand_over(app: AppTest, stored: str) -> AppTest:
    """Run the app as the browser does, which tells what it has stored on an earlier visit."""
    return trigger(app, "prepared", "stored", stored)


@pytest.mark.parametrize(("host", "count"), [("192.168.1.20", 1), ("localhost", 0)])
def test_a_qr_code_never_names_the_teacher_s_own_computer(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, host: str, count: int
) -> None:
    monkeypatch.setattr(page.session, "browser_url", lambda: f"http://{host}:8501/class")
    app = open_app("classroom.py")
    app.button(key="open_class").click().run()
    html = [element.proto.body for element in app.get("html")]
    assert len([body for body in html if "QR code of" in body]) == count
    assert any(page.ONLY_HERE in body for body in html) is not bool(count)


def test_who_leaves_is_not_joined_again_by_the_address(
    teacher: AppTest, open_app: Open, store: Rooms
) -> None:
    code = code_of(teacher)
    one = pupil(open_app, code)
    assert one.query_params["class"] == code
    guess(one, 1)
    one.button(key="leave_class").click().run()
    assert "You are in class" not in texts(one) and "class" not in one.query_params
    one.query_params["class"] = code
    assert "You are in class" not in texts(refresh(one))
    assert store.tally(code).pupils == 0 and store.counts(code, *NEXT) == {}
    guess(one, 1)
    assert store.counts(code, *NEXT) == {}


def test_a_pupil_s_open_page_says_that_the_class_is_over(
    teacher: AppTest, open_app: Open, store: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    polled: list[Any] = []
    poll = platform.poll
    monkeypatch.setattr(
        platform, "poll", lambda draw, seconds: polled.append(draw) or poll(draw, seconds)
    )
    one = pupil(open_app, code_of(teacher))
    [line] = [draw for draw in polled if draw.__module__ == membership.__name__]
    own = one.session_state["membership"]
    reruns: list[None] = []
    monkeypatch.setattr(membership.st, "rerun", lambda: reruns.append(None))
    line(own)
    assert reruns == []
    store.end(key_of(teacher))
    line(own)
    assert reruns == [None]


def test_a_pupil_who_was_away_reads_another_sentence_than_the_end(
    teacher: AppTest, open_app: Open, store: Rooms
) -> None:
    code = code_of(teacher)
    one = pupil(open_app, code)
    store.leave(code, one.session_state["membership"].pupil)
    assert RELEASED in texts(refresh(one)) and ENDED not in texts(one)
    assert "class" not in one.query_params


def test_the_end_is_told_to_both(teacher: AppTest, open_app: Open, store: Rooms) -> None:
    code = code_of(teacher)
    one, other = pupil(open_app, code), pupil(open_app, code)
    teacher.button(key="end_class_now").click().run()
    assert teacher.button(key="open_class") and store.tally(code).pupils == 0
    assert ENDED in texts(refresh(one))
    one.button(key="close_class").click().run()
    assert ENDED not in texts(one)
    guess(other, 0)
    assert ENDED in texts(refresh(other))


def test_a_code_may_be_typed_and_a_wrong_one_is_told(
    teacher: AppTest, open_app: Open, store: Rooms
) -> None:
    code = code_of(teacher)
    one = open_app("classroom.py")
    one.text_input(key="class_code").set_value("BBBB-2222")
    _join(one)
    assert NO_CLASS in texts(one)
    one.text_input(key="class_code").set_value(f" {code.lower().replace('-', ' ')} ")
    _join(one)
    assert f"You are in class {code}" in texts(one) and store.tally(code).pupils == 1
    full = [store.join(code, str(at)) for at in range(MOST_PUPILS - 1)]
    assert len(full) == MOST_PUPILS - 1
    assert "The class is full" in texts(pupil(open_app, code))


def _join(app: AppTest) -> None:
    [button] = [each for each in app.button if each.proto.is_form_submitter]
    button.click().run()
    assert not app.exception


def test_a_session_without_a_class_sees_nothing_of_it(open_app: Open) -> None:
    app = open_app("decode.py")
    assert "membership" not in app.session_state and not list(kept(app, "pupil"))


def test_too_many_classes_are_refused_in_a_sentence(open_app: Open) -> None:
    app = open_app("classroom.py")
    for _ in range(3):
        app.button(key="open_class").click().run()
        app.button(key="end_class_now").click().run()
    app.button(key="open_class").click().run()
    assert "wait a minute" in texts(app) and not app.exception


def test_a_lesson_s_former_guesses_are_sent_after_the_joining(
    teacher: AppTest, open_app: Open, store: Rooms
) -> None:
    code = code_of(teacher)
    one = open_app("decode.py", lesson="one-token")
    course = one.session_state["course"]
    course.answer(1)
    one.session_state["membership"] = Membership(handled=code)
    one.session_state["membership"].join(code)
    refresh(one)
    assert store.counts(code, "one-token", "0") == {1: 1}
    store.clear(key_of(teacher), "one-token", "0")
    course.judge(None)
    refresh(one)
    assert store.counts(code, "one-token", "0") == {}
