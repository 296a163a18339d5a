"""The lab's work in worker threads: reading a step's logits, measuring it, continuing it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any, NamedTuple

from core.decoding.autoregressive.config import Greedy
from core.decoding.constraints.value import Constraint
from core.decoding.lab.types import Continuations, LabStep
from core.decoding.shaping.config import ranges_in_view
from core.language import N_, Message, tr
from core.traces.lab import ROLLS, TEMPERATURES
from pages.ui.lab.controls import LabSettings
from pages.ui.lab.state import Lab, StepRef
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request

OTHER_VERSION = N_(
    "press Run on the Decode page to make it again, or look at the prompt's next token"
)


def _read_logits(job: Job, ref: StepRef) -> Any:
    """The logits of a step: one forward over the tokens before it."""
    model, ids = _load(job, ref)
    # Imported here for what follows the reading, too.
    from core.decoding.lab.step import lab_step, read_step_logits  # noqa: F401

    generated, states = _before(ref)
    return job.compute(N_("Reading the step"), read_step_logits, model, ids, generated, states)


def _before(ref: StepRef) -> tuple[int, dict[str, float]]:
    """Return the number of generated tokens before a step, and the samplers' states there."""
    return 0 if ref.ids is None else ref.index, dict(ref.states)


def _load(job: Job, ref: StepRef) -> tuple[Any, list[int]]:
    """The step's model, and the tokens before the step."""
    model = jobs.load(job, ref.model, ref.revision, ref.dtype, OTHER_VERSION)
    from core.decoding.requirements import encode_prompt

    request = Request(
        ref.model,
        ref.prompt,
        Greedy(),
        chat=ref.chat and model.has_chat_template,
        system=ref.system,
        ids=ref.ids,
    )
    return model, list(encode_prompt(model, request.prompt_for(model)))


def _read_grammar(job: Job, ref: StepRef, constraint: Constraint) -> Any:
    """The tokens that a constraint allows at a step."""
    model, ids = _load(job, ref)
    from core.decoding.lab.step import step_grammar

    generated, _ = _before(ref)
    return job.compute(N_("Reading the rule"), step_grammar, model, constraint, ids, generated)


def step_logits(lab: Lab, ref: StepRef, settings: LabSettings) -> Any:
    """The step's logits, once they are there, with what the constraint allows; starts reading
    them."""
    logits, ready = lab.soon("logits", ref, lambda job: _read_logits(job, ref))
    constraint = settings.config.shaping.constraint
    if constraint is None or not ready:
        return logits if ready else None
    grammar, ready = lab.soon(
        "grammar", (ref, constraint), lambda job: _read_grammar(job, ref, constraint)
    )
    return logits._replace(grammar=grammar) if ready else None


def _read_before(lab: Lab, ref: StepRef, settings: LabSettings) -> Any:
    """The step's logits as they were read; on any thread.

    Raises:
        LookupError: they, or what the constraint allows, were not read.
    """
    constraint = settings.config.shaping.constraint
    read_for, logits = lab.cached.get("logits", (None, None))
    if read_for != ref or logits is None:
        raise LookupError("the step's logits were not read")
    if constraint is None:
        return logits
    read_for, grammar = lab.cached.get("grammar", (None, None))
    if read_for != (ref, constraint):
        raise LookupError("the constraint was not read at the step")
    return logits._replace(grammar=grammar)


def throw_of(ref: StepRef, settings: LabSettings) -> int:
    """Return the index of the uniform number that the step draws with."""
    return ref.index + settings.rolls


def key_of(ref: StepRef, settings: LabSettings) -> tuple[Hashable, ...]:
    """Return the cache key of a step and its measurements: `ref` first, then the settings."""
    return (ref, settings.config, settings.order, settings.rolls)


def is_example(lab: Lab, ref: StepRef, settings: LabSettings) -> bool:
    """Return whether the stored step has these settings and needs no proof by the model."""
    return is_stored(lab, ref, settings) and not (lab.from_file and lab.loadable)


def is_stored(lab: Lab, ref: StepRef, settings: LabSettings) -> bool:
    """Return whether the stored step is this one, under these settings."""
    if lab.example is None or not lab.stores(ref):
        return False
    step = lab.example.step
    return (
        settings.config == step.config
        and settings.order == step.order
        and throw_of(ref, settings) == step.throw
    )


def step(lab: Lab, ref: StepRef, settings: LabSettings) -> LabStep | None:
    """The step under the settings; None until its logits are there.

    Raises:
        DecodingError: the logits are no distribution.
    """
    key = key_of(ref, settings)
    if lab.step_of == key:
        return lab.step
    if not is_example(lab, ref, settings) and step_logits(lab, ref, settings) is None:
        return None
    made = shaped(lab, ref, settings)
    _note_flip(lab, key, made)
    lab.step, lab.step_of = made, key
    return made


