"""Measure the server's speculative decoding in one run, from its answer and its counters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import Any

from ...decoding.by_engine.config import ByEngine
from ...decoding.by_engine.speculation import ServerSpeculation
from ...decoding.by_engine.told import told_by
from ...decoding.decode import collect
from ...decoding.errors import ModelError
from ...decoding.record.servers import VLLM
from ...language import N_, Message
from .model import COUNT, RemoteModel

# A line of /metrics, in Prometheus' text format, with vLLM's or llama.cpp's prefix.
_COUNTER = re.compile(
    r"^(?:vllm|llamacpp):spec_decode_num_(drafts|draft_tokens|accepted_tokens(?:_per_pos)?)(?:_total)?"
    rf"(?:\{{([^}}]{{0,500}})\}})? {COUNT}$",
    re.MULTILINE,
)
_ADVICE = {
    "vLLM": "start vLLM with --speculative-config, and with --per-request-spec-decode-metrics "
    "detailed for the rounds of a run"
}
_COUNTING_SECONDS = 2.0
_POSITION = re.compile(r'position="(\d{1,3})"')


def speculation_in_a_run(
    model: Any,
    prompt: str | Sequence[int],
    config: ByEngine,
    should_stop: Callable[[], bool] | None = None,
) -> ServerSpeculation | None:
    """Let the server make a run, and return its speculation statistics; None if stopped.

    Raises:
        ModelError: the model is local, or its server doesn't speculate or drafted nothing.
        ConfigError: the server lacks a setting.
    """
    if not isinstance(model, RemoteModel):
        raise ModelError(
            Message("{model} is on no server: choose a model that is.", model=model.model_id)
        )
    before = _counters(model)
    trace = collect(model, prompt, config, should_stop=should_stop)
    if should_stop is not None and should_stop():
        return None
    told = told_by(model.last_speculation)
    drafted = told.drafted if told is not None else 0
    counted = _counted_since(before, model, drafted)
    rounds = told.each if told is not None else ()
    if not rounds and not drafted and counted["drafts"] <= 0:
        # llama.cpp has these counters without speculation too.
        counts = "drafts" in before and (before["drafts"] or model.facts.software == VLLM)
        if counts or _tells_of_drafts(model.last_speculation):
            raise ModelError(
                Message(
                    "The server of {model} speculates, and drafted nothing in this "
                    "run: take more tokens, or a prompt that repeats itself.",
                    model=model.model_id,
                )
            )
        raise ModelError(
            Message(
                "The server of {model} tells of no speculation: {advice}.",
                model=model.model_id,
                advice=Message(
                    _ADVICE.get(model.facts.software, N_("start it with a draft model"))
                ),
            )
        )
    positions = sorted(int(name) for name in counted if name.isdecimal())
    # The answer's own numbers are of this run alone; the counters also count other clients'.
    own = told if told is not None and told.drafted else None
    return ServerSpeculation(
        rounds,
        own.rounds if own is not None and own.rounds is not None else max(0, counted["drafts"]),
        counted["draft_tokens"] if own is None else own.drafted,
        counted["accepted_tokens"] if own is None else own.accepted,
        tuple(counted[str(at)] for at in positions),
        len(trace.token_ids),
    )


def _counted_since(before: Counter[str], model: RemoteModel, drafted: int) -> Counter[str]:
    """Return the growth of the counters, as soon as they have counted the run.

    llama.cpp counts a run a moment after it has ended its answer.

    Args:
        drafted: tokens that the run drafted, by its answer.
    """
    end = monotonic() + _COUNTING_SECONDS
    while True:
        counted = _counters(model)
        counted.subtract(before)
        late = "drafts" in before and counted["draft_tokens"] < drafted
        if not late or monotonic() > end:
            return counted
        sleep(0.05)


def _tells_of_drafts(report: object) -> bool:
    """Return whether a report is about drafts; llama.cpp's timings are there without any too."""
    return isinstance(report, dict) and any("spec" in key or "draft" in key for key in report)


def _counters(model: RemoteModel) -> Counter[str]:
    """Return the counters by name and by draft position; empty if the server has no /metrics."""
    counts: Counter[str] = Counter()
    for name, labels, value in _COUNTER.findall(model.counters()):
        position = _POSITION.search(labels)
        counts[position[1] if position else name] += int(float(value))
    return counts
