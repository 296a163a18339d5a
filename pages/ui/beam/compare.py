"""Compare the search with greedy decoding, and with guessed backpointers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from core.decoding.beam.compare import (
    GreedyPath,
    Rival,
    greedy_path,
    hypothesis_text,
    rivals,
    winner_candidates,
)
from core.decoding.beam.config import BeamSearch
from core.decoding.beam.replay import Reranking, guess_parents
from core.decoding.counting import counted, nth
from core.decoding.record.steps import ENDED_BY
from core.decoding.record.trace import Trace
from core.figures.base.labels import percent, table_text, visible_token
from core.figures.beam.window import Node
from core.figures.beam.words import fate_words, place_words
from core.language import N_, tr
from pages.ui import platform
from pages.ui.beam import controls as beam_controls
from pages.ui.beam import parts, work
from pages.ui.beam.state import BeamView
from pages.ui.run.display import bar
from pages.ui.run.figures import figure
from pages.ui.widgets import table
from pages.ui.widgets.controls.control import value

# px: all columns fit in a window of 1280 px, and two lines of a text in a row.
_WIDTHS = {
    "rank": 55,
    "text": 320,
    "in the run": 80,
    "score": 80,
    "sum of log-probs": 130,
    "tokens": 70,
    "divisor": 80,
    "ended by": 105,
    "group": 65,
}
_TWO_LINES = 66


def hypotheses(view: BeamView, ranking: Reranking, search: BeamSearch) -> None:
    """The ranked paths with the parts of their scores, and with their ranks in the run."""
    rows = ranking.hypotheses
    if view.trace is None or not rows:
        st.text(tr("No path has finished, so there is nothing to rank."))
        return
    then = {(h.group, h.token_ids): at + 1 for at, h in enumerate(view.trace.hypotheses)}
    table.draw(
        "hypotheses",
        {
            "rank": range(1, len(rows) + 1),
            "text": [table_text(hypothesis_text(view.beam_steps, r)) for r in rows],
            "score": [r.score for r in rows],
            "sum of log-probs": [r.sum_logprob for r in rows],
            "in the run": [str(then.get((r.group, r.token_ids), tr("not held"))) for r in rows],
            "tokens": [len(r.token_ids) for r in rows],
            "divisor": [len(r.token_ids) ** search.length_penalty for r in rows],
            "ended by": [tr(ENDED_BY[r.finish_reason]) for r in rows],
            **({"group": [r.group + 1 for r in rows]} if search.num_beam_groups > 1 else {}),
        },
        numbers={"score": "%.4f", "sum of log-probs": "%.4f", "divisor": "%.3f"},
        notes={"divisor": N_("tokens to the power of the length penalty")},
        widths=_WIDTHS,
        row_height=_TWO_LINES,
    )
    st.caption(tr("Score = sum of log-probs / divisor; divisor = tokens to the length penalty."))


def draw(view: BeamView, trace: Trace, redraw: Callable[[], None]) -> None:
    """Greedy's way through the search, and the comparison on demand.

    Args:
        trace: the search as it is ranked now.
        redraw: ends a callback that selects a candidate.
    """
    winner = next(iter(trace.hypotheses), None)
    greedy = greedy_path(trace, winner)
    if greedy is None:
        st.text(
            tr("Here the candidates were drawn, so that greedy's path can't be followed in them.")
            if trace.beam_steps
            else tr("This search has made no step.")
        )
    else:
        with st.container(key=platform.key("against-greedy"), gap="small"):
            st.text(_left(trace, greedy))
            _go(view, trace, greedy, redraw)
            if greedy.parted_at is not None and winner is not None:
                winning = winner_candidates(trace.beam_steps, winner)[greedy.parted_at]
                greedys = greedy.path[greedy.parted_at]
                st.text(_parted(greedy.parted_at, greedys.text, winning.text))
    _compare(view, trace)


def _left(trace: Trace, greedy: GreedyPath) -> str:
    """Describe where and why greedy's path left the beam; plain text."""
    if greedy.end == "unseen":
        return tr(
            "Greedy's path left the beam at step {step}: none of its continuations was among the "
            "candidates.",
            step=nth(greedy.step),
        )
    last = greedy.path[-1]
    if greedy.end == "pruned":
        step = trace.beam_steps[greedy.step]
        fate = fate_words(step, last)
        return tr(
            "Greedy's path left the beam at step {step}, with “{token}” at {place}, {fate}.",
            step=nth(greedy.step),
            token=visible_token(last.text, 24),
            place=place_words(step, last),
            fate=fate,
        )
    if greedy.end == "finished":
        return tr(
            "Greedy's path stayed in the beam and finished at step {step}.", step=nth(greedy.step)
        )
    return tr("Greedy's path stayed in the beam to the end of the search.")


def _parted(step: int, greedys: str, winning: str) -> str:
    return tr(
        "The winner parted from it at step {step}: “{winning}” instead of greedy's “{greedys}”.",
        step=nth(step),
        winning=visible_token(winning, 24),
        greedys=visible_token(greedys, 24),
    )


