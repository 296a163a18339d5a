"""Times of speculative decoding by stage, compared with target-only decoding, and the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from ...decoding.counting import nth
from ...decoding.record.trace import Trace
from ...decoding.speculative.config import Speculative
from ...decoding.speculative.measurement.metrics import counts, tokens_per_round
from ...decoding.speculative.measurement.report import (
    Comparison,
    speculative_token_seconds,
    stage_shares,
)
from ...decoding.speculative.types import DraftRound
from ...language import N_, tr
from ..base.figure import TableRows, figure, table
from ..base.labels import NBSP, lines, milliseconds, settings_caption
from ..base.marks import hover_texts
from ..base.paper import SCREEN, SMALL, Paper
from ..base.sheet import Properties, Sheet
from ..base.theme import LIGHT, Theme
from ..base.totals import (
    add_part,
    add_whiskers,
    name_total,
    of_runs,
    step_axes,
    total_axes,
)

# Speed-ups closer to 1 can't be distinguished for runs of a few milliseconds.
EVEN = 0.05
_PARTS = {"propose": N_("proposing"), "score": N_("scoring"), "verify": N_("verifying")}
_ROUNDS, _GAP = 190, 70


@table("run part index drafted emitted propose_s score_s verify_s total_s record_s")
def spec_time_data(trace: Trace, comparison: Comparison | None = None) -> TableRows:
    """Return the seconds: a row for each round, and for each token of target-only decoding.

    For target-only decoding, `score_s` is the forward and `verify_s` shaping and draw; the first
    token's forward was the prompt's. `total_s` is decoding without `record_s`, the time for
    recording the trace.
    """
    shown = trace if comparison is None else comparison.speculative
    for at, step in enumerate(shown.rounds):
        seconds = step.seconds
        head = ("speculative", "round", nth(at), len(step.drafted), len(step.token_ids))
        yield (*head, seconds.propose, seconds.score, seconds.verify, seconds.total, seconds.record)
    for at, taken in enumerate(comparison.target_only.seconds if comparison else ()):
        yield (
            "target only",
            "token",
            nth(at),
            0,
            1,
            None,
            taken.forward,
            taken.shaping + taken.draw,
            taken.total,
            None,
        )


@figure(
    N_("Time by stage"),
    lambda trace, comparison, paper: settings_caption(
        comparison.speculative if comparison else trace, paper
    ),
    spec_time_data,
    subtitle=N_(
        "The upper bar is the mean time per token. The lower bars are the rounds, with their "
        "numbers of emitted tokens."
    ),
    alt=lambda shown, rows: (
        tr("Times of {count} rounds.", count=len(shown.rounds)),
        ". ".join(
            tr(
                "{name}: {parts} a token",
                name=tr(name),
                parts=tr(", ").join(
                    f"{_name(part)} {milliseconds(seconds)}" for part, seconds in parts.items()
                ),
            )
            for name, parts in rows
        )
        + tr("."),
    ),
    key=lambda theme, rows: [
        [(_colors(theme)[part], _name(part)) for _, parts in rows for part in parts]
    ],
)
def spec_time(
    trace: Trace,
    comparison: Comparison | None = None,
    *,
    theme: Theme = LIGHT,
    paper: Paper = SCREEN,
) -> Sheet | str:
    """Draw milliseconds per token by stage, beside target-only decoding if measured, and below them
    the stages of every round in ms.

    Args:
        comparison: if given, its last speculative run is drawn instead of `trace`.
    """
    shown = trace if comparison is None else comparison.speculative
    if not shown.rounds:
        return tr("This run made no round, so there is nothing to time.")
    rows, slowest = _totals(shown, comparison), max(step.seconds.total for step in shown.rounds)
    upper, height = 54 * len(rows), 54 * len(rows) + _GAP + _ROUNDS
    runs: tuple[tuple[float, ...], ...] = ()
    if comparison is not None:
        runs = (comparison.speculative_token_seconds, comparison.target_token_seconds)
    totals = [1000 * sum(parts.values()) for _, parts in rows]
    totals += [1000 * max(times) for times in runs]
    unit = tr("ms{nbsp}a{nbsp}token", nbsp=NBSP)
    sheet = Sheet(
        theme,
        paper,
        facts={"shown": shown, "rows": rows},
        plot_height=height,
        left=62,
        right=20,
        below=60,
        key_offset=42,
        layout={
            **total_axes(theme, unit, totals, upper / height, rows=len(rows)),
            **step_axes(
                theme,
                (tr("round"), tr("ms a round")),
                len(shown.rounds),
                _ROUNDS / height,
                10,
                range=[0, 1000 * slowest * 1.14 or 1],
            ),
            "barmode": "stack",
        },
    )
    _add_totals(sheet, rows, runs)
    _add_rounds(sheet, shown.rounds)
    return sheet


def _name(part: str) -> str:
    return tr(_PARTS.get(part, part))


def _colors(theme: Theme) -> dict[str, str]:
    colors = {
        part: theme.named[name]
        for part, name in zip(_PARTS, ("yellow", "sky", "green"), strict=True)
    }
    return {**colors, N_("target only"): theme.rest}


def _totals(trace: Trace, comparison: Comparison | None) -> list[tuple[str, dict[str, float]]]:
    """Return the seconds per token by stage, for each method.

    For measured runs these are medians, divided among the stages by the stages' own medians.
    """
    per_token, shares = speculative_token_seconds(trace), stage_shares(trace)
    if comparison is not None:
        per_token, shares = median(comparison.speculative_token_seconds), comparison.shares
    rows = [(N_("Speculative"), {p: s * per_token for p, s in zip(_PARTS, shares, strict=True)})]
    if comparison is not None:
        rows.append((N_("Target only"), {"target only": median(comparison.target_token_seconds)}))
    return rows


def _add_totals(
    sheet: Sheet,
    rows: Sequence[tuple[str, dict[str, float]]],
    runs: Sequence[Sequence[float]],
) -> None:
    colors = _colors(sheet.theme)
    for at, (name, parts) in enumerate(rows):
        for part, seconds in parts.items():
            trace = add_part(sheet, f"{name}: {part}", [at], [1000 * seconds], colors[part])
            trace |= hover_texts(
                [tr("{part} {time} a token", part=_name(part), time=milliseconds(seconds))]
            )
        times = runs[at] if runs else ()
        total = tr("{time} a token", time=milliseconds(sum(parts.values())))
        name_total(sheet, at, tr(name), total, of_runs(times))
    add_whiskers(sheet, [[1000 * value for value in times] for times in runs])


def _add_rounds(sheet: Sheet, steps: Sequence[DraftRound]) -> None:
    colors, numbers = _colors(sheet.theme), list(range(len(steps)))
    place: Properties = {"xaxis": "x2", "yaxis": "y2", "x": list(map(nth, numbers))}
    for part in _PARTS:
        values = [getattr(step.seconds, part) for step in steps]
        texts = [
            lines(
                tr("round {round}, {count} tokens", round=nth(at), count=len(step.token_ids)),
                f"{_name(part)} {milliseconds(value)}",
                f"{tr('round')} {milliseconds(step.seconds.total)}",
            )
            for at, (step, value) in enumerate(zip(steps, values, strict=True))
        ]
        bars = {
            **place,
            "type": "bar",
            "name": part,
            "y": [1000 * value for value in values],
            "width": 0.8,
            "marker": {"color": colors[part], "line": {"width": 0}},
            **hover_texts(texts),
            "customdata": [[at, -1] for at in numbers],
        }
        sheet.traces.append(bars)
    if len(steps) > 40:
        return
    emitted = {
        **place,
        "type": "scatter",
        "name": "emitted",
        "mode": "text",
        "y": [1000 * step.seconds.total for step in steps],
        "text": [str(len(step.token_ids)) for step in steps],
        "textposition": "top center",
        "textfont": {"size": SMALL, "color": sheet.theme.muted},
        "hoverinfo": "skip",
    }
    sheet.traces.append(emitted)


def _drafts_by_model(found: Comparison) -> bool:
    config = found.speculative.require(Speculative).config
    return config.source.draws or config.source.needs_draft


def verdict(found: Comparison) -> str:
    """Return `1.40 times faster here, because ...` or `Slower here, because ...`; plain text.

    A round's mean cost follows from the speed-up, and is divided among the stages by their means in
    each run. The metrics' costs are medians over rounds, which a few slow rounds don't raise.
    """
    times = tr(
        "{own} a token against {alone} of the target alone ({runs}).",
        own=milliseconds(median(found.speculative_token_seconds)),
        alone=milliseconds(median(found.target_token_seconds)),
        runs=runs_words(found.speculative_token_seconds, found.target_token_seconds),
    )
    rounds = found.speculative.rounds
    emitted = tokens_per_round(rounds)
    shares, faster = found.shares, headline(found.speedup)
    if emitted is None or not any(shares):
        return f"{faster}: {times}"
    cost = emitted / found.speedup
    values = {
        "headline": faster,
        "emitted": emitted,
        "cost": cost,
        "propose": cost * shares[0],
        "rest": cost * (1 - shares[0]),
        "times": times,
    }
    if not _drafts_by_model(found):
        return tr(
            "{headline}, because a round emits {emitted:.1f} tokens and takes, on average, as long "
            "as {cost:.1f} tokens of the target alone ({propose:.1f} for looking "
            "up the draft, {rest:.1f} for scoring and verifying it): {times}",
            **values,
        )
    return tr(
        "{headline}, because a round emits {emitted:.1f} tokens and takes, on average, as long as "
        "{cost:.1f} tokens of the target alone ({propose:.1f} for drafting "
        "{drafted:.1f} tokens, {rest:.1f} for scoring and verifying them): {times}",
        drafted=counts(rounds).drafted / len(rounds),
        **values,
    )


def runs_words(own: Sequence[float], alone: Sequence[float]) -> str:
    """Return the number of runs behind the medians, and their spread."""
    if len(own) == 1:
        return tr("one run of each, so that its spread is not known")
    spans = [
        tr("{low} to {high}", low=milliseconds(min(times)), high=milliseconds(max(times)))
        for times in (own, alone)
    ]
    return tr(
        "medians of {count} runs of each: {own}, and {alone}",
        count=len(own),
        own=spans[0],
        alone=spans[1],
    )


def headline(speed: float) -> str:
    """Return the speed against the target alone in words, without a full stop."""
    if abs(speed - 1) < EVEN:
        return tr("About as fast as the target alone")
    if speed > 1:
        return tr("{speed:.2f} times faster here", speed=speed)
    return tr("Slower here, {speed:.2f} times as fast", speed=speed)