def shaped(lab: Lab, ref: StepRef, settings: LabSettings) -> LabStep:
    """The step under the settings, as the page shows it; on any thread.

    Raises:
        LookupError: its logits were not read.
        DecodingError: the logits are no distribution.
    """
    if is_example(lab, ref, settings):
        assert lab.example is not None
        return lab.example.step

    def make() -> LabStep:
        ready = _read_before(lab, ref, settings)
        from core.decoding.lab.step import lab_step

        number = throw_of(ref, settings)
        return lab_step(ready, settings.config, settings.order, number, ref.prompt)

    return lab.memo("shaped", key_of(ref, settings), make)


def proof(lab: Lab, ref: StepRef, settings: LabSettings, step: LabStep) -> str:
    """Describe whether the model confirms a step from a file; empty for any other step."""
    if lab.example is None or not lab.from_file or not is_stored(lab, ref, settings):
        return ""
    if step is lab.example.step:
        return tr("From a file: not proved without its model")
    from core.decoding.lab.step import agrees

    same = agrees(lab.example.step, step)
    if same:
        return tr("From a file: the model gives the same numbers")
    return tr("From a file: the model gives other numbers")


def _note_flip(lab: Lab, key: tuple[Hashable, ...], new: LabStep) -> None:
    """Remember the token before, where only knobs were moved since, and by hand."""
    old, old_key = lab.step, lab.step_of
    moved, lab.moved = lab.moved, False
    lab.flipped = ""
    if old is None or old_key is None or not moved:
        return
    same = old_key[0] == key[0] and old.throw == new.throw and old.draw == new.draw
    same = same and getattr(old.config, "seed", 0) == getattr(new.config, "seed", 0)
    if same and old.step.token_id != new.step.token_id:
        lab.flipped = old.step.chosen.text


def _work_out(
    name: str, job: Job, ready: Any, settings: LabSettings, throw: int, shown: LabStep
) -> Any:
    """Compute one of `MEASURED`: all cuts, the decision boundaries, the next 1,000 rolls, or the
    temperature sweep.
    """
    from core.decoding.lab.cuts import all_cuts
    from core.decoding.lab.decision_boundaries import all_boundaries
    from core.decoding.lab.series import roll, sweep

    if name == "cuts":
        return job.compute(N_("Measuring"), all_cuts, ready, settings.config, shown)
    step = (ready, settings.config, settings.order)
    if name == "flips":
        ranges = ranges_in_view(settings.config.shaping)
        return job.compute(N_("Measuring"), all_boundaries, *step, throw, ranges)
    if name == "rolls":
        return job.compute(N_("Measuring"), roll, *step, throw, ROLLS)
    return job.compute(N_("Measuring"), sweep, *step, throw, TEMPERATURES)


def known(lab: Lab, name: str, ref: StepRef, settings: LabSettings, step: LabStep) -> Any:
    """Return the measurement of the step if there is one, else None."""
    if lab.example is not None and step is lab.example.step:
        return getattr(lab.example, name) or None
    cached = lab.cached.get(name)
    return cached[1][1] if cached is not None and cached[0] == key_of(ref, settings) else None


class Measured(NamedTuple):
    """A measurement with the step that it belongs to.

    Args:
        ready: it belongs to the step that was asked for; else to one before it.
    """

    step: LabStep
    value: Any
    ready: bool


def measured(lab: Lab, name: str, ref: StepRef, settings: LabSettings, step: LabStep) -> Measured:
    """Return a measurement of the step by its name in `MEASURED`.

    It is the example's or a worker thread's; until that one is ready, the last one.
    """
    example = lab.example
    if example is not None and step is example.step:
        stored = getattr(example, name)
        if stored or not lab.loadable:
            return Measured(step, stored, True)
    ready = step_logits(lab, ref, settings)
    if ready is not None:
        key, throw = key_of(ref, settings), throw_of(ref, settings)
        cached, fresh = lab.later(
            name, key, lambda job: (step, _work_out(name, job, ready, settings, throw, step))
        )
        if cached is not None:
            return Measured(cached[0], cached[1], fresh)
    if before := lab.cached.get(name):
        return Measured(before[1][0], before[1][1], before[0] == lab.step_of)
    if example is not None:
        return Measured(example.step, getattr(example, name), False)
    return Measured(step, None, False)


@jobs.in_background
def grow(job: Job, ref: StepRef, settings: LabSettings, ways: int, tokens: int) -> Any:
    """Continue the step; the result is `(ref, Continuations)`."""
    model, ids = _load(job, ref)
    from core.decoding.lab.continuations import grow as continue_rows
    from core.decoding.loop.text import join_prompt

    config = replace(settings.config, max_new_tokens=tokens)
    seeds = [config.seed + at for at in range(ways)]

    def on_tokens(count: int) -> None:
        job.stage = Message("Continuing · {count} of {tokens} tokens", count=count, tokens=tokens)

    generated, states = _before(ref)
    rows = job.compute(
        N_("Continuing"),
        continue_rows,
        model,
        ids,
        config,
        seeds,
        on_tokens=on_tokens,
        generated=generated,
        states=states,
    )
    return ref, Continuations(model.model_id, join_prompt(model, ids), config, rows, job.seconds)
