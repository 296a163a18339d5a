"""Controls that changed since the shown run: one rule for all pages.

A control counts if setting it alone back to the run's value would change the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

from core.decoding.config import MethodConfig
from core.decoding.errors import DecodingError
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import SETTINGS
from core.figures.base.labels import named_setting
from core.language import tr
from pages.ui.platform import slot
from pages.ui.registry import Page
from pages.ui.run import address, cost, named_run, shared
from pages.ui.run.request import Request, RunControls, given_tokens
from pages.ui.run.view import View
from pages.ui.widgets.controls.control import Control, Read, row_of, value
from pages.ui.widgets.controls.options import Menu

_MOST_NAMED = 4
_SHOWN = 60
# Settings of recording and computing, which change no token of a run.
_NOT_THE_RUN = {"shaping", "top_candidates", "use_cache"}
# Keys of the sidebar's controls that a page with its own questions doesn't show.
_OF_PROMPT = frozenset({"prompt", "chat", "system"})


def controls_of(page: Page) -> RunControls:
    """Return the controls that make a page's run."""
    assert page.run_controls is not None
    controls: RunControls = page.run_controls.find()
    return controls


def control_values_of(view: View, trace: Trace, controls: RunControls) -> dict[str, Any]:
    """Return the controls' values for a run of the view, by key, as far as they can hold them."""
    values, request = controls.control_values(trace) | {"system": ""}, view.shown_request
    if "decode" in view.jobs:
        request = view.request
    if request is not None:
        values |= {"prompt": request.prompt, "chat": request.chat}
        values["system"] = request.system if request.chat else ""
    for key, name in (("model", trace.model_id), (controls.draft, trace.draft_id)):
        row = row_of(key) if key and name else None
        if isinstance(row, Menu) and row.takes(row.in_address(name)):
            values.setdefault(key, name)
    return values


def changed(page: Page, values: Mapping[str, Any]) -> Iterator[Control]:
    """Yield the controls whose current value makes another run than the given one, by key.

    Raises:
        DecodingError: the controls describe no run.
    """
    controls = controls_of(page)
    now = controls.request(value)
    hidden = _OF_PROMPT if page.own_prompt else frozenset[str]()
    for row in controls.by_key.values():
        if row.key in values and row.key not in hidden and values[row.key] != value(row.key):
            try:
                matters = controls.request(_with(row.key, values[row.key])) != now
            except DecodingError:
                matters = True
            if matters:
                yield row


def differences(ran: MethodConfig, compared: MethodConfig) -> list[tuple[str, Any]]:
    """Return the fields of a run's config that affect its tokens and differ in another config."""
    draws = bool(getattr(ran, "draws", ran.can_draw))
    names = [row.name for row in fields(ran) if row.name not in _NOT_THE_RUN]
    settings = {name: getattr(ran, name) for name in names if draws or name != "seed"}
    differing = [
        (name, held) for name, held in settings.items() if held != getattr(compared, name, None)
    ]
    then, now = (
        config.shaping if draws else config.shaping.penalties_only() for config in (ran, compared)
    )
    differing += [
        (f"shaping.{name}", getattr(then, name))
        for name in SETTINGS
        if getattr(then, name) != getattr(now, name)
    ]
    return differing


def _with(changed: str, held: Any) -> Read:
    """Read the controls' values, with one of them replaced."""
    return lambda key: held if key == changed else value(key)


