"""Link that repeats the shown run, and the settings that such a link can't carry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.decoding.config import MethodConfig
from core.decoding.errors import DecodingError
from core.decoding.record.trace import Trace
from core.figures.base.labels import named_setting, settings_caption, visible_token
from core.language import tr
from core.models.hub_id import pinned
from core.server.settings import settings
from pages.ui import platform, registry
from pages.ui.registry import Page
from pages.ui.run import shared
from pages.ui.run.changed import changed, control_values_of, controls_of, differences
from pages.ui.run.request import RunControls, given_tokens
from pages.ui.run.view import View
from pages.ui.widgets.controls import figure_choices
from pages.ui.widgets.controls.control import Control, Text, row_of, value
from pages.ui.widgets.controls.options import Menu

_SHOWN = 60


@dataclass(frozen=True)
class RunLink:
    """A link to a run.

    Args:
        parameters: values by the controls' names in the address; None for a name left out.
        whole: the same with default values, so that the run doesn't depend on the defaults.
        which: the run in words.
        lost: a sentence about the settings that the link can't carry; empty if there are none.
        changed: the controls' current values make another run.
    """

    parameters: dict[str, str | None]
    which: str
    lost: str
    changed: bool
    whole: dict[str, str]


def link_to(view: View, trace: Trace, page: Page | None = None) -> RunLink | None:
    """Return the link to the run that a page shows; None if the address alone identifies it.

    Args:
        page: the page that shows it; by default the page of its method.
    """
    page = page or registry.page_of(trace.config.method)
    if not page.links_runs:
        return None
    controls = controls_of(page)
    values = control_values_of(view, trace, controls)
    lost = _lost(view, trace, controls, values)
    values |= {row.key: value(row.key) for row in figure_choices.ROWS}
    rows = controls.by_key

    def read(key: str) -> Any:
        return values[key] if key in values else row_of(key).default

    try:
        config = controls.config(read)
        lost += _differences(trace.config, config, rows)
    except DecodingError as error:
        config = None
        lost.append(error.shown)
    given_ids = given_tokens(trace)
    carried = bool(controls.given) and row_of(controls.given).of_address(given_ids) == given_ids
    if given_ids and not carried:
        lost.append(tr("the tokens that were given"))
    if view.shown_request and view.shown_request.dtype:
        lost.append(tr("the number type {dtype}", dtype=view.shown_request.dtype))
    words = tr("This link can't carry: {lost}.", lost=tr("; ").join(lost)) if lost else ""
    parameters = {key: parameter(row, read(key)) for key, row in rows.items()}
    for key, name, revision in (
        ("model", trace.model_id, trace.model_revision),
        (controls.draft, trace.draft_id, trace.draft_revision),
    ):
        if parameters.get(key) == name and name not in settings().models:
            parameters[key] = pinned(name, revision)
    if given_ids and carried:
        parameters[controls.given] = given_ids
    is_other = config is None or _is_changed(page, values)
    whole = {key: parameters[key] or row.in_address(read(key)) for key, row in rows.items()}
    whole |= {controls.given: given_ids} if given_ids and carried else {}
    named = {platform.key(key): word for key, word in parameters.items()}
    whole = {platform.key(key): word for key, word in whole.items() if word}
    return RunLink(named, settings_caption(trace), words, is_other, whole)


def _lost(view: View, trace: Trace, controls: RunControls, values: dict[str, Any]) -> list[str]:
    """Return the parts of a run's model, draft and prompt that the controls can't hold."""
    lost: list[str] = []
    if view.shown_request is None or view.shown_request.ids is not None:
        if trace.rendered_prompt not in ("", trace.prompt):
            lost.append(tr("the messages of its chat (the link sends the prompt as it is)"))
        if trace.prompt != values["prompt"]:
            lost.append(tr("the prompt beyond {most:,} characters", most=shared.MAX_PROMPT))
    for key, name in (("model", trace.model_id), (controls.draft, trace.draft_id)):
        row = row_of(key) if key and name else None
        if isinstance(row, Menu) and not row.takes(row.in_address(name)):
            lost.append(
                tr(
                    "the {control} {name}",
                    control=tr(row.label).lower(),
                    name=visible_token(name, _SHOWN),
                )
            )
    return lost


def _differences(ran: MethodConfig, linked: MethodConfig, rows: dict[str, Control]) -> list[str]:
    """Return the settings of the run that the controls can't hold, with their values."""
    return [_labelled(name, held, rows) for name, held in differences(ran, linked)]


def _labelled(field: str, held: Any, rows: dict[str, Control]) -> str:
    row = next((row for row in rows.values() if row.field == field), None)
    plain = field.removeprefix("shaping.")
    return named_setting(plain, held, _SHOWN, row.name if row else "")


def parameter(row: Control, held: Any) -> str | None:
    """Return a control's value as the address writes it; None if the address omits it."""
    if held == row.default or (isinstance(row, Text) and not held):
        return None
    return row.in_address(held)


def _is_changed(page: Page, values: dict[str, Any]) -> bool:
    """Return whether Run would make another run than the link."""
    try:
        return next(changed(page, values), None) is not None
    except DecodingError:
        return True
