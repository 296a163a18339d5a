"""Trace of a run of transformers' own `generate`, from its output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from ...decoding.autoregressive.config import Sampling
from ...decoding.autoregressive.engine import Picker
from ...decoding.beam.config import BeamSearch
from ...decoding.beam.types import BeamSeconds, BeamStep
from ...decoding.config import MethodConfig
from ...decoding.decode import steps_of
from ...decoding.errors import TraceError
from ...decoding.loop.run import doubled_start, process_prompt, record_run, token_limit
from ...decoding.loop.text import Ending, join_prompt
from ...decoding.record.notes import DRAWS_UNKNOWN, FROM_GENERATE
from ...decoding.record.steps import PromptStep, Step, StepSeconds, TokenStep
from ...decoding.record.trace import Timings, Trace
from ...decoding.shaping.draws import Pick
from ...language import N_, Message
from ..running.masked import wrapped
from ..transformers_model import TransformersModel
from .recorded import PARTED, RecordedModel, require_same_scores
from .settings import config_of

_NO_LOGITS = (
    "This output of generate holds no logits: call it with return_dict_in_generate=True and "
    "output_logits=True (output_scores=True too lets the settings be compared), or record it with "
    "custom_generate=RecordGenerate(tokenizer)."
)
# Tokens that `generate` adds by default.
_DEFAULT_LENGTH = 20


@dataclass(frozen=True)
class GenerateRun:
    """One call of `generate`, as far as it is known.

    Args:
        output: its output with logits.
        settings: its settings, complete.
        seed: of torch's generator at its beginning; None if it isn't known.
        attention_mask: `[rows, n]` over the prompts; None without padding.
        seconds: of each step; empty if it isn't known.
    """

    output: Any
    settings: GenerationConfig
    seed: int | None
    attention_mask: Tensor | None = None
    seconds: tuple[float, ...] = ()

    @property
    def rows(self) -> int:
        """Number of traces in it: of prompts in a search, else of sequences."""
        rows = len(self.output.sequences)
        searches = (self.settings.num_beams or 1) > 1
        return rows // (self.settings.num_return_sequences or 1) if searches else rows


def from_generate(
    model: PreTrainedModel | TransformersModel,
    tokenizer: PreTrainedTokenizerBase,
    output: Any,
    settings: GenerationConfig | Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    row: int = 0,
    attention_mask: Tensor | None = None,
    model_id: str = "",
) -> Trace:
    """Return the trace of a run of transformers' `generate`.

    Logits and tokens are those of the run; one forward reads the prompt. The stages follow from the
    settings, and are compared with the run's tokens and scores. Times aren't known; without a seed
    neither are the numbers that the tokens were drawn by.

    Args:
        model: the model of the run; it is put into evaluation mode.
        output: with `return_dict_in_generate=True` and `output_logits=True`.
        settings: the arguments of the call, or its `GenerationConfig`.
        seed: number that `torch.manual_seed` got just before the call, on a CPU.
        row: which sequence of the output; of a beam search, which prompt.
        attention_mask: the call's, if prompts were padded.
        model_id: name in the trace; by default the name that the model was loaded by.

    Raises:
        TraceError: the output lacks logits, or the settings don't give this run.
        ConfigError: a setting lies outside its interval here.

    Example:
        >>> model = load_model("embedded:target")
        >>> inputs = model.tokenizer("Once upon a time", return_tensors="pt")
        >>> settings = {"max_new_tokens": 4, "do_sample": False}
        >>> recorded = {"return_dict_in_generate": True, "output_logits": True}
        >>> output = model.hf_model.generate(**inputs, **settings, **recorded)
        >>> from_generate(model, model.tokenizer, output, settings).text
        ', there was a'
    """
    loaded = loaded_model(model, tokenizer, model_id)
    if getattr(output, "logits", None) is None:
        raise TraceError(_NO_LOGITS)
    complete = _complete(loaded.hf_model, settings)
    return trace_of(loaded, GenerateRun(output, complete, seed, attention_mask), row)


def loaded_model(
    model: PreTrainedModel | TransformersModel, tokenizer: PreTrainedTokenizerBase, model_id: str
) -> TransformersModel:
    """Return a model of transformers as one of this library; its weights stay as they are."""
    if isinstance(model, TransformersModel):
        return model
    name = model_id or model.name_or_path or type(model).__name__
    options = {"model_id": name, "lay_out_weights": False, "fuse_single_tokens": False}
    return wrapped(model, tokenizer, **options)


def _complete(model: Any, settings: GenerationConfig | Mapping[str, Any] | None) -> Any:
    """Return the settings with the model's defaults, as `generate` prepares them."""
    if isinstance(settings, GenerationConfig):
        given: Any = settings.max_length
        complete = model._prepare_generation_config(settings)[0]
    else:
        given = (settings or {}).get("max_length")
        complete = model._prepare_generation_config(None, **(settings or {}))[0]
    own = model.generation_config.max_length
    if complete.max_new_tokens is None and given is None and own is None:
        complete.max_new_tokens = _DEFAULT_LENGTH
    return complete


