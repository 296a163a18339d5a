"""One step under other knobs, redrawn from its stored logits while the knobs move."""

from __future__ import annotations

from dataclasses import dataclass, replace

from core.decoding.config import MethodConfig
from core.decoding.errors import DecodingError
from core.decoding.trace import TokenStep, Trace
from pages.ui.decode import controls
from pages.ui.run import jobs
from pages.ui.run.state import View

# Logits of a small model arrive within this time; then nothing has to be drawn twice.
PATIENCE_SECONDS = 0.25


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


def differs(old: MethodConfig, new: MethodConfig) -> bool:
    """True where a step would be shaped or drawn in another way."""
    return _acts(old) != _acts(new)


def _acts(config: MethodConfig) -> tuple[object, ...]:
    fields = ("min_new_tokens", "seed", "draw")
    return (config.method, config.shaping, *(getattr(config, name, None) for name in fields))


def selected(view: View, trace: Trace, step: TokenStep) -> Shaped:
    """The selected step under the controls' config."""
    try:
        config = controls.config()
    except DecodingError as error:
        return Shaped(step, trace, True, error=str(error))
    if not differs(trace.config, config):
        return Shaped(step, trace)
    if not view.may_load(str(controls.value("model"))):
        return Shaped(
            step, trace, True, error="Choose this run's model in the sidebar to reshape its steps."
        )
    logits = _logits(view, trace, step.index)
    job = view.jobs.get("logits")
    if logits is None:
        return Shaped(step, trace, True, waiting=job is not None and job.active, error=_error(view))
    return _reshape(trace, step, config, *logits)


def _reshape(
    trace: Trace, step: TokenStep, config: MethodConfig, model: object, logits: object
) -> Shaped:
    from core.decoding.autoregressive.reshape import reshape_step

    config = replace(config, top_candidates=trace.config.top_candidates)
    previous = [*trace.prompt_ids, *trace.token_ids[: step.index]]
    try:
        shaped = reshape_step(model, logits, previous, config, step.index)  # type: ignore[arg-type]
    except DecodingError as error:
        return Shaped(step, trace, True, error=str(error))
    return Shaped(shaped, replace(trace, config=config), True)


def _error(view: View) -> str:
    job = view.jobs.get("logits")
    return job.error if job is not None and not job.active else ""


def _logits(view: View, trace: Trace, index: int) -> tuple[object, object] | None:
    """The model and the logits of the step, once they are there; starts reading them."""
    wanted = (view.number, index)
    if view.logits is None or view.logits[0] != wanted:
        job = _reading(view, trace, wanted)
        job.done.wait(PATIENCE_SECONDS)
        if job.result is not None:
            view.logits = (wanted, *job.result)
            del view.jobs["logits"]
        else:
            view.seen["logits"] = view.progress()["logits"]
    if view.logits is not None and view.logits[0] == wanted:
        return view.logits[1], view.logits[2]
    return None


def _reading(view: View, trace: Trace, wanted: tuple[int, int]) -> jobs.Job:
    if view.logits_wanted != wanted or "logits" not in view.jobs:
        if before := view.jobs.get("logits"):
            before.stop()
        view.logits_wanted = wanted
        view.jobs["logits"] = jobs.logits_of(trace, wanted[1])
    return view.jobs["logits"]
