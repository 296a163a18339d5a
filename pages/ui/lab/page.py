"""The sampling lab as it is drawn: the step, its stages, the dice, and what else to look at."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import streamlit as st

from core import figures
from core.decoding.counting import nth, place_of
from core.decoding.errors import DecodingError
from core.decoding.lab.types import LabStep
from core.export.part import Part, of_figure
from core.figures.base.labels import stage_name, visible_token
from core.figures.lab.words import lab_caption
from core.language import N_, tr
from pages.ui import platform
from pages.ui.decode.state import DecodeView
from pages.ui.lab import controls, save, step_picker, tabs, work
from pages.ui.lab import state as lab_state
from pages.ui.lab.controls import LabSettings
from pages.ui.lab.state import Lab, StepRef
from pages.ui.run import address
from pages.ui.run.display import go_on, later, panel
from pages.ui.run.figures import figure
from pages.ui.run.figures.token_strip import ending
from pages.ui.shell import glossary
from pages.ui.widgets import ahead
from pages.ui.widgets.controls import control, knob_rows
from pages.ui.widgets.controls.config_fields import moved
from pages.ui.widgets.controls.control import in_words, value

_TEXT_SHOWN = 280
_TURN_SECONDS = 0.01
LOOKS = "lab-looks"
NO_TEXT = N_("The prompt is empty. Write a few words in the sidebar, or pick a step of the run.")
OTHER_STEP = N_("There is no such step; the figures below show the previous one.")
_NOTICE = N_(
    "## What to notice\n\n"
    "- Temperature moves mass and removes nothing; a filter removes tokens and shares their mass "
    "out among those that are left.\n"
    "- Move a knob: the number stays where it is and the bar moves under it. The token flips only "
    "when the edge of its piece passes the number.\n"
    "- Switch the order with a temperature far from 1 and top-p on: where temperature comes last, "
    "top-p counts the model's own probabilities, so another number of tokens is left."
)


def draw(lab: Lab, view: DecodeView) -> None:
    """Everything below the controls."""
    failures = st.container()
    with st.container(key=platform.key("lab-step"), border=True, gap="small"):
        # Before the step is looked up: what the address says is known once this is drawn.
        head = _step_head(lab, view)
        ref = lab_state.step_ref(lab, view)
        address.write("ids", lab_state.link_ids(lab, view, ref))
        lab.requested.clear()
        lab.loadable = lab_state.may_load(lab, view, ref)
        failure, settings, step = _step(lab, ref)
        if settings is not None and step is not None:
            with head, st.container(key=platform.key("lab-save"), width="content"):
                platform.part(save.menu, key=panel.SAVE)(lab, ref, settings, step)
            platform.part(_words, key=controls.WORDS)(lab, ref)
        elif failure:
            st.text(tr(OTHER_STEP))
        elif not lab.loadable:
            _ask_to_load(lab, ref, proof="")
        elif lab.shown is not None:
            with _in_place():
                _step_words(lab.shown, tr("Reading this step…"))
    with failures:
        again = lab.try_again if lab.error("logits") else None
        panel.failure(failure or lab.failure, again=again)
    if lab.shown is None or settings is None:
        _go_on(lab)
    elif step is None:
        with _in_place():
            _draw_figures(lab, ref, settings, lab.shown)
    else:
        platform.part(_figures, key=controls.FIGURES)(lab, ref)
        platform.mark_ready()


def _in_place() -> st.delta_generator.DeltaGenerator:
    """A fragment's place: figures that stay are not drawn anew when one takes over."""
    return st.container()


def _words(lab: Lab, ref: StepRef) -> None:
    """Draw the text above the figures."""
    settings, step = _still(lab, ref)
    proof = work.proof(lab, ref, settings, step)
    if not lab.loadable:
        _ask_to_load(lab, ref, proof)
    words = _outcome(lab, step)
    _step_words(step, f"{proof} · {words}" if proof else words)


def _figures(lab: Lab, ref: StepRef) -> None:
    lab.requested.clear()
    _draw_figures(lab, ref, *_still(lab, ref))


def _still(lab: Lab, ref: StepRef) -> tuple[LabSettings, LabStep]:
    """The step, under the controls as they are now; the page begins again where it is gone."""
    _, settings, step = _step(lab, ref)
    if settings is None or step is None:
        st.rerun()
    return settings, step


