"""Output of transformers' own `generate` for the same settings: the other side of a proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Protocol, cast

import torch
from transformers import (
    GenerationConfig,
    GenerationMixin,
    LogitsProcessor,
    LogitsProcessorList,
    StoppingCriteria,
    StoppingCriteriaList,
    SynthIDTextWatermarkingConfig,
    WatermarkingConfig,
)

from ...decoding.beam.hypotheses import NOTHING
from ...decoding.beam.types import ReferencePath
from ...decoding.config import MethodConfig
from ...decoding.constraints.grammar import grammars_of
from ...decoding.constraints.value import Constraint
from ...decoding.loop.run import token_limit
from ...decoding.methods import method_of
from ...decoding.protocol import LanguageModel
from ...decoding.shaping.config import BANS, PENALTIES, SETTINGS, WATERMARKS, Shaping
from ..replacing import replaced
from .rope import LengthDependentRope


class Generator(Protocol):
    """A model around one of transformers'."""

    hf_model: Any

    @property
    def device(self) -> torch.device: ...

    @property
    def eos_ids(self) -> frozenset[int]: ...

    @property
    def context_window(self) -> int | None: ...

    @property
    def supports_cache(self) -> bool: ...

    @property
    def rope(self) -> LengthDependentRope | None: ...

    def encode(self, text: str) -> list[int]: ...

    def token_bytes(self, token_id: int) -> bytes: ...


NOTHING_GIVEN: Mapping[int, int] = {}


def reference_token_ids(
    model: Generator,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    given: Mapping[int, int] = NOTHING_GIVEN,
) -> list[int] | None:
    """The ids that `generate` adds to the prompt; None where it has no such method or draw.

    Stop strings are looked for in the new text alone, as the decoding methods do (transformers'
    own criterion lets one begin in the prompt).
    Multinomial sampling on another device than the CPU draws from that device's generator, and so
    can't be compared.

    Args:
        given: ids by step that take the place of the picked ones.
    """
    output = _generate(model, prompt_ids, config, given, searches=False)
    return None if output is None else list(output[0, len(prompt_ids) :].tolist())


def reference_paths(
    model: Generator, prompt_ids: Sequence[int], config: MethodConfig
) -> list[ReferencePath] | None:
    """The hypotheses that `generate` holds at the end of the same beam search, best first.

    None for other methods, and where nothing can be compared. Places without a hypothesis, which
    transformers fills with dead rows, are left out.
    """
    output = _generate(model, prompt_ids, config, NOTHING_GIVEN, searches=True)
    if output is None:
        return None
    rows = zip(
        output.sequences[:, len(prompt_ids) :].tolist(),
        output.sequences_scores.tolist(),
        output.beam_indices.tolist(),
        strict=True,
    )
    paths = []
    for ids, score, indices in rows:
        parents = tuple(parent for parent in indices if parent >= 0)
        if score > NOTHING / 2:
            paths.append(ReferencePath(tuple(ids[: len(parents)]), score, parents))
    return paths


def _generate(
    model: Generator,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    given: Mapping[int, int],
    *,
    searches: bool,
) -> Any:
    """Run `generate` on one prompt; None where it has no room, or no such method or draw.

    Args:
        searches: the method is a beam search.
    """
    settings = _settings(config, model.device)
    if settings is None or ("num_beams" in settings) != searches:
        return None
    room = token_limit(cast(LanguageModel, model), prompt_ids, config)
    if not prompt_ids or room < 1:
        return None
    eos_ids = sorted(model.eos_ids)
    if not eos_ids:
        settings["exponential_decay_length_penalty"] = None  # It has no token to raise.
    beams = settings.get("num_beams")
    generation_config = GenerationConfig(
        max_new_tokens=room,
        min_new_tokens=min(config.min_new_tokens, room) or None,
        eos_token_id=eos_ids or None,
        pad_token_id=eos_ids[0] if eos_ids else 0,
        # Of a recurrent model's state `generate` may leave every row where it was (RecurrentGemma,
        # MiniMax); what can't be rolled back is searched without a cache, and so compared.
        use_cache=config.use_cache and (not searches or model.supports_cache),
        return_dict_in_generate=searches,
        output_scores=searches,
        **settings,
    )
    # With one beam `generate` would decode greedily; the search itself is no other for it.
    forced: dict[str, Any] = {"custom_generate": GenerationMixin._beam_search} if beams == 1 else {}
    if config.shaping.constraint is not None:
        forced["prefix_allowed_tokens_fn"] = _allowed_by(
            cast(LanguageModel, model), config.shaping.constraint, len(prompt_ids)
        )
    prompt = torch.tensor([list(prompt_ids)], device=model.device)
    stopping = [_StopStrings(config.stop_strings, len(prompt_ids), model.token_bytes)]
    rope = model.rope.afresh() if model.rope else nullcontext()
    # The model's own generation config would fill every setting left open.
    bare = replaced(model.hf_model, generation_config=GenerationConfig())
    with rope, bare, torch.random.fork_rng(devices=[]):
        torch.manual_seed(getattr(config, "seed", 0))
        return model.hf_model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            generation_config=generation_config,
            logits_processor=LogitsProcessorList([_Given(given, len(prompt_ids))] if given else []),
            stopping_criteria=StoppingCriteriaList(stopping if config.stop_strings else []),
            **_negative(model, config.shaping),
            **forced,
        )


