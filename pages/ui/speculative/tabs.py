"""The figures of a speculative run: its timeline, one verification beside the proof on three
tokens, and four more in tabs."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.decoding.constraints.reading import constrained_position
from core.decoding.counting import sentences as joined
from core.decoding.record.trace import Trace
from core.decoding.speculative.analysis.rejections import rejection_at
from core.decoding.speculative.config import Acceptance
from core.decoding.speculative.tree.shape import path_to
from core.decoding.speculative.types import CacheSizes, DraftToken
from core.figures.base.labels import settings_caption, visible_token
from core.figures.base.paper import Paper
from core.figures.constraint.words import standing_words
from core.figures.speculative.drafts.benefit import cost_words
from core.figures.speculative.drafts.patterns import pattern_words
from core.figures.speculative.drafts.rejections import rejection_words
from core.figures.speculative.words import (
    EXTRA,
    emitted,
    extra_kind,
    extra_words,
    is_greedy,
    round_words,
    rule_of,
    shown_kind,
    token_at,
    verification_words,
)
from core.language import N_, tr
from pages.ui import platform
from pages.ui.run import address
from pages.ui.run.display import go_on, later, panel
from pages.ui.run.display.panel import Tab
from pages.ui.run.figures import constraint, figure, pager
from pages.ui.shell import glossary
from pages.ui.speculative import feed, lossless, parts, rejections, server, state, time
from pages.ui.speculative.state import SpecView
from pages.ui.widgets import ahead, play, style, words
from pages.ui.widgets.controls import link
from pages.ui.widgets.controls.control import value

_NOTICE = N_("""
## What to notice

- Every round ends with a token of the target's own: in place of the first rejected token, or as a
  bonus after a draft that was accepted whole. So each round adds at least one token.
- {rule}
- All drafted tokens after a rejection are lost. A longer draft loses more of them.
- {cost}
""")
_OF_THE_RULE: dict[Acceptance, str] = {
    "speculative": N_(
        "A token that the target finds likelier than the draft does is never rejected. Where the "
        "draft gives it too much probability, a random number decides."
    ),
    "block": N_(
        "The draft is judged as a whole: a token may be accepted because a later one is. So at "
        "least as many tokens are accepted as with speculative sampling, in expectation."
    ),
    "exact": N_(
        "The target draws a token of its own at every position, and the drafted one passes only "
        "if it is the same. So fewer tokens are accepted."
    ),
    "typical": N_(
        "No random number is used: a token passes if its target_prob lies above a threshold, which "
        "is lower where the target's entropy is higher."
    ),
}
_GREEDY = N_(
    "At temperature 0 no random number is used: a token passes only if it is the target's most "
    "probable one."
)


def notice(trace: Trace) -> str:
    """Return the notes for the reader, under the acceptance rule of the run."""
    rule = _GREEDY if is_greedy(trace) else _OF_THE_RULE[rule_of(trace)]
    return tr(_NOTICE, rule=tr(rule), cost=cost_words(trace))


STRIP, TIMELINE, TOKEN, LOOKS = "spec-text", "spec-rounds", "spec-verification", "spec-looks"


def draw(view: SpecView, trace: Trace) -> bool:
    """The selected token, the proof, and what else there is to know; the tabs watch over what a
    press in them starts. Returns whether they are there."""
    with st.container(key=platform.key("figures")):
        if later.waits(view):
            return False
        with st.container():
            platform.part(_one_token, key=TOKEN)(view, trace)
        with st.container(key=platform.key("notice")):
            st.markdown(glossary.marked(notice(trace)))
            if pattern := pattern_words(trace):
                st.text(pattern)
            panel.made_by(settings_caption(trace))
        with st.container():
            platform.part(_looks, key=LOOKS)(view, trace)
    if "decode" not in view.jobs:
        platform.mark_ready()
    return True


def _redraw() -> None:
    """End a callback that selects a token, or brings another part of the run into view.

    What is said of the token is there before the larger figure, which follows.
    """
    trace = SpecView.current().trace
    ruled = trace is not None and trace.config.shaping.constraint is not None
    platform.rerun(TOKEN, STRIP, TIMELINE, *([LOOKS] if ruled else []))


def _looks(view: SpecView, trace: Trace) -> None:
    figure.omit_captions(settings_caption(trace))
    drawings = {
        **constraint.tab(
            *(view, trace, parts.CONSTRAINT, view.place_of_token),
            on_click=partial(_in_text, view, trace),
        ),
        "time": Tab(N_("Time"), partial(time.draw, view, trace)),
        "metrics": Tab(N_("Acceptance and metrics"), partial(time.metrics, view, trace)),
        "rejections": Tab(N_("Rejections"), partial(rejections.draw, view, trace, _show)),
        "feed": Tab(N_("Input of the target"), partial(feed.draw, view, trace)),
        "lossless": Tab(N_("Losslessness"), partial(lossless.draw, view, trace)),
    }
    if server.is_there():
        drawings["server"] = Tab(N_("The server's speculation"), partial(server.draw, view, trace))
    panel.tabs("spec-look", drawings, ready=("time", "metrics"))
    panel.watch(view)


def timeline(view: SpecView, trace: Trace) -> None:
    """Draw the rounds as a grid, with Play below it."""
    figure.omit_captions(settings_caption(trace))
    state.keep_token(view)
    address.keep()
    shown = view.fit_window(state.shown_rounds(trace))
    window, width = {"first": view.first, "columns": shown}, state.timeline_width()
    with st.container(key=platform.key("spec-timeline"), gap="small"):
        drawn = figure.chart(
            parts.TIMELINE.part(view, trace, **window, selected=view.token, paper=Paper(width)),
            (view.number, *window.values(), view.token, width),
            on_click=lambda custom: _click(view, custom),
        )
        if not trace.rounds:
            return
        with st.container(
            key=platform.key("timeline-bar"),
            horizontal=True,
            vertical_alignment="center",
            gap="medium",
        ):
            play.draw(
                "timeline",
                drawn,
                style.theme(),
                view.number,
                count=len(trace.rounds),
                turn=lambda at: view.turn_page("first", at // shown * shown),
                word="round",
            )
            pager.draw(view, "first", pager.of_span(view.first, shown, len(trace.rounds)), "rounds")


def _click(view: SpecView, custom: list[object]) -> None:
    if len(custom) > 1 and all(isinstance(part, int | float) for part in custom[:2]):
        view.look_at(int(custom[0]), int(custom[1]))  # type: ignore[call-overload]
        _redraw()


def _in_text(view: SpecView, trace: Trace, custom: list[object]) -> None:
    """Select the token of the text that a click on the constraint's figure names."""
    if custom and isinstance(custom[0], int | float):
        chosen = emitted(trace)[int(custom[0])]
        _show(view, chosen.round, chosen.place)


