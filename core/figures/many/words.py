"""Many runs in words: the verdict, what varies, captions, and a table of the runs."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from ...decoding.counting import counted, nth
from ...decoding.many.types import ManyRuns, RunFork
from ...decoding.record.notes import ROWS, THREADS
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import Shaping
from ...language import N_, tr, trn
from ..base.figure import TableRows, table
from ..base.labels import (
    config_caption,
    plain_name,
    stage_name,
    table_text,
    visible_token,
    with_prompt,
)
from ..base.paper import SCREEN, Paper

# Values of one setting that a caption names.
_NAMED = 6
_NEUTRAL = Shaping()
_NAMES = {
    ROWS: N_("batch"),
    THREADS: N_("threads"),
    "dtype": N_("number type"),
    "model": N_("model"),
}


def many_verdict(many: ManyRuns) -> str:
    """Return in one or two sentences how many runs agree, and for how long; plain text."""
    texts, count = many.texts, many.count
    tokens = counted(len(texts[0].trace.token_ids), "token")
    if count == 1:
        return tr("1 run gave {tokens}.", tokens=tokens)
    if len(texts) == 1:
        return tr(
            "{runs} of {runs} runs gave the same {tokens}. {rounding}",
            runs=count,
            tokens=tokens,
            rounding=_rounding(many),
        )
    first = tr("{runs} gave {texts} different texts", runs=counted(count, "run"), texts=len(texts))
    if len(texts[0].runs) > 1:
        most = len(texts[0].runs)
        first = tr("{texts}; {runs} gave the most frequent one", texts=first, runs=most)
    if not many.agreed:
        return tr("{texts}. They part at the first token.", texts=first)
    return trn(
        "{texts}. All agree on the first token.",
        "{texts}. All agree on the first {agreed} tokens.",
        many.agreed,
        texts=first,
        agreed=many.agreed,
    )


def _rounding(many: ManyRuns) -> str:
    if many.is_same_record:
        return tr("Their recorded probabilities are equal to the last bit.")
    if not many.rounding:
        return tr("No recorded probability above 0.0001 differs.")
    return tr(
        "Their log-probabilities differ by at most {rounding:.2g} nats.", rounding=many.rounding
    )


def varied_words(many: ManyRuns) -> str:
    """Return what differs among the runs, with the values; plain text."""
    parts = []
    for name in many.settings[0]:
        values = list(dict.fromkeys(row[name] for row in many.settings))
        shown = tr(", ").join(plain_name(value, 30) for value in values[:_NAMED])
        if len(values) > _NAMED:
            shown = tr("{names} and {number} more", names=shown, number=len(values) - _NAMED)
        parts.append(f"{_prefix(name)}{shown}")
    return tr("; ").join(parts) or tr("nothing")


def setting_name(name: str) -> str:
    """Return the name of something that differs among runs; plain text."""
    if name == "seed":
        return tr("seed")
    return tr(_NAMES[name]) if name in _NAMES else stage_name(name)


def _prefix(name: str) -> str:
    """Return the name before a value; empty if the value explains itself."""
    return "" if name in _NAMES else f"{setting_name(name)} "


def run_words(many: ManyRuns, place: int) -> str:
    """Return the values of what varies for one run; plain text."""
    row = many.settings[place]
    return " / ".join(plain_name(value, 30) for value in row.values()) or tr(
        "run {number}", number=nth(place)
    )


def runs_words(many: ManyRuns, runs: tuple[int, ...]) -> str:
    """Return for some runs how many there are of each value of what varies; plain text."""
    parts = []
    for name in many.settings[0]:
        counts: dict[str, int] = {}
        for place in runs:
            value = many.settings[place][name]
            counts[value] = counts.get(value, 0) + 1
        shown = tr(", ").join(
            plain_name(value, 30) + (f" ×{count}" if count > 1 else "")
            for value, count in list(counts.items())[:_NAMED]
        )
        if len(counts) > _NAMED:
            shown = tr("{names} and {number} more", names=shown, number=len(counts) - _NAMED)
        parts.append(f"{_prefix(name)}{shown}")
    return tr("; ").join(parts)


def many_caption(many: ManyRuns, paper: Paper = SCREEN) -> str:
    """Return the settings that all runs share, their number, and what varies; plain text."""
    first = many.traces[0]
    varied = {name for name in many.settings[0] if name in Shaping.__dataclass_fields__}
    neutral = {name: getattr(_NEUTRAL, name) for name in varied}
    config = replace(first.config, shaping=replace(first.config.shaping, **neutral))
    caption = config_caption(first.model_id, config, many.settings[0])
    parts = [caption, tr(counted(many.count, "run"))]
    if many.settings[0]:
        parts.append(tr("varied: {settings}", settings=varied_words(many)))
    return with_prompt(" · ".join(parts), first.prompt, paper)


def mean_surprisal(trace: Trace) -> float | None:
    """Return the mean surprisal of a run's tokens, in nats; None without a token."""
    surprisals = [step.surprisal for step in trace.token_steps]
    return fmean(surprisals) if surprisals else None


def fork_name(fork: RunFork, limit: int = 12) -> str:
    """Return the two most frequent tokens of a fork; plain text."""
    return " | ".join(
        tr("end") if branch.token_id is None else visible_token(branch.text, limit)
        for branch in fork.branches[:2]
    )


@table("run text settings tokens ended mean_surprisal generated")
def many_runs_data(many: ManyRuns) -> TableRows:
    """A row for each run: which of the texts it gave, what varied, and the text."""
    for place, trace in enumerate(many.traces):
        yield (
            nth(place),
            nth(many.text_of(place)),
            table_text(run_words(many, place)),
            len(trace.token_ids),
            trace.finish_reason,
            mean_surprisal(trace),
            table_text(trace.text),
        )
