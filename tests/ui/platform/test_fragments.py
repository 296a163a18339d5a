"""Parts of a page that are rerun by themselves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.testing.v1 import AppTest, app_test

from pages.ui.platform import fragments


def test_a_part_asks_anew_how_often_it_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[float] = []

    def fragment(part: Callable[..., None], run_every: float) -> Callable[..., None]:
        sent.append(run_every)
        return part

    monkeypatch.setattr(st, "fragment", fragment)
    monkeypatch.setattr(fragments, "_set_interval", sent.append)
    drawn: list[Any] = []
    intervals = iter((0.15, 0.15, 0.6, 0.6, 0.15))
    part = fragments.poll(drawn.append, lambda: next(intervals))
    for turn in range(4):
        part(turn)
    assert sent == [0.15, 0.6, 0.15] and drawn == [0, 1, 2, 3]


def _page_with_a_file() -> None:
    import streamlit as st

    from pages.ui.platform import fragments

    def offer() -> None:
        st.download_button("A file", lambda: b"content", "file.txt", on_click="ignore")

    fragments.reset()
    fragments.part(lambda: None, key="other")()
    fragments.part(offer, key="offered")()
    st.button("Other", on_click=lambda: fragments.rerun("other"))
    fragments.mark_ready()


def test_a_file_is_there_still_when_another_part_was_drawn_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = MediaFileManager(MemoryMediaFileStorage("/media"))

    class Table(defaultdict[str, dict[str, str]]):
        def __setitem__(self, session: str, offered: dict[str, str]) -> None:
            assert files._lock.locked(), "another session's script may be walking the table"
            super().__setitem__(session, offered)

    files._files_by_session_and_coord = Table(dict)
    monkeypatch.setattr(app_test, "MediaFileManager", lambda _: files)
    app = AppTest.from_function(_page_with_a_file).run()
    offered = app.get("download_button")[0].proto.deferred_file_id
    app.button[0].click().run()
    assert not app.get("download_button")  # The other part alone was drawn.
    assert files.execute_deferred(offered)


def _page_of_parts() -> None:
    import streamlit as st

    from pages.ui.platform import fragments, guard

    told = st.session_state.setdefault("told", [])

    def part(name: str) -> None:
        if st.session_state.get("cut") == name:
            st.session_state["cut"] = ""
            st.stop()
        told.append(name)

    guard.guard_callbacks(fragments.reset)
    told.append("mounted" if "fragments_mounted_on" in st.session_state else "page")
    fragments.reset()
    for name in ("one", "two"):
        fragments.part(part, key=name)(name)
        st.button(name, on_click=fragments.rerun, args=(name,))
    st.button("whole", on_click=lambda: None)
    fragments.mark_ready()


def test_a_part_that_was_cut_off_is_drawn_with_the_next_one() -> None:
    app = AppTest.from_function(_page_of_parts).run()
    app.session_state["told"].clear()
    app.session_state["cut"] = "one"
    app.button[0].click().run()
    assert app.session_state["told"] == [] and app.session_state["fragments_owed"] == {"one"}
    # Pressed on a page that was drawn: a rerun of parts alone leaves `AppTest` no buttons.
    app = AppTest.from_function(_page_of_parts).run()
    app.session_state["told"].clear()
    app.session_state["fragments_owed"] = {"one", "gone"}
    app.button[1].click().run()
    assert sorted(app.session_state["told"]) == ["one", "two"]
    assert app.session_state["fragments_owed"] == {"gone"}


def test_after_a_callback_of_the_whole_page_no_part_is_drawn_alone() -> None:
    """The next request may come before the page's run has begun."""
    app = AppTest.from_function(_page_of_parts).run()
    app.session_state["told"].clear()
    app.button[2].click().run()
    assert app.session_state["told"][0] == "page"
