"""Background jobs of the page Inside: function calls, a forward's modules, the readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from core.decoding.inside.types import Attention, Forward, Lens
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Check, Trace
from core.language import N_, Message
from core.server.job import StoppedError
from core.traces.data_path.types import DataPath
from pages.ui.inside.controls import MOST_TOKENS
from pages.ui.inside.state import InsideView
from pages.ui.run import jobs
from pages.ui.run.jobs import Job
from pages.ui.run.request import Request

# What a recording on the page holds at most, beside `MOST_TOKENS`: some 25 MB (600 bytes a call).
MOST_CALLS = 40_000
# So many of the last positions are read by the lens.
LENS_POSITIONS = 96


class ModelFacts(NamedTuple):
    """A model in a few words; what isn't known of it is None."""

    kind: str
    dtype: str
    vocabulary: int
    parameters: int | None = None
    layers: int | None = None
    width: int | None = None


class Recorded(NamedTuple):
    """A run made again while it was recorded.

    Args:
        steps: how many of the run's first steps it made.
        checks: that they are the run's own.
    """

    path: DataPath
    steps: int
    model: ModelFacts
    checks: tuple[Check, ...]


class StepForward(NamedTuple):
    """The forwards around a step.

    Args:
        prompt: of the whole prompt.
        single: of one token: the token before the step, or the first token after the prompt; None
            without such a token.
        path: the calls of the forward that made the step, through the model's modules.
        checks: that it gave the run's logits.
    """

    prompt: Forward
    single: Forward | None
    path: DataPath
    checks: tuple[Check, ...]


class CheckedReading(NamedTuple):
    """A reading with its check."""

    value: Any
    checks: tuple[Check, ...]


def recorded(view: InsideView, trace: Trace, *, use_cache: bool) -> tuple[Recorded | None, bool]:
    """The run's functions; None until they are recorded, and whether they are of now."""
    request = view.shown_request
    key = (view.number, use_cache)
    return view.later("record", key, lambda job: _record(job, trace, request, use_cache))


def forward(view: InsideView, trace: Trace, *, use_cache: bool) -> tuple[StepForward | None, bool]:
    """The forward of the selected step, module by module."""
    index = view.selected
    key = (view.number, index, use_cache)
    return view.later("forward", key, lambda job: _look_through(job, trace, index, use_cache))


def lens(view: InsideView, trace: Trace) -> tuple[CheckedReading | None, bool]:
    """Return the logit lens: the model's prediction after every layer, up to the selected step."""
    index = view.selected
    key = (view.number, index)
    return view.later("lens", key, lambda job: _read_layers(job, trace, index))


def attention(view: InsideView, trace: Trace) -> tuple[CheckedReading | None, bool]:
    """Return the attention of the token that is read at the selected step."""
    index = view.selected
    key = (view.number, index)
    return view.later("attention", key, lambda job: _look_back(job, trace, index))


def _record(job: Job, trace: Trace, request: Request | None, use_cache: bool) -> Recorded:
    model = jobs.load_for(job, trace)
    from core.traces.data_path.again import record_path

    again = Request.again(trace, use_cache=use_cache)
    length = min(again.config.max_new_tokens, MOST_TOKENS)
    config = replace(
        again.config,
        max_new_tokens=length,
        min_new_tokens=min(again.config.min_new_tokens, length),
    )
    path, run = job.compute(
        N_("Recording the run"),
        record_path,
        model,
        _prompt_of(model, trace, request),
        config,
        MOST_CALLS,
        on_step=job.steps.append,
        draft=jobs.load_draft_for(job, trace),
    )
    if job.should_stop():
        raise StoppedError
    return Recorded(path, len(run.steps) - 1, _facts(model), _same(model, trace, run))


def _prompt_of(
    model: Any, trace: Trace, request: Request | None
) -> str | Sequence[int] | Sequence[Mapping[str, str]]:
    """The prompt as it was given for the run: its conversation or its text where these give its
    ids, else the ids themselves."""
    ids = list(trace.prompt_ids)
    if request is not None and request.chat and model.has_chat_template:
        messages = [{"role": "system", "content": request.system}] if request.system.strip() else []
        messages.append({"role": "user", "content": request.prompt})
        if model.encode_chat(messages) == ids:
            return messages
    if trace.prompt == trace.rendered_prompt and model.encode(trace.prompt) == ids:
        return trace.prompt
    return ids


def _same(model: Any, trace: Trace, run: Trace) -> tuple[Check, ...]:
    """The run that was recorded is the one that is shown."""
    pairs = list(zip(trace.token_steps, run.token_steps, strict=False))
    wrong = sum(shown.token_id != again.token_id for shown, again in pairs)
    if not pairs or run.prompt_ids != trace.prompt_ids:
        wrong = max(wrong, 1)
    detail = Message("of the {tokens} tokens that were recorded", tokens=len(pairs))
    tokens = Check("recorded_tokens", not wrong, wrong, 0, detail, True)
    return tokens, _same_logits(model, trace, pairs)