def trace_of(model: TransformersModel, run: GenerateRun, row: int = 0) -> Trace:
    """Return the trace of one row of a run.

    Raises:
        as `from_generate`.
    """
    if not 0 <= row < run.rows:
        raise TraceError(
            Message(
                "This output has {rows} rows, and row {row} is none of them.",
                rows=run.rows,
                row=row,
            )
        )
    _require_same_ends(model, run.settings)
    beams = run.settings.num_beams or 1
    returned = (run.settings.num_return_sequences or 1) if beams > 1 else 1
    ids = run.output.sequences[row * returned].tolist()
    length = len(ids) - _generated(run, row * returned)
    prompt_ids = _without_padding(ids[:length], run, row)
    config = config_of(run.settings, length, run.seed)
    logits = [step[row * beams : (row + 1) * beams].float().cpu() for step in run.output.logits]
    if isinstance(config, BeamSearch):
        if config.draws and (run.seed is None or run.rows > 1):
            raise TraceError(
                N_(
                    "This search drew its candidates, and the seed isn't known: call "
                    "torch.manual_seed just before generate, with one prompt, and give "
                    "the seed."
                )
            )
        trace = _recorded(model, RecordedModel(model, logits, None), prompt_ids, config)
        _require_same_paths(trace, run, row, length)
    else:
        # The draws of several rows share one generator.
        known = run.seed is not None and len(run.output.sequences) == 1
        tokens = _ended(model, ids[length:])
        trace = _recorded(
            model, RecordedModel(model, logits, tokens), prompt_ids, config, tokens, known
        )
        _require_same_tokens(trace, run, row, tokens)
    return _timed(trace, run.seconds)


def _recorded(
    model: TransformersModel,
    recorded: RecordedModel,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    tokens: Sequence[int] = (),
    seed_known: bool = True,
) -> Trace:
    """Run the engine over recorded logits; it ends with the last token if nothing else ends it."""
    left = len(tokens)

    def count(step: Step) -> None:
        nonlocal left
        left -= len(step.token_ids)

    text = model.decode(prompt_ids)
    prompt: str | None = text if text and model.encode(text) == list(prompt_ids) else None
    rendered = join_prompt(model, prompt_ids) if prompt is None else prompt
    told = [FROM_GENERATE, *(() if prompt is None else doubled_start(model, prompt, prompt_ids))]
    engine: Any = recorded
    steps = steps_of(engine, prompt_ids, config)
    if isinstance(config, Sampling) and not seed_known:
        steps = _drawn_elsewhere(engine, prompt_ids, config, tokens)
        told.append(DRAWS_UNKNOWN)
    return record_run(
        engine,
        config,
        None,
        prompt=rendered,
        rendered=rendered,
        prompt_ids=tuple(prompt_ids),
        steps=steps,
        told=told,
        on_step=count,
        should_stop=lambda: bool(tokens) and left <= 0 and _goes_on(model, config, tokens),
    )


def _goes_on(model: TransformersModel, config: MethodConfig, tokens: Sequence[int]) -> bool:
    """Return whether the settings alone would let the run go on: something else ended it."""
    ending, reason = Ending(model, config, config.max_new_tokens), None
    for index, token_id in enumerate(tokens):
        reason = ending.after(index, token_id)[1]
    return reason is None


def _drawn_elsewhere(
    model: Any, prompt_ids: Sequence[int], config: Sampling, tokens: Sequence[int]
) -> Iterator[Step]:
    """Yield the steps of a run whose tokens are known and whose draws aren't."""
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    picker = Picker(model, config)
    ending = Ending(model, config, token_limit(model, prompt_ids, config))
    ids = list(prompt_ids)
    for index, token_id in enumerate(tokens):
        picked = picker.pick(index, context.logits[0], ids)._replace(pick=Pick(token_id))
        text, reason = ending.after(index, token_id)
        yield picker.record(index, picked, 0.0, text, reason)
        ids.append(token_id)
        if reason or index + 1 == len(tokens):
            return
        context.extend([token_id])