def _one_token(view: SpecView, trace: Trace) -> None:
    with st.container(key=platform.key("step"), gap="small"):
        left, right = st.columns(2, gap="small")
        with left:
            _verification(view, trace)
        with right:
            lossless.draw_three(view, trace)


def _verification(view: SpecView, trace: Trace) -> None:
    """The selected token: its verification as a figure and in words."""
    if view.token is None:
        st.text(tr("No token is selected: click one in the text or in the grid."))
        return
    (at, place), prefetch = view.token, _prefetch(view, trace)
    figure.chart(parts.VERIFICATION.part(view, trace), (view.number, at, place), ahead=prefetch)
    _facts(view, trace, at, place, prefetch)
    if trace.rounds[at].translation:
        figure.chart(parts.TRANSLATION.part(view, trace), (view.number, at))


def _show(view: SpecView, at: int, place: int) -> None:
    view.look_at(at, place)
    _redraw()


def _prefetch(view: SpecView, trace: Trace) -> ahead.Prefetch:
    """Offer the browser the sentences and the figure of other tokens of the text."""
    look, tokens = figure.FigureLook.now(), emitted(trace)

    def build(inputs: ahead.Inputs) -> ahead.Shown:
        chosen = tokens[inputs[state.STRIP]]
        part = parts.VERIFICATION.part(view, trace, at=chosen.round, place=chosen.place)
        texts = sentences(trace, chosen.round, chosen.place)
        return {**texts, part.name: look.drawing(part.drawn())}

    inputs = {state.STRIP: (state.place_in_text(tokens, view.token), link.whole)}
    return ahead.prefetch("spec-token", (view.number, *look.key), inputs, build)


