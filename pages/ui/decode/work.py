"""Background jobs of the Decode page: a step's logits, and the run with the other cache setting.

While the knobs move, the step is redrawn from its stored logits.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from core.decoding.config import MethodConfig
from core.decoding.errors import DecodingError
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.language import N_, Message, tr
from pages.ui.decode import controls
from pages.ui.decode.methods.strategies import strategy_of
from pages.ui.decode.state import CacheRuns, DecodeView
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request
from pages.ui.widgets.controls.control import in_words, value

# How often the cache's two ways are timed.
CACHE_PAIRS = 3
# Settings of how far a run goes and how it is computed and recorded, not of what a step is.
_NOT_OF_A_STEP = {"max_new_tokens", "stop_strings", "top_candidates", "use_cache"}


@dataclass(frozen=True)
class Shaped:
    """The selected step as the figures should show it.

    Args:
        trace: the run's trace, under the new config where the knobs changed.
        changed: the knobs differ from the run's.
        waiting: the logits are still being read; the step is the run's own until then.
        error: why the step can't be reshaped.
    """

    step: TokenStep
    trace: Trace
    changed: bool = False
    waiting: bool = False
    error: str = ""


class NotReadError(LookupError):
    """A step whose logits are not there."""


def reshapes(config: MethodConfig) -> bool:
    """Return whether a step follows from its logits alone, so that knobs redraw it."""
    return strategy_of(config).reshapes and not config.shaping.contrasts


def differs(old: MethodConfig, new: MethodConfig) -> bool:
    """True where a step would be shaped or drawn in another way."""
    return _acts(old) != _acts(new)


def _acts(config: MethodConfig) -> tuple[object, ...]:
    names = (field.name for field in fields(config) if field.name not in _NOT_OF_A_STEP)
    return (config.method, *(getattr(config, name) for name in names))


def selected(view: DecodeView, trace: Trace, step: TokenStep) -> Shaped:
    """The selected step under the controls' config."""
    try:
        config = controls.config()
    except DecodingError as error:
        return Shaped(step, trace, True, error=tr(in_words(error)))
    if not differs(trace.config, config):
        return Shaped(step, trace)
    if not reshapes(config):
        sentence = tr("Press Run to see {method} under these settings.", method=tr(config.words))
        return Shaped(step, trace, True, error=sentence)
    if not view.may_load(str(value("model"))):
        return Shaped(
            step,
            trace,
            True,
            error=tr("Choose this run's model in the sidebar to reshape its steps."),
        )
    view.soon("logits", (view.number, step.index), lambda job: _read_logits(job, trace, step.index))
    try:
        return shaped(view, trace, step, config)
    except NotReadError:
        return Shaped(step, trace, True, waiting=True, error=view.error("logits"))
    except DecodingError as error:
        return Shaped(step, trace, True, error=tr(in_words(error)))


def shaped(view: DecodeView, trace: Trace, step: TokenStep, config: MethodConfig) -> Shaped:
    """A step under a config, as the page shows it; on any thread.

    Raises:
        NotReadError: its logits were not read, or it takes a run.
        DecodingError: the config can't shape it.
    """
    if not differs(trace.config, config):
        return Shaped(step, trace)

    def make() -> Shaped:
        read_for, read_logits = view.cached.get("logits", (None, None))
        if read_for != (view.number, step.index) or not reshapes(config):
            raise NotReadError
        from core.decoding.autoregressive.reshape import reshape_step

        model, logits = read_logits
        shaped_config = replace(config, top_candidates=trace.config.top_candidates)
        previous = [*trace.prompt_ids, *trace.token_ids[: step.index]]
        reshaped = reshape_step(model, logits, previous, shaped_config, step.index, step.states)
        return Shaped(reshaped, replace(trace, config=shaped_config), changed=True)

    return view.memo("reshaped", (view.number, step.index, config), make)


def _read_logits(job: Job, trace: Trace, index: int) -> tuple[Any, Any]:
    """The model and the full logits of one step, from one forward over its prefix."""
    from core.decoding.autoregressive.reshape import logits_at

    model = jobs.load_for(job, trace)
    return model, job.compute(N_("Reading this step's logits"), logits_at, model, trace, index)


@jobs.in_background
def measure_cache(job: Job, trace: Trace, repeats: int = CACHE_PAIRS) -> CacheRuns | None:
    """The same run with the KV cache on and off, in turns; which goes first changes.

    A first pair is not kept: it pays for what only first calls do.
    """
    from core import collect

    model, draft = jobs.load_for(job, trace), jobs.load_draft_for(job, trace)
    runs: dict[bool, list[Trace]] = {True: [], False: []}
    for pair in range(repeats + 1):
        stage = Message("Pair {pair} of {count}", pair=pair, count=repeats)
        stage = stage if pair else Message("Warming up")
        for use_cache in (pair % 2 == 0, pair % 2 == 1):
            job.steps.clear()
            config = Request.again(trace, use_cache=use_cache).config
            run = job.compute(
                stage, collect, model, trace.prompt_ids, config, draft=draft,
                on_step=job.steps.append,
            )  # fmt: skip
            if job.should_stop():
                return None
            if pair:
                runs[use_cache].append(run)
    return CacheRuns(tuple(runs[True]), tuple(runs[False]))