def _generated(run: GenerateRun, sequence: int) -> int:
    """Return how many tokens of a sequence were generated, padding behind it included."""
    indices = getattr(run.output, "beam_indices", None)
    if indices is None:
        return len(run.output.logits)
    return int((indices >= 0).sum(dim=-1).max()) if sequence < len(indices) else 0


def _without_padding(ids: Sequence[int], run: GenerateRun, row: int) -> list[int]:
    mask = run.attention_mask
    if mask is None:
        return list(ids)
    rows = mask[row] if len(mask) == run.rows else mask[row * (len(mask) // run.rows)]
    return [token for token, seen in zip(ids, rows.tolist(), strict=False) if seen]


def _ended(model: TransformersModel, tokens: Sequence[int]) -> list[int]:
    """Return the tokens up to the first end-of-sequence token; padding follows it."""
    end = next((at + 1 for at, token in enumerate(tokens) if token in model.eos_ids), len(tokens))
    return list(tokens[:end])


def _require_same_ends(model: TransformersModel, settings: GenerationConfig) -> None:
    value = settings.eos_token_id
    ends = {value} if isinstance(value, int) else set(value or ())
    if {token for token in ends if 0 <= token < model.vocab_size} != model.eos_ids:
        raise TraceError(
            Message(
                "This run ended at the tokens {ends}, and the model's own "
                "end-of-sequence tokens are {eos_ids}: a trace of other ends can't be "
                "made.",
                ends=sorted(ends),
                eos_ids=sorted(model.eos_ids),
            )
        )


def _require_same_tokens(trace: Trace, run: GenerateRun, row: int, tokens: Sequence[int]) -> None:
    ids, scores = list(trace.token_ids), getattr(run.output, "scores", None) or ()
    if ids != tokens[: len(ids)] or (len(ids) < len(tokens) and trace.finish_reason != "stop"):
        raise TraceError(PARTED.format(at=len(ids)))
    for step in trace.token_steps if scores else ():
        shaped = step.stages[-3 if trace.config.method == "greedy" else -1]
        places = torch.tensor([candidate.token_id for candidate in step.candidates])
        probs = torch.softmax(scores[step.index][row].float().cpu(), dim=-1)[places]
        require_same_scores(shaped.probs, probs, step.index)


def _require_same_paths(trace: Trace, run: GenerateRun, row: int, length: int) -> None:
    """Compare the hypotheses and every candidate's score with those of `generate`."""
    output, beams = run.output, run.settings.num_beams or 1
    returned = run.settings.num_return_sequences or 1
    scores = getattr(output, "scores", None) or ()
    for at, hypothesis in enumerate(trace.hypotheses[:returned]):
        ids = output.sequences[row * returned + at, length:].tolist()
        if list(hypothesis.token_ids) != ids[: len(hypothesis.token_ids)]:
            raise TraceError(PARTED.format(at=len(trace.steps)))
    for step in trace.beam_steps if scores else ():
        rows = scores[step.index][row * beams : (row + 1) * beams].float().cpu()
        chosen = [c for c in step.candidates if c.logprob > -1e8]
        parents = torch.tensor([c.parent for c in chosen], dtype=torch.long)
        tokens = torch.tensor([c.token_id for c in chosen], dtype=torch.long)
        require_same_scores([c.logprob for c in chosen], rows[parents, tokens], step.index)


def _timed(trace: Trace, seconds: Sequence[float]) -> Trace:
    """Return the trace with the times of `generate`; with 0 for those that aren't known."""
    first, *later = seconds or [0.0]
    at = dict(enumerate(later, start=1))
    steps: list[Step] = []
    for step in trace.steps:
        if isinstance(step, PromptStep):
            step = replace(step, seconds=first)
        elif isinstance(step, TokenStep):
            step = replace(step, seconds=StepSeconds(at.get(step.index, 0.0), 0.0, 0.0))
        elif isinstance(step, BeamStep):
            step = replace(step, seconds=BeamSeconds(at.get(step.index, 0.0), 0.0, 0.0))
        steps.append(step)
    decode = sum(step.duration for step in steps[1:])
    timings = Timings(first, decode, first + decode)
    return replace(trace, steps=tuple(steps), timings=timings)
