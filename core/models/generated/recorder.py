"""Recorder of runs of transformers' `generate`: a `custom_generate` that changes nothing."""

from __future__ import annotations

from copy import copy
from time import perf_counter
from typing import Any

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    PreTrainedTokenizerBase,
    StoppingCriteria,
    StoppingCriteriaList,
)
from transformers.generation import GenerationMode

from ...decoding.errors import TraceError
from ...decoding.record.trace import Trace
from ...language import N_, Message
from .adopt import GenerateRun, loaded_model, trace_of
from .settings import require_no_drafts

_LOOPS = {
    GenerationMode.GREEDY_SEARCH: "_sample",
    GenerationMode.SAMPLE: "_sample",
    GenerationMode.BEAM_SEARCH: "_beam_search",
    GenerationMode.BEAM_SAMPLE: "_beam_search",
}


class RecordGenerate:
    """Recorder for `model.generate(..., custom_generate=recorder)`; `trace` is the last run's.

    The run is transformers' own, and returns what it returns without a recorder. transformers
    passes no streamer, no assistant model and no tokenizer of `stop_strings` on to a
    `custom_generate`: the run has none of them. Use `from_generate` for a run with stop strings.

    Args:
        tokenizer: the model's tokenizer.
        model_id: name in the traces; by default the name that the model was loaded by.

    Example:
        >>> model = load_model("embedded:target")
        >>> inputs = model.tokenizer("Once upon a time", return_tensors="pt")
        >>> recorder = RecordGenerate(model.tokenizer)
        >>> settings = {"max_new_tokens": 4, "do_sample": False}
        >>> output = model.hf_model.generate(**inputs, **settings, custom_generate=recorder)
        >>> recorder.trace.text
        ', there was a'
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, *, model_id: str = "") -> None:
        self._tokenizer, self._model_id = tokenizer, model_id
        self.traces: tuple[Trace, ...] = ()

    @property
    def trace(self) -> Trace:
        """Trace of the last run's first row.

        Raises:
            TraceError: nothing was recorded yet.
        """
        if not self.traces:
            raise TraceError(
                N_("Nothing is recorded yet: call model.generate(..., custom_generate=recorder).")
            )
        return self.traces[0]

    def __call__(
        self,
        model: Any,
        input_ids: Tensor,
        logits_processor: Any,
        stopping_criteria: StoppingCriteriaList,
        generation_config: GenerationConfig,
        **model_kwargs: Any,
    ) -> Any:
        """Run the loop of transformers, keep the run's traces, and return its result.

        Raises:
            TraceError: a way of generating that no method here has, or settings that don't give
                the run.
        """
        require_no_drafts(generation_config)
        mode = generation_config.get_generation_mode()
        if mode not in _LOOPS:
            raise TraceError(
                Message(
                    "{value} of generate has no trace here: take another method.", value=mode.value
                )
            )
        settings, clock = copy(generation_config), _Clock()
        settings.return_dict_in_generate = settings.output_logits = settings.output_scores = True
        mask, seed = model_kwargs.get("attention_mask"), _seed_of(input_ids.device)
        output = getattr(type(model), _LOOPS[mode])(
            model,
            input_ids,
            logits_processor=logits_processor,
            stopping_criteria=StoppingCriteriaList([*stopping_criteria, clock]),
            generation_config=settings,
            **model_kwargs,
        )
        run = GenerateRun(output, settings, seed, mask, clock.seconds)
        loaded = loaded_model(model, self._tokenizer, self._model_id)
        self.traces = tuple(trace_of(loaded, run, row) for row in range(run.rows))
        return _as_asked(output, generation_config)


class _Clock(StoppingCriteria):  # type: ignore[misc]
    """Times of the steps; stops nothing."""

    def __init__(self) -> None:
        self._last = perf_counter()
        self.seconds: tuple[float, ...] = ()

    def __call__(self, input_ids: Tensor, *_: Any, **__: Any) -> Tensor:
        now = perf_counter()
        self.seconds, self._last = (*self.seconds, now - self._last), now
        return torch.zeros(len(input_ids), dtype=torch.bool, device=input_ids.device)


def _seed_of(device: torch.device) -> int | None:
    """Return the seed of torch's generator if nothing was drawn since; None if something was."""
    if device.type != "cpu":
        return None
    seed = torch.initial_seed()
    fresh = torch.Generator().manual_seed(seed).get_state()
    return seed if bool(torch.equal(fresh, torch.get_rng_state())) else None


def _as_asked(output: Any, settings: GenerationConfig) -> Any:
    if not settings.return_dict_in_generate:
        return output.sequences
    if not settings.output_logits:
        output.logits = None
    if not settings.output_scores:
        output.scores = None
    return output