def _step(lab: Lab, ref: StepRef) -> tuple[str, LabSettings | None, LabStep | None]:
    """Why there is no step; the settings; the step where there is one."""
    try:
        settings = controls.settings()
    except DecodingError as error:
        return in_words(error), None, None
    lab.stop_outdated(work.key_of(ref, settings))
    if ref.ids is None and not ref.prompt.strip():
        return tr(NO_TEXT), settings, None
    if not work.is_example(lab, ref, settings) and not lab.loadable:
        return "", settings, None
    try:
        step = work.step(lab, ref, settings)
    except DecodingError as error:
        return in_words(error), settings, None
    failure = lab.error("logits") or lab.error("grammar")
    return (failure if step is None else ""), settings, step


def _step_head(lab: Lab, view: DecodeView) -> st.delta_generator.DeltaGenerator:
    """Draw the choice of the step; return its row, where further controls go."""
    row = st.container(
        key=platform.key("lab-step-head"), horizontal=True, vertical_alignment="center", gap="small"
    )
    with row:
        control.draw("at", label_visibility="collapsed")
        if value("at") == "run":
            _choose_step(lab, view)
    return row


def _step_words(shown: LabStep, words: str) -> None:
    """The text before the step, and what the dice say."""
    st.text(ending(shown.text_before, _TEXT_SHOWN), width="stretch")
    with st.container(key=platform.key("lab-outcome")):
        st.text(words, width="stretch")


def _ask_to_load(lab: Lab, ref: StepRef, proof: str) -> None:
    otherwise = (
        tr(
            "{model} is not built in: the file alone proves no figure, and knobs need the model.",
            model=ref.model,
        )
        if proof
        else tr(
            "{model} is not built in: the figures show another step until it is loaded.",
            model=ref.model,
        )
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            tr("Load the model"),
            key=platform.key("load_model"),
            icon=":material/download:",
            on_click=_load,
            args=(lab, ref.model),
        )
        st.text(otherwise)


def _load(lab: Lab, model: str) -> None:
    lab.allow(model)
    st.rerun()


def _outcome(lab: Lab, step: LabStep) -> str:
    """Describe the drawn token; plain text."""
    chosen = visible_token(step.step.chosen.text, 24)
    if step.step.draw.method == "argmax":
        return tr("Temperature 0 takes the most probable token: {token}", token=chosen)
    number = step.step.draw.uniform
    roll = {"roll": nth(step.throw), "token": chosen}
    words = [
        tr("Roll {roll} draws {token}", **roll)
        if number is None
        else tr("Roll {roll}, the number {number:.4f}, draws {token}", number=number, **roll)
    ]
    raw = visible_token(step.raw_pick.text, 24)
    words.append(
        tr("the model's own distribution would give the same")
        if step.raw_pick.token_id == step.step.token_id
        else tr("the model's own distribution would give {token}", token=raw)
    )
    if lab.flipped:
        before = visible_token(lab.flipped, 24)
        words.append(tr("flipped by the last change: it was {token}", token=before))
    missing = [stage_name(name) for name in step.skipped if step.order.lacks(name)]
    beside = [stage_name(name) for name in step.skipped if not step.order.lacks(name)]
    if missing:
        names = {"library": step.order.label, "settings": tr(", ").join(missing)}
        words.append(tr("{library} has no {settings}: left out", **names))
    if beside:
        names = {"library": step.order.label, "settings": tr(", ").join(beside)}
        words.append(tr("with mirostat {library} leaves out {settings}", **names))
    return " · ".join(words)


def _choose_step(lab: Lab, view: DecodeView) -> None:
    """The steps of the run on the Decode page, as a table to click in."""
    steps, linked = view.steps, lab.linked
    if linked is None and not steps:
        return
    at = max(0, min(lab.index, len(steps) - 1))
    popover = st.popover(
        _place(lab, linked, place_of("Step", at, len(steps))),
        icon=":material/format_list_numbered:",
        key=platform.key("choose-step"),
        on_change="rerun",
    )
    if popover.open:
        with popover:
            _steps_table(lab, view)


def _place(lab: Lab, linked: StepRef | None, place: str) -> str:
    """Name the step: its place in the run, or where it comes from."""
    if linked is None:
        return tr(place)
    if lab.from_file:
        return tr("Step {step} of a file", step=nth(linked.index))
    return tr("Step {step} of a link", step=nth(linked.index))