def _settings(config: MethodConfig, device: torch.device) -> dict[str, Any] | None:
    """Return arguments of `GenerationConfig`; None where nothing can be compared with."""
    settings = method_of(config).reference(config)
    if settings is None:
        return None
    # Random numbers of another device are others.
    on_cpu, shaping = device.type == "cpu", config.shaping
    if not on_cpu and (settings["do_sample"] or shaping.active(WATERMARKS)):
        return None
    if shaping.constraint is not None:
        if config.min_new_tokens or shaping.active(BANS) != ["constraint"]:
            return None  # A ban may give way to the constraint, which transformers' don't.
        shaping = replace(shaping, constraint=None)
    shaped = _arguments(shaping, SETTINGS if settings["do_sample"] else PENALTIES)
    return None if shaped is None else {**settings, **shaped}


def _arguments(shaping: Shaping, names: Iterable[str]) -> dict[str, Any] | None:
    """Some settings as `generate` takes them, off included: it has defaults of its own for some.

    None where a setting is switched on that transformers doesn't have.
    """
    specs = [SETTINGS[name] for name in names]
    watermarks = shaping.active(WATERMARKS)
    lacking = (s.field for s in specs if s.generate is None and not s.part_of)
    if shaping.active(lacking) or len(watermarks) > 1:
        return None
    passed = {
        spec.generate: spec.passed(shaping.value_of(spec.field))
        for spec in specs
        if spec.generate and spec.field not in WATERMARKS
    }
    return passed | {"watermarking_config": watermark(shaping) if watermarks else None}


def _negative(model: Generator, shaping: Shaping) -> dict[str, torch.Tensor]:
    """Return the argument with the negative prompt of a guided run."""
    if shaping.guidance_scale == 1 or not shaping.negative_prompt:
        return {}
    ids = torch.tensor([model.encode(shaping.negative_prompt)], device=model.device)
    return {"negative_prompt_ids": ids}


def watermark(shaping: Shaping) -> WatermarkingConfig | SynthIDTextWatermarkingConfig:
    """Return the switched-on watermark as `generate` takes it."""
    if shaping.synthid_depth:
        return SynthIDTextWatermarkingConfig(
            ngram_len=shaping.synthid_ngram,
            keys=list(shaping.synthid_keys[: shaping.synthid_depth]),
            context_history_size=shaping.synthid_history,
        )
    return WatermarkingConfig(
        greenlist_ratio=shaping.watermark_ratio,
        bias=shaping.watermark_bias,
        hashing_key=shaping.watermark_key,
        seeding_scheme=shaping.watermark_scheme,
        context_width=shaping.watermark_context,
    )


def _allowed_by(
    model: LanguageModel, constraint: Constraint, prompt_length: int
) -> Callable[[int, torch.Tensor], list[int]]:
    """Return the `prefix_allowed_tokens_fn` of a constraint."""
    grammar, size = grammars_of(model).start(constraint), model.vocab_size
    anything = list(range(size))

    def allowed(_: int, ids: torch.Tensor) -> list[int]:
        grammar.read(ids[prompt_length:].tolist())
        tokens: list[int] = grammar.allowed(size).nonzero().flatten().tolist()
        return anything if grammar.left else tokens

    return allowed


class _Given(LogitsProcessor):  # type: ignore[misc]
    """Gives one token the whole probability, at some of the steps."""

    def __init__(self, given: Mapping[int, int], prompt_length: int) -> None:
        self._given, self._prompt_length = given, prompt_length

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        token_id = self._given.get(input_ids.shape[1] - self._prompt_length)
        if token_id is None:
            return scores
        return torch.full_like(scores, -torch.inf).index_fill(
            1, torch.tensor([token_id], device=scores.device), 0.0
        )


class _StopStrings(StoppingCriteria):  # type: ignore[misc]
    def __init__(
        self, stop_strings: Sequence[str], prompt_length: int, token_bytes: Callable[[int], bytes]
    ) -> None:
        self._stops = [text.encode() for text in stop_strings]
        self._prompt_length = prompt_length
        self._token_bytes = token_bytes

    def __call__(self, input_ids: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        rows = input_ids[:, self._prompt_length :].tolist()
        texts = [b"".join(map(self._token_bytes, row)) for row in rows]
        done = [any(stop in text for stop in self._stops) for text in texts]
        return torch.tensor(done, device=input_ids.device)