def _same_logits(model: Any, trace: Trace, pairs: Sequence[tuple[TokenStep, TokenStep]]) -> Check:
    """The recorded run's logits are the run's own, candidate by candidate."""
    from core.decoding.checks.forwards import logit_tolerance

    error = largest = 0.0
    for shown, again in pairs:
        logits = {candidate.token_id: candidate.logit for candidate in again.candidates}
        gaps = [abs(c.logit - logits[c.token_id]) for c in shown.candidates if c.token_id in logits]
        error = max([error, *gaps])
        largest = max([largest, *map(abs, logits.values())])
    bound = logit_tolerance(trace, model, largest)
    detail = Message("largest deviation of a candidate's logit")
    name = "recorded_logits"
    return Check(name, error <= bound, error, bound, detail, True)


def _facts(model: Any) -> ModelFacts:
    hf_model = getattr(model, "hf_model", None)
    plain = ModelFacts(type(model).__name__, model.dtype, model.vocab_size)
    if hf_model is None:
        return plain
    config = hf_model.config.get_text_config(decoder=True)
    return plain._replace(
        kind=type(hf_model).__name__,
        parameters=hf_model.num_parameters(),
        layers=getattr(config, "num_hidden_layers", None),
        width=getattr(config, "hidden_size", None),
    )


def _with_modules(job: Job, trace: Trace) -> Any:
    """The run's model, where it is transformers' own and can be looked into."""
    model = jobs.load_for(job, trace)
    from core.models.inside import require_modules

    return require_modules(model)


def _ids_before(trace: Trace, index: int) -> list[int]:
    return [*trace.prompt_ids, *trace.token_ids[:index]]


def _look_through(job: Job, trace: Trace, index: int, use_cache: bool) -> StepForward:
    model = _with_modules(job, trace)
    from core.decoding.checks.forwards import logit_tolerance
    from core.traces.data_path.again import record_forward

    prompt, single, path, logits = job.compute(
        N_("Looking through the forward"),
        record_forward,
        model,
        trace.prompt_ids,
        trace.token_ids,
        index,
        MOST_CALLS,
        use_cache=use_cache,
    )
    candidates = trace.token_steps[index].candidates
    error = max(abs(float(logits[c.token_id]) - c.logit) for c in candidates)
    bound = logit_tolerance(trace, model, float(logits.abs().max()))
    detail = Message("largest deviation of {logits} logits", logits=len(candidates))
    name = "forward_of_step"
    check = Check(name, error <= bound, error, bound, detail, True)
    return StepForward(prompt, single, path, (check,))


def _as_in_run(trace: Trace) -> dict[str, Any]:
    """Return the arguments that choose length-dependent position embeddings as in the run."""
    return {"prompt_length": len(trace.prompt_ids), "use_cache": trace.config.use_cache}


def _read_layers(job: Job, trace: Trace, index: int) -> CheckedReading:
    model = _with_modules(job, trace)
    from core.decoding.checks.forwards import logit_tolerance
    from core.models.inside import logit_lens

    ids, step = _ids_before(trace, index), trace.token_steps[index]
    first = max(0, len(ids) - LENS_POSITIONS)
    lens: Lens = job.compute(
        N_("Reading the layers"),
        logit_lens,
        model,
        ids,
        first=first,
        next_id=step.token_id,
        **_as_in_run(trace),
    )
    top = next(candidate for candidate in step.candidates if candidate.rank == 1)
    error = abs(lens.positions[-1].cells[-1].prob - top.raw_prob)
    bound = logit_tolerance(trace, model, max(abs(c.logit) for c in step.candidates))
    detail = Message("deviation of the likeliest token's probability")
    name = "last_layer"
    return CheckedReading(lens, (Check(name, error <= bound, error, bound, detail, True),))


def _look_back(job: Job, trace: Trace, index: int) -> CheckedReading:
    model = _with_modules(job, trace)
    from core.models.inside import attention as attention_of

    ids = _ids_before(trace, index)
    reading: Attention = job.compute(
        N_("Reading the attention"), attention_of, model, ids, len(ids) - 1, **_as_in_run(trace)
    )
    rows = [row for layer in reading.weights for row in layer]
    error = max((abs(sum(row) - 1) for row in rows), default=0.0)
    detail = Message("largest deviation from 1 in {rows} rows", rows=len(rows))
    check = Check("attention_sums", error <= 1e-3, error, 1e-3, detail, True)
    return CheckedReading(reading, (check,))
