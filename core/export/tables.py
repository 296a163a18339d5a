"""Tables in the archive of a run's figures."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeAlias

from pandas import DataFrame

from ..decoding.counting import nth
from ..decoding.diffusion.config import Diffusion
from ..decoding.lab.types import LabStep
from ..decoding.record.steps import TokenStep
from ..decoding.record.trace import Trace
from ..decoding.shaping.config import SETTINGS
from ..figures.base.labels import visible_token
from ..figures.decode.candidates import candidate_bars_data
from ..figures.diffusion.order import fill_order_data
from ..figures.speculative.metrics import spec_metrics_data
from ..language import N_, tr

Table: TypeAlias = tuple[str, DataFrame]


def tables_of(trace: Trace) -> list[Table]:
    """Return the tables for a trace's figures: numbers and tokens, hypotheses, or metrics."""
    if trace.rounds:
        return [(N_("Metrics of this run."), spec_metrics_data(trace))]
    if trace.hypotheses:
        rows = [
            (
                at,
                visible_token(hypothesis.text),
                hypothesis.score,
                hypothesis.sum_logprob,
                len(hypothesis.token_ids),
            )
            for at, hypothesis in enumerate(trace.hypotheses, 1)
        ]
        return [
            (
                N_("Hypotheses, best first."),
                DataFrame(
                    rows, columns=["place", "text", "score", "sum of log-probabilities", "tokens"]
                ),
            )
        ]
    if isinstance(trace.config, Diffusion):
        return [(N_("The order of filling."), fill_order_data(trace))]
    if not trace.token_steps:
        return []
    return [
        (N_("This run in numbers."), _numbers(trace)),
        (N_("Tokens of this run."), _tokens(trace)),
    ]


def read_before(step: LabStep) -> Trace:
    """Return a lab step's trace with the text before the step as its prompt."""
    return replace(step.trace, prompt=step.text_before, rendered_prompt="")


def step_tables(step: TokenStep, trace: Trace) -> list[Table]:
    """Return the tables of one step: shaping settings, and candidates."""
    shaping = trace.config.shaping
    settings = [(spec.label, spec.shown(getattr(shaping, name))) for name, spec in SETTINGS.items()]
    frame = candidate_bars_data(step, trace)
    return [
        (N_("Settings of this step."), DataFrame(settings, columns=[N_("setting"), N_("value")])),
        (
            N_("Candidates of this step."),
            frame.assign(token=frame["token"].map(visible_token)),
        ),
    ]


def _numbers(trace: Trace) -> DataFrame:
    steps = trace.token_steps
    # Surprisal under the unshaped model, for drawn and forced tokens alike.
    surprise = [-math.log(p) for p in (s.chosen.raw_prob for s in steps) if p > 0]
    mean = math.fsum(surprise) / len(surprise) if surprise else math.nan
    rows = [
        (tr("prompt tokens"), float(len(trace.prompt_ids))),
        (tr("generated tokens"), float(len(steps))),
        (tr("mean surprisal, nats"), mean),
        (tr("perplexity"), math.exp(mean)),
        (tr("mean entropy, nats"), math.fsum(step.entropy for step in steps) / len(steps)),
        (tr("seconds in all"), trace.timings.total),
        (tr("tokens a second after the first"), trace.tokens_per_second or math.nan),
    ]
    return DataFrame(rows, columns=[N_("measure"), N_("value")])


def _tokens(trace: Trace) -> DataFrame:
    rows = [
        (
            *(nth(s.index), visible_token(s.text), s.chosen.rank, s.chosen.raw_prob),
            *(s.chosen.prob, s.entropy, s.origin, s.phase),
        )
        for s in trace.token_steps
    ]
    return DataFrame(
        rows,
        columns=[
            "step",
            "token",
            "rank",
            "probability",
            N_("after shaping"),
            "entropy",
            N_("origin"),
            N_("phase"),
        ],
    )