def note(view: View, page: Page) -> str:
    """Return a sentence that names the controls changed since the shown run; empty without any.

    Controls that act on the shown run itself are left out. If no control has changed, the sentence
    names the settings of a run from another page that no control here sets.
    """
    if view.trace is None:
        return ""
    controls = controls_of(page)
    values = control_values_of(view, view.trace, controls)
    # The controls may load another model than a file or a link names.
    if view.shown_request is None:
        values = {key: values[key] for key in controls.control_values(view.trace)}
    try:
        rows = list(changed(page, values))
    except DecodingError:
        return ""  # The page shows the controls' error.
    labels = [row.name for row in rows if row.key not in controls.acting]
    if len(labels) > _MOST_NAMED:
        labels[_MOST_NAMED - 1 :] = [tr("{number} more", number=len(labels) - _MOST_NAMED + 1)]
    if labels:
        return tr("Changed since this run: {labels}. Press Run.", labels=tr(", ").join(labels))
    if view.source != "run":
        return ""
    lacking = _beyond(view.shown_request, view.trace, controls, values)
    words = tr(", ").join(_in_words(name, held) for name, held in lacking[:_MOST_NAMED])
    return (
        tr("No control here sets this run's {settings}: Run makes another.", settings=words)
        if words
        else ""
    )


def _beyond(
    made_by: Request | None, trace: Trace, controls: RunControls, values: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Return the settings of a run from another page that the controls lack, with their values."""
    request = controls.request(lambda key: values[key] if key in values else value(key))
    return [] if made_by == request else differences(trace.config, request.config)


def _in_words(field: str, held: Any) -> str:
    return named_setting(field.removeprefix("shaping."), held, _SHOWN)


def write_addresses(page: Page) -> None:
    """Keep `run` in the address for all runs of a page, or for none of several: a link that
    repeats some of them would show those beside another run.
    """
    places, linked = shared.slots(page.slots), []
    for place in places:
        with slot.use(place):
            linked.append(write_address(page.view(), page))
    for place in places if not all(linked) else ():
        with slot.use(place):
            address.write("run", None)


def write_address(view: object, page: Page) -> bool:
    """Keep `run` in the address, so that a reload makes the run again that is shown or under way.

    Return False if the view shows a run that the address can't name.
    """
    if not isinstance(view, View) or page.run_controls is None:
        address.write("run", None)  # No link runs anything on this page.
        return True
    job, stored = view.jobs.get("decode"), view.source in ("example", "none")
    if job is None and view.failures.get("decode"):
        address.write("run", None)
        return stored
    if job is None and stored:
        return True  # A link's run waits for a press, or there is none.
    trace = view.trace if job is None else view.partial_trace(job)
    request = view.shown_request if job is None else view.request
    # No control names a number type.
    made_here = (job is not None or view.source == "run") and not (request and request.dtype)
    word = ""
    if trace is not None and made_here:
        with suppress(DecodingError):  # The controls may describe no run.
            word = named_run.OF_THE_CONTROLS if _is_of_the_controls(view, trace, page) else ""
        with suppress(DecodingError):
            word = word or _word_of_another(view, trace, page)
    address.write("run", word or None)
    return bool(word)


def _word_of_another(view: View, trace: Trace, page: Page) -> str:
    """Return the word by which the address names a run that the controls don't make any more; empty
    if it can't.
    """
    controls = controls_of(page)
    request = view.request if "decode" in view.jobs else view.shown_request
    # Given tokens belong to the controls that the address names beside them.
    if request is None or request.fork is not None or given_tokens(trace):
        return ""
    rows, values = controls.by_key, control_values_of(view, trace, controls)
    moved = {key: held for key, held in values.items() if key in rows and held != value(key)}
    made = controls.request(lambda key: moved[key] if key in moved else value(key))
    same = made == request or (
        replace(made, config=request.config) == request
        and not differences(trace.config, made.config)
    )
    starts = named_run.starts_by_itself([made], cost.tokens_of(made.config))
    return named_run.word_for(moved, rows) if same and starts else ""


def _is_of_the_controls(view: View, trace: Trace, page: Page) -> bool:
    """Return whether Run would make this run again."""
    controls = controls_of(page)
    request = view.request if "decode" in view.jobs else view.shown_request
    # An unfinished run doesn't know yet the token ids that its settings name.
    if request == controls.request(value):
        return True
    values = control_values_of(view, trace, controls)
    return not any(changed(page, values)) and not _beyond(request, trace, controls, values)
