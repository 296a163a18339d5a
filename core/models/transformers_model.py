"""Any decoder-only causal language model of transformers, as a `LanguageModel`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property, partial
from threading import Lock
from typing import cast
from weakref import WeakValueDictionary

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from ..decoding.beam.types import ReferencePath
from ..decoding.config import MethodConfig
from ..decoding.counting import sentences
from ..decoding.errors import ModelError
from ..decoding.protocol import OnLogits
from ..language import N_, Message
from .fused.check import fused_step
from .fused.step import MOST_TOKENS
from .heads.own import BringsHead
from .replacing import converted_copy, replaced
from .running import facts
from .running.cache import GrowingCache
from .running.contexts import CachedContext, UncachedContext
from .running.early import EarlyLayers
from .running.layout import lay_out_for_single_tokens
from .running.limits import InputLimits
from .running.reference import NOTHING_GIVEN, reference_paths, reference_token_ids
from .running.rope import AnglesOfRun, length_dependent_rope
from .running.tree import TreeInput, attention_masks
from .running.window import context_window
from .text.tokenizing import Tokenizing, TokenNames

_COPYING = Lock()
CHUNK_BYTES = 64 * 2**20  # Of float32 logits that the prompt's processing holds at a time.


class TransformersModel(Tokenizing, BringsHead):
    """A loaded model with its tokenizer; forwards run from one thread at a time.

    Args:
        model: a decoder-only model, on its device and in its dtype.
        tokenizer: its tokenizer.
        model_id: what a trace names it by.
        revision: a hub commit or a digest of the weights; empty when there is none.
        lay_out_weights: on a CPU in float32, store large weights so that single tokens run
            faster; changes the strides of `model`'s weights, not their values.
        fuse_single_tokens: run steps of a few tokens through `FusedStep` where it has one.
        isolate_templates: run the chat template in a child process: it is a stranger's program.
        left_out: a sentence on tensors of its files that the model has no use for.

    Raises:
        ModelError: the model is an encoder, or holds both an encoder and a decoder.
    """

    has_next_token = True

    def __init__(
        self,
        model: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        *,
        model_id: str,
        revision: str = "",
        lay_out_weights: bool = True,
        fuse_single_tokens: bool = True,
        isolate_templates: bool = False,
        left_out: str = "",
    ) -> None:
        if model.config.is_encoder_decoder or not model.can_generate():
            words = N_(
                "{model} is a {kind}, which doesn't decode token by token; use a decoder-only "
                "causal language model."
            )
            raise ModelError(Message(words, model=model_id, kind=type(model).__name__))
        super().__init__(tokenizer, model_id, revision, isolate_templates)
        self._copies = WeakValueDictionary[str, TransformersModel]()
        self.hf_model = model.eval()
        self.dtype = str(model.dtype).removeprefix("torch.")
        self.vocab_size = facts.vocab_size_of(model)
        self.eos_ids = frozenset(
            token_id
            for token_id in facts.named_eos_ids(model, tokenizer)
            if 0 <= token_id < self.vocab_size
        )
        self.context_window = context_window(model.config.get_text_config(decoder=True))
        self._left_out = left_out
        self._limits = InputLimits(self.vocab_size, self.context_window)
        self.keeps_logits = "logits_to_keep" in inspect.signature(model.forward).parameters
        self._layer_types = facts.cacheable_layers(model) if self.has_next_token else None
        self.rope = length_dependent_rope(model)
        if lay_out_weights:
            lay_out_for_single_tokens(model)
        self._fused = fused_step(model, self._layer_types or []) if fuse_single_tokens else None

    @property
    def described(self) -> str:
        """Notes on its files, in sentences; empty where there is nothing to say."""
        surplus = len(self.tokenizer) - self.vocab_size
        words = N_("Tokens of its tokenizer that the model has no embedding for: {count:,}.")
        unused = Message(words, count=surplus) if surplus > 0 else ""
        return sentences(self._left_out, unused, self.template_fault)

    @property
    def device(self) -> torch.device:
        """Device of the forwards."""
        return cast(torch.device, self.hf_model.device)

    def in_dtype(self, dtype: str) -> TransformersModel:
        """Return a copy with weights of another number type; the model itself for its own.

        All callers share one copy of each number type, which goes when the last one lets it go.

        Args:
            dtype: `float32`, `bfloat16` or `float16`.
        """
        if dtype == self.dtype:
            return self
        with _COPYING:
            copy = self._copies.get(dtype)
            if copy is None:
                copy = self._copies[dtype] = type(self)(
                    converted_copy(self.hf_model, getattr(torch, dtype)),
                    self.tokenizer,
                    model_id=self.model_id,
                    revision=self.revision,
                    isolate_templates=self._isolate_templates,
                )
        return copy

    @property
    def vocabulary(self) -> TokenNames:
        """Return the tokens' texts with the model's name, for code that needs no weights."""
        return TokenNames(self.model_id, self.revision, self.dtype, self.vocab_size, self._texts)

    def start(
        self,
        prompt_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
        angles: AnglesOfRun | None = None,
    ) -> CachedContext | UncachedContext:
        """Run the prompt and return a context of one row that holds it.

        With `on_logits` the prompt is run in pieces whose logits take at most `CHUNK_BYTES`.
        Models without a cache that can be rolled back run uncached, whatever `use_cache` says.

        Args:
            angles: of the run that is read again; by default those of a run with this prompt.

        Raises:
            PromptError: an empty prompt, an id outside the vocabulary, or too many tokens.
        """
        ids = self._limits.as_rows(prompt_ids, 1, 0)[0]
        angles = angles or self._angles(len(ids), use_cache)
        context: CachedContext | UncachedContext
        run = self._forward, self._limits, self.device
        if use_cache and self.supports_cache:
            held = CHUNK_BYTES
            context = CachedContext(*run, GrowingCache(self._layer_types or []), angles)
        else:
            # Every piece runs all before it again, so that one piece may be large.
            held = 8 * CHUNK_BYTES
            context = UncachedContext(*run, angles)
        piece = max(1, held // (4 * self.vocab_size)) if on_logits else len(ids)
        for first in range(0, len(ids), piece):
            logits = context.extend(ids[first : first + piece], keep=0 if on_logits else 1)
            if on_logits:
                on_logits(first, logits[0])
        return context

    @cached_property
    def layers(self) -> EarlyLayers:
        """Logits of its earlier layers."""
        cached = self._layer_types if self.supports_cache else None
        as_model = partial(
            TransformersModel,
            tokenizer=self.tokenizer,
            model_id=f"first layers of {self.model_id}",
            revision=self.revision,
            lay_out_weights=False,
        )
        return EarlyLayers(self.hf_model, self._limits, cached, self._angles, as_model)

    def read_again(
        self,
        prompt_ids: Sequence[int],
        token_ids: Sequence[int],
        *,
        use_cache: bool = True,
        on_logits: OnLogits | None = None,
    ) -> UncachedContext:
        """Run prompt and tokens of a run without a cache; the numbers are the run's own.

        Args:
            use_cache: whether the run had one; position embeddings that depend on the length are
                others with it.
            on_logits: as of `start`.

        Raises:
            PromptError: as `start`.
        """
        ids, angles = [*prompt_ids, *token_ids], self._angles(len(prompt_ids), use_cache)
        context = self.start(ids, use_cache=False, on_logits=on_logits, angles=angles)
        return cast(UncachedContext, context)

    def recomputed_at(self, prompt_length: int, length: int, use_cache: bool) -> int | None:
        """Return the length at which a run to `length` computes its cache anew; None for none."""
        angles = self._angles(prompt_length, use_cache)
        if angles is None or not (angles.anew and use_cache and self.supports_cache):
            return None
        spans = angles.spans(prompt_length - 1, length)
        return spans[1][0] + 1 if len(spans) > 1 else None

    def prompt_angles(self, prompt_length: int, use_cache: bool) -> tuple[int, int] | None:
        """Return what the prompt's length decides for all its keys; None where it decides nothing.

        Runs can share a batch only where this is the same.
        """
        angles = self._angles(prompt_length, use_cache)
        return None if angles is None or angles.anew else angles.key(prompt_length)

    @contextmanager
    def angles_at(self, length: int, prompt_length: int, use_cache: bool) -> Iterator[None]:
        """Meanwhile a forward of the whole text gives what a run sees at its last token.

        Args:
            length: of the text.
            prompt_length: how many tokens of it the run read at once.
            use_cache: whether the run has a cache.
        """
        angles = self._angles(prompt_length, use_cache)
        with angles.at(length) if angles else nullcontext():
            yield

    def _angles(self, prompt_length: int, as_cached: bool) -> AnglesOfRun | None:
        if self.rope is None:
            return None
        return AnglesOfRun(self.rope, prompt_length, self.rope.drops_cache or not as_cached)

    def trial_logits(self) -> torch.Tensor:
        """Return the logits after one token, as a test of the weights."""
        return self.start([0]).logits

    def reference_token_ids(
        self,
        prompt_ids: Sequence[int],
        config: MethodConfig,
        given: Mapping[int, int] = NOTHING_GIVEN,
    ) -> list[int] | None:
        """Run transformers' own `generate` for `Greedy`, or `Sampling` by multinomial.

        None where there is nothing to compare with: another method, another draw.

        Args:
            given: ids by step that take the place of the picked ones.
        """
        return reference_token_ids(self, prompt_ids, config, given)

    def reference_paths(
        self, prompt_ids: Sequence[int], config: MethodConfig
    ) -> list[ReferencePath] | None:
        """Run transformers' own beam search, best path first; None where it has no such one."""
        return reference_paths(self, prompt_ids, config)

    def _forward(
        self,
        ids: torch.Tensor,
        cache: GrowingCache | None,
        keep: int = 0,
        hidden: list[torch.Tensor] | None = None,
        tree: TreeInput | None = None,
    ) -> torch.Tensor:
        """Logits `[rows, n, vocab]` of ids `[rows, n]`; keep: of the last so many, 0 for all.

        Args:
            hidden: takes the last layer's hidden states in, `[rows, n, width]`.
            tree: of the one row's tokens, if they are not a line.
        """
        fused, added = self._fused, ids.shape[1]
        if (
            fused
            and cache is not None
            and added <= min(MOST_TOKENS, fused.body.most_length - cache.get_seq_length())
        ):
            logits = fused(ids, cache, keep, hidden, tree).to("cpu")
            if hidden is not None:
                hidden[-1] = hidden[-1].to("cpu")
            return logits
        return self._by_modules(ids, cache, keep, hidden, tree)

    def _by_modules(
        self,
        ids: torch.Tensor,
        cache: GrowingCache | None,
        keep: int,
        hidden: list[torch.Tensor] | None,
        tree: TreeInput | None,
    ) -> torch.Tensor:
        """`_forward` by transformers' own modules."""
        options: dict[str, object] = {"use_cache": cache is not None}
        if hidden is not None:
            options["output_hidden_states"] = True
        if cache is not None:
            options["past_key_values"] = cache
        if self.keeps_logits and 0 < keep < ids.shape[1]:
            options["logits_to_keep"] = keep
        if tree is not None:
            options["attention_mask"] = attention_masks(
                tree, self._layer_types or [], self.hf_model
            )
            options["position_ids"] = tree.positions[None]
        output = self.hf_model(input_ids=ids, return_dict=True, **options)
        if hidden is not None:
            hidden.append(output.hidden_states[-1].to("cpu", torch.float32))
        return cast(torch.Tensor, output.logits)[:, -keep:].to("cpu", torch.float32)

    def plain_forwards(self) -> AbstractContextManager[None]:
        """Meanwhile every forward goes through transformers' own modules, which can be watched."""
        return replaced(self, _fused=None)

    @cached_property
    def supports_cache(self) -> bool:
        """False where contexts run the whole sequence every time; found out once, by a trial."""
        return facts.caches_right(
            self._forward, self._trial_ids, self._layer_types, self._tolerance
        )

    @cached_property
    def takes_trees(self) -> bool:
        """Return whether a context can `extend_tree`; found out once, by a trial."""
        types = self._layer_types
        if types is None or self.rope is not None or "chunked_attention" in types:
            return False
        forward = partial(self._by_modules, keep=0, hidden=None)
        cached = types if self.supports_cache else None
        return facts.attends_trees(forward, self._trial_ids, cached, self._tolerance)

    @property
    def _trial_ids(self) -> torch.Tensor:
        return torch.arange(facts.TOKENS, device=self.device)[None] % self.vocab_size

    @property
    def _tolerance(self) -> float:
        return 1e-3 if self.hf_model.dtype is torch.float32 else 1e-1
