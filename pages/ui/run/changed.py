"""Controls that changed since the shown run: one rule for all pages.

A control counts if setting it alone back to the run's value would change the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from core.decoding.errors import DecodingError
from core.decoding.trace import Trace
from pages.ui.registry import Page
from pages.ui.run.request import RunControls
from pages.ui.run.view import View
from pages.ui.shell import address, sidebar
from pages.ui.widgets.control import Control, Menu, Read, row_of, value

_MOST_NAMED = 4
# The sidebar's that a page with questions of its own doesn't show.
_OF_PROMPT = frozenset({"prompt", "chat", "system"})


def controls_of(page: Page) -> RunControls:
    """The controls that make a page's run."""
    assert page.run_controls is not None
    controls: RunControls = page.run_controls.find()
    return controls


def said_of(view: View, trace: Trace, controls: RunControls) -> dict[str, Any]:
    """Return the controls' values for a run of the view, by key, as far as they reach."""
    said, asked = controls.said_by(trace) | {"system": ""}, view.asked
    if "decode" in view.jobs:
        asked = view.request
    if asked is not None:
        said |= {"prompt": asked.prompt, "chat": asked.chat}
        said["system"] = asked.system if asked.chat else ""
    for key, name in (("model", trace.model_id), (controls.draft, trace.draft_id)):
        row = row_of(key) if key and name else None
        if isinstance(row, Menu) and row.takes(row.in_address(name)):
            said[key] = name
    return said


def changed(page: Page, said: Mapping[str, Any]) -> Iterator[Control]:
    """The controls that now ask for another run than with these values, by key.

    Raises:
        DecodingError: the controls describe no run.
    """
    controls = controls_of(page)
    now = controls.request(value)
    hidden = _OF_PROMPT if page.own_prompt else frozenset[str]()
    for row in (*sidebar.ROWS, *controls.rows):
        if row.key in said and row.key not in hidden and said[row.key] != value(row.key):
            try:
                matters = controls.request(_with(row.key, said[row.key])) != now
            except DecodingError:
                matters = True
            if matters:
                yield row


def _with(changed: str, held: Any) -> Read:
    """Read the controls' values, with one of them replaced."""
    return lambda key: held if key == changed else value(key)


def note(view: View, page: Page) -> str:
    """A sentence that names the controls which ask for another run; empty where none does.

    Those that act on the run that is shown are left out.
    """
    if view.trace is None:
        return ""
    controls = controls_of(page)
    said = said_of(view, view.trace, controls)
    if view.asked is None:  # Models of a file or a link may not be what the controls load.
        said = {key: said[key] for key in controls.said_by(view.trace)}
    try:
        rows = list(changed(page, said))
    except DecodingError:
        return ""  # The page says what is wrong with the controls.
    labels = [row.label.partition(",")[0] for row in rows if row.key not in controls.acting]
    if len(labels) > _MOST_NAMED:
        labels[_MOST_NAMED - 1 :] = [f"{len(labels) - _MOST_NAMED + 1} more"]
    return f"Changed since this run: {', '.join(labels)}. Press Run." if labels else ""


def tell_address(view: object, page: Page) -> None:
    """Keep `run` in the address while the controls ask for the run that is shown or under way."""
    if not isinstance(view, View) or page.run_controls is None:
        return
    job = view.jobs.get("decode")
    if job is None and view.source in ("example", "none"):
        return  # A link's run waits for a press, or there is none.
    trace = view.trace if job is None else view.partial_trace(job)
    same = trace is not None and (job is not None or view.source == "run")
    try:
        said = said_of(view, trace, controls_of(page)) if same and trace is not None else {}
        same = same and next(changed(page, said), None) is None
    except DecodingError:
        same = False
    address.tell("run", "1" if same else None)