def sentences(trace: Trace, at: int, place: int) -> dict[str, str]:
    """Describe a token of round `at`, given its place there; plain text.

    Raises:
        LookupError: there is no such token.
    """
    token, step = token_at(trace, at, place), trace.rounds[at]
    if token is None:
        raise LookupError
    rule, greedy = rule_of(trace), is_greedy(trace)
    kind = token.outcome if isinstance(token, DraftToken) else extra_kind(step)
    drew = step.extra if kind == "rejected" else None
    origin = (
        verification_words(token, rule, drew=drew, greedy=greedy)
        if isinstance(token, DraftToken)
        else extra_words(step, rule, greedy=greedy)
    )
    rejected = rejection_at(trace, at, place)
    if rejected is not None:
        origin = f"{rejection_words(trace, rejected, verified=True)}\n{origin}"
    allowed = constrained_position(trace, at, place)
    return {
        "token-where": round_words(step, at, place),
        "token-kind": shown_kind(kind),
        "token-text": visible_token(token.text, 60),
        "token-words": f"{origin}\n{standing_words(trace, allowed)}" if allowed else origin,
    }


def _facts(view: SpecView, trace: Trace, at: int, place: int, prefetch: ahead.Prefetch) -> None:
    """The selected token in words: its verification, and what took its place."""
    token = token_at(trace, at, place)
    step = trace.rounds[at]
    if token is None:
        return
    texts = sentences(trace, at, place)
    with st.container(key=platform.key("spec-token"), border=True, gap="small"):
        with st.container(
            key=platform.key("node-head"), horizontal=True, vertical_alignment="center", gap="small"
        ):
            with st.container(key=platform.key("node-where"), width="content"):
                words.draw("token-where", texts["token-where"], prefetch)
            with st.container(key=platform.key("node-fate"), width="stretch"):
                words.draw("token-kind", texts["token-kind"], prefetch)
        with st.container(key=platform.key("node-path")):
            words.draw("token-text", texts["token-text"], prefetch)
        words.draw("token-words", texts["token-words"], prefetch)
        if isinstance(token, DraftToken):
            if token.outcome == "rejected" and step.recovered is not None:
                st.button(
                    tr("Show the replacement"),
                    key=platform.key("to-recovered"),
                    icon=":material/my_location:",
                    on_click=_show,
                    args=(view, at, EXTRA),
                )
        elif step.recovered is not None:
            st.button(
                tr("Show the rejected token"),
                key=platform.key("to-rejected"),
                icon=":material/my_location:",
                on_click=_show,
                args=(view, at, step.rejected_at),
            )
        go_on.button(
            trace,
            partial(ids_up_to, trace, at, place),
            key="token_go_on",
            may_load=view.may_load(str(value("model"))),
        )
        _ends(trace, at)


def ids_up_to(trace: Trace, at: int, place: int) -> list[int]:
    """The text's tokens before a round's token, and that token, which may be a rejected one."""
    step, token = trace.rounds[at], token_at(trace, at, place)
    if place == EXTRA or token is None:
        before = step.accepted
    else:
        before = tuple(step.drafted[node] for node in path_to(step.tree, step.tree[place]))
    drafted = [t.token_id for t in (*before, token) if t is not None]
    return [*trace.token_ids[: step.start], *drafted]


_ENDS = {
    "room": N_("Fewer tokens were drafted than the length allows: no more would have fitted."),
    "confidence": N_("Drafting ended here by the confidence threshold."),
    "eos": N_("Drafting ended with a drafted end of sequence."),
    "no_match": N_("The text gave no more tokens to propose."),
}
_LAYERS_END = N_(
    "Fewer tokens were drafted than the length allows: the target has no more MTP layers, or no "
    "more tokens would have fitted."
)


def _ends(trace: Trace, at: int) -> None:
    step = trace.rounds[at]
    values, draft = {"target": _sizes(step.target_cache)}, step.draft_cache
    said = [
        tr(
            "Cached tokens before the round, at most, after the rollback: target {target}.",
            **values,
        )
        if draft is None
        else tr(
            "Cached tokens before the round, at most, after the rollback: target {target}, draft "
            "{draft}.",
            draft=_sizes(draft),
            **values,
        )
    ]
    if step.masks:
        said.append(
            tr("The constraint of the target is rolled back to the same token.")
            if draft is None
            else tr("The constraint of target and draft is rolled back to the same token.")
        )
    layers_end = step.draft_end == "room" and getattr(trace.config, "drafter", "") == "mtp"
    if end := _LAYERS_END if layers_end else _ENDS.get(step.draft_end):
        said.append(tr(end))
    st.caption(tr(joined(*said)))


def _sizes(cache: CacheSizes) -> str:
    return f"{cache.before} → {cache.peak} → {cache.after}"