def _go(view: BeamView, trace: Trace, greedy: GreedyPath, redraw: Callable[[], None]) -> None:
    """Buttons to the places that the sentences name."""
    steps, places = trace.beam_steps, []
    if greedy.end == "pruned":
        left = ("greedy-left", tr("Show where greedy left"), greedy.step, greedy.path[-1])
        places.append(left)
    if (at := greedy.parted_at) is not None:
        places.append(("they-parted", tr("Show where they parted"), at, greedy.path[at]))
    with st.container(horizontal=True, gap="small"):
        for key, words, step, candidate in places:
            st.button(
                words,
                key=platform.key(f"show-where-{key}"),
                icon=":material/my_location:",
                on_click=_bring,
                args=(view, (step, steps[step].candidates.index(candidate)), redraw),
            )


def _bring(view: BeamView, node: Node, redraw: Callable[[], None]) -> None:
    view.bring(node, *beam_controls.view_of_tree())
    redraw()


def _compare(view: BeamView, trace: Trace) -> None:
    hindrance = _hindrance(view, trace)
    hint = tr("Runs the model: greedy once, and samples at temperature 1.")
    bar.measure(
        view,
        "rivals",
        N_("Compare with greedy and samples"),
        lambda: _start(view, trace),
        hindrance or ("" if view.ran else hint),
        row="compare",
        key="compare_rivals",
        icon="balance",
        disabled=bool(hindrance) or view.active("decode") is not None,
        options=("samples",),
        progress=lambda job: f"{tr(job.stage)} · {tr(counted(job.tokens, 'token'))}",
    )
    if view.ran and trace.hypotheses:
        compared = rivals(trace, view.ran[0], view.ran[1:])
        depends = (view.number, compared, trace.config)
        figure.chart(parts.RIVALS.part(view, trace, rivals=compared), depends, across=True)
        _texts(compared)


def _hindrance(view: BeamView, trace: Trace) -> str:
    """Why nothing can be compared; empty where it can."""
    if not trace.hypotheses:
        return tr("No path has finished, so there is nothing to compare.")
    if not view.may_load(str(value("model"))):
        return tr("Choose this run's model in the sidebar first.")
    return ""


def _start(view: BeamView, trace: Trace) -> None:
    samples, seed = int(value("samples")), int(value("seed"))
    view.begin("rivals", work.compare(trace, samples, seed))


def _texts(compared: Sequence[Rival]) -> None:
    texts = [table_text(rival.text) for rival in compared]
    names = [tr(rival.name) for rival in compared]
    table.draw("rival-texts", {"way": names, "text": texts}, widths={"text": "large"})


def guesses(view: BeamView, trace: Trace, redraw: Callable[[], None]) -> None:
    """Draw the tokens of this run whose parent row a guess would get wrong.

    Args:
        redraw: ends a callback that selects a candidate.
    """
    parents = guess_parents(trace)
    if not parents.guesses:
        st.text(tr("Every step had only one row, so there is nothing to guess."))
        return
    st.text(
        tr(
            "Without stored backpointers one can only guess: a token came from the row that gives "
            "it the highest log-probability. In this run that is wrong for {wrong} of {tokens} "
            "tokens, {share}. Only tokens that went on count, from the second step on: other "
            "tokens become no row, and the first step has one row to choose from.",
            wrong=len(parents.wrong),
            tokens=len(parents.guesses),
            share=percent(parents.error_rate),
        )
    )
    if not parents.wrong:
        return
    steps = trace.beam_steps
    beams = [("", *[""] * len(steps[0].groups))] + [
        tuple(c.text for c in step.kept) for step in steps
    ]
    table.draw(
        "wrong-guesses",
        {
            "step": [nth(wrong.step) for wrong in parents.wrong],
            "token": [_name(beams, wrong.step + 1, wrong.row) for wrong in parents.wrong],
            "stored parent": [_name(beams, wrong.step, wrong.parent) for wrong in parents.wrong],
            "guessed parent": [_name(beams, wrong.step, wrong.guess) for wrong in parents.wrong],
            "log-prob after stored": [
                steps[w.step].kept_logprobs[w.row][w.parent] for w in parents.wrong
            ],
            "log-prob after guessed": [
                steps[w.step].kept_logprobs[w.row][w.guess] for w in parents.wrong
            ],
        },
        numbers={"log-prob after stored": "%.3f", "log-prob after guessed": "%.3f"},
        most_rows=10,
        on_pick=partial(_picked, view, trace, redraw),
    )
    st.caption(tr("Click a row to see its token in the tree, where these edges are drawn in red."))


def _name(beams: list[tuple[str, ...]], step: int, row: int) -> str:
    token = visible_token(beams[step][row], 24)
    return tr("{token} (row {row})", token=token, row=nth(row))


def _picked(view: BeamView, trace: Trace, redraw: Callable[[], None], row: int) -> None:
    wrong = guess_parents(trace).wrong
    if row < len(wrong):
        chosen = wrong[row]
        candidate = trace.beam_steps[chosen.step].kept[chosen.row]
        place = trace.beam_steps[chosen.step].candidates.index(candidate)
        st.session_state[platform.key("guesses")] = True
        _bring(view, (chosen.step, place), redraw)