def _steps_table(lab: Lab, view: DecodeView) -> None:
    if not view.steps:
        st.markdown(tr("There is no run on the Decode page to choose another step from."))
        return
    st.markdown(tr("The run on the Decode page. Click a step to bring it here."))
    at = -1 if lab.linked is not None else max(0, min(lab.index, len(view.steps) - 1))
    step_picker.draw(view.steps, at, partial(lab_state.pick, lab))


def _draw_figures(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    with st.container(key=platform.key("figures")):
        whole = _charts(lab, ref, settings, step)
        if whole:
            platform.part(_looks, key=LOOKS)(lab, ref, settings, step)
    if not whole:
        _go_on(lab)


def _looks(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    tabs.draw(lab, ref, settings, step)
    _go_on(lab)


def _go_on(lab: Lab) -> None:
    """Start and watch the work that what was just drawn waits for; keep the address it is at."""
    panel.watch(lab)
    address.keep()


def _charts(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> bool:
    """The figures that are always there. Returns whether the others may follow."""
    key = (step,)
    # It may be the step before, while this one is read.
    is_own = step is lab.step and lab.step_of == work.key_of(ref, settings)
    prefetch = _prefetch(lab, ref, settings) if is_own else None
    figure.omit_captions(lab_caption(step))
    figure.of_step(ref.index)
    figure.chart(_draw(step), key, ahead=prefetch)
    if later.waits(lab):
        return False
    # The server sends the draw on its way before the rest is built: it shows an eighth sooner.
    time.sleep(_TURN_SECONDS)
    with st.container(key=platform.key("stages-panels")):
        figure.chart(_stages(step), key, ahead=prefetch)
    with st.container(key=platform.key("pair")):
        left, right = st.columns(2, gap="small")
        with left, st.container(key=platform.key("notice")):
            st.markdown(glossary.marked(tr(_NOTICE)))
            _about_order(settings)
            _go_on_in_decode(lab, ref, step)
            panel.made_by(lab_caption(step))
        with right:
            _decision_boundaries(lab, ref, settings, step)
    return True


def _go_on_in_decode(lab: Lab, ref: StepRef, step: LabStep) -> None:
    """Begin a run with the tokens before the step that were generated, and the one drawn here."""
    ids = step.trace.prompt_ids
    prompt = max(len(ids) - ref.index, 1)
    go_on.button(
        replace(step.trace, prompt_ids=ids[:prompt]),
        lambda: (*ids[prompt:], *step.trace.token_ids),
        key="lab_go_on",
        may_load=lab.loadable,
    )


def _stages(step: LabStep) -> Part:
    return of_figure("stages", figures.lab_stages, step)


def _draw(step: LabStep) -> Part:
    return of_figure("draw", figures.lab_draw, step)


def _prefetch(lab: Lab, ref: StepRef, settings: LabSettings) -> ahead.Prefetch:
    """The step's two figures under all knobs."""
    look = figure.FigureLook.now()
    rows = controls.acting_knobs()
    fixed = moved(settings.config, rows, control.defaults().__getitem__)

    def build(inputs: ahead.Inputs) -> ahead.Shown:
        chosen = replace(settings, config=moved(settings.config, rows, inputs.__getitem__))
        step = work.shaped(lab, ref, chosen)
        return {part.name: look.drawing(part.drawn()) for part in (_stages(step), _draw(step))}

    # Of a file's step what it holds, until its model is there.
    stored = (lab.example, lab.loadable) if lab.from_file else ()
    depends = (ref, settings.order, settings.rolls, *look.key, fixed, *stored)
    return ahead.prefetch("lab-step", depends, knob_rows.inputs(rows), build)


def _about_order(settings: LabSettings) -> None:
    order = settings.order
    st.caption(tr("Order of {library}: {note}", library=order.label, note=tr(order.note)))
    st.caption(tr("Read in {source}.", source=tr(order.source)))


def _decision_boundaries(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> None:
    boundaries = work.measured(lab, "flips", ref, settings, step)
    with tabs.measured("flips", boundaries):
        figure.chart(
            of_figure(
                "flips", figures.lab_decision_boundaries, boundaries.step, boundaries.value or ()
            ),
            (boundaries.step, boundaries.value),
        )
