"""Greedy decoding and sampling: a step is one forward, shaping and a draw, and emits a token."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter

import torch
from torch import Tensor

from ..config import Ended, MethodConfig
from ..constraints.grammar import grammars_of
from ..loop.recording import read_step
from ..loop.run import process_prompt, token_limit
from ..loop.second import second_forwards
from ..loop.text import Ending
from ..protocol import Context, LanguageModel
from ..record.steps import Draw, Phase, Step, StepSeconds, TokenStep
from ..shaping.draws import (
    Pick,
    draw,
    draw_noise,
    generator_at,
    noisy_scores,
)
from ..shaping.known import require_drawable
from ..shaping.long_rows import ranked
from ..shaping.stage import NO_STATES
from ..shaping.stages import raw_distribution
from ..shaping.step import StepShaper, states_after
from .config import drawn_by
from .picked import ForcedToken, Picked, all_on, cannot_force


def generate(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    given: Sequence[int] = (),
) -> Iterator[Step]:
    """Yield the prompt step, then a step for each generated token.

    Args:
        prompt_ids: at least one id; prompt and generated tokens together stay within the model's
            context window.
        given: ids of the first generated tokens, which replace the model's picks. If the model
            picks the same token, the step is an ordinary one; otherwise the token is forced.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        DecodingError: the model returned no distribution, or every token is banned.
    """
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    yield from continue_from(model, context, prompt_ids, config, given=given)


def continue_from(
    model: LanguageModel,
    context: Context,
    prompt_ids: Sequence[int],
    config: MethodConfig,
    *,
    emitted: Sequence[int] = (),
    given: Sequence[int] = (),
    forward: float = 0.0,
    states: Mapping[str, float] = NO_STATES,
) -> Iterator[TokenStep]:
    """Yield a step for each generated token after the tokens already emitted.

    Args:
        context: holds the prompt and the emitted tokens, in one row.
        emitted: tokens of an earlier run; the noise continues from that run's generator state.
        given: as in `generate`, after the emitted tokens.
        forward: seconds of the last emitted token's forward; the first step uses its logits.
        states: the samplers' states after the emitted tokens.
    """
    limit = token_limit(model, prompt_ids, config)
    row = _Row(model, prompt_ids, config, limit, emitted, given, states)
    logits = context.logits[0]
    for index in range(len(emitted), limit):
        step = row.step(index, logits, forward)
        yield step
        if step.finish_reason:
            return
        started = perf_counter()
        logits = context.extend([step.token_id])[0, -1]
        forward = perf_counter() - started


def read_given(
    model: LanguageModel, prompt_ids: Sequence[int], config: MethodConfig, given: Sequence[int]
) -> Iterator[Step]:
    """Yield the steps of a run whose tokens, at least one, are all given; a forward reads many."""
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    row = _Row(model, prompt_ids, config, len(given), (), given)
    yield row.step(0, context.logits[0], 0.0)
    piece = max(1, 2**23 // model.vocab_size)  # 32 MiB of logits
    for first in range(0, len(given) - 1, piece):
        started = perf_counter()
        logits = context.extend(given[first : min(first + piece, len(given) - 1)])[0]
        forward = (perf_counter() - started) / len(logits)
        for index, after in enumerate(logits, start=first + 1):
            yield row.step(index, after, forward)


def continue_each(
    model: LanguageModel,
    context: Context,
    prompt_ids: Sequence[int],
    configs: Sequence[MethodConfig],
    *,
    emitted: Sequence[int],
    given: Sequence[Sequence[int]],
    forward: float,
    states: Mapping[str, float] = NO_STATES,
) -> Iterator[tuple[tuple[int, TokenStep], ...]]:
    """Yield the next step of every unfinished row, with the row's index.

    Row i equals `continue_from` with `configs[i]` and `given[i]`, up to rounding: the forwards
    have another shape. The seconds of each forward are divided among its rows.
    """
    limits = [token_limit(model, prompt_ids, config) for config in configs]
    rows = [
        _Row(model, prompt_ids, config, limit, emitted, ids, states)
        for config, limit, ids in zip(configs, limits, given, strict=True)
    ]
    context, going = context.branch([0] * len(rows)), list(range(len(rows)))
    for index in range(len(emitted), max(limits, default=0)):
        logits, share = context.logits, forward / len(going)
        steps = [rows[row].step(index, logits[at], share) for at, row in enumerate(going)]
        yield tuple(zip(going, steps, strict=True))
        left = [at for at, step in enumerate(steps) if not step.finish_reason]
        if not left:
            return
        if len(left) < len(going):
            context, going = context.branch(left), [going[at] for at in left]
        started = perf_counter()
        context.extend([[rows[row].ids[-1]] for row in going])
        forward = perf_counter() - started


class _Row:
    """One sequence that continues after the emitted tokens, with its own generator.

    Args:
        limit: number of tokens at which the row ends.
        given, states: as in `continue_from`.
    """

    def __init__(
        self,
        model: LanguageModel,
        prompt_ids: Sequence[int],
        config: MethodConfig,
        limit: int,
        emitted: Sequence[int],
        given: Sequence[int],
        states: Mapping[str, float] = NO_STATES,
    ) -> None:
        self._picker = Picker(model, config, len(emitted), states)
        self._ending = Ending(model, config, limit)
        for index, token_id in enumerate(emitted):
            self._ending.after(index, token_id)
        self._given = dict(enumerate(given, start=len(emitted)))
        self.ids = [*prompt_ids, *emitted]

    def step(self, index: int, logits: Tensor, forward: float) -> TokenStep:
        """Emit the next token, given `[vocab]` logits."""
        picked = self._picker.pick(index, logits, self.ids)
        token_id = self._given.get(index, picked.pick.token_id)
        self.ids.append(token_id)
        text, reason = self._ending.after(index, token_id)
        if token_id == picked.pick.token_id:
            return self._picker.record(index, picked, forward, text, reason)
        forced = ForcedToken(token_id, "given", "answer", logits, picked)
        return self._picker.record_forced(index, forced, forward, text, reason)


def shaper_of(model: LanguageModel, config: MethodConfig) -> StepShaper:
    """Return the shaper of a run with one sequence and this config."""
    return StepShaper(
        config.shaping,
        draws=drawn_by(config) is not None,
        min_new_tokens=config.min_new_tokens,
        eos_ids=model.eos_ids,
        known=getattr(model, "known", None) is not None,
        seed=getattr(config, "seed", 0),
        token_bytes=model.token_bytes,
        forwards=second_forwards(model, config),
        grammars=lambda: grammars_of(model),
    )


class Picker:
    """Shaper and sampler of one run; owns the run's random generator and its samplers' states.

    Args:
        start: number of tokens that were already drawn with the same seed.
        states: the samplers' states after these tokens.
    """

    def __init__(
        self,
        model: LanguageModel,
        config: MethodConfig,
        start: int = 0,
        states: Mapping[str, float] = NO_STATES,
    ) -> None:
        self._model, self._states = model, states
        self._config = config
        self.shaper = shaper_of(model, config)
        self._sampling = sampling = drawn_by(config)
        self._generator = torch.Generator().manual_seed(sampling.seed if sampling else 0)
        if sampling and start:
            self._generator = generator_at(sampling.draw, sampling.seed, start, model.vocab_size)

    def pick(
        self,
        index: int,
        logits: Tensor,
        previous_ids: Sequence[int],
        noise: Tensor | None = None,
        states: Mapping[str, float] | None = None,
    ) -> Picked:
        """Pick the token after `previous_ids`, given `[vocab]` logits.

        Args:
            noise: noise from `draws.draw_noise`; None draws the run's next noise.
            states: the samplers' states at this step; None for those that `take` left.
        """
        started, second = perf_counter(), self.shaper.second_seconds
        top = None if self.shaper.known else ranked(logits, self._config.top_candidates)
        states = self._states if states is None else states
        stages = self.shaper.distributions(logits, previous_ids, index, top, states=states)
        shaped, second = perf_counter(), self.shaper.second_seconds - second
        if self._sampling:
            method = self._sampling.draw
            if noise is None:
                noise = draw_noise(method, self._generator, self._model.vocab_size)
            if self.shaper.known:
                require_drawable(stages[-1], method, noise)
            pick = draw(stages[-1], method, noise)
        else:
            pick = Pick(stages[-1].token_id(0))
        shaping = shaped - started - second
        return Picked(pick, stages, shaping, perf_counter() - shaped, top, second)

    def take(self, picked: Picked, token_id: int) -> None:
        """Move the samplers' states to the next step; a forced token leaves them."""
        if any(stage.state is not None for stage in picked.stages):
            self._states = states_after(self._config.shaping, picked.stages, token_id)

    def record(
        self,
        index: int,
        picked: Picked,
        forward: float,
        text: str,
        finish_reason: Ended | None,
        phase: Phase = "answer",
    ) -> TokenStep:
        """Return the recorded step, and move the samplers' states to the next one."""
        pick = picked.pick
        self.take(picked, pick.token_id)
        count = self._config.top_candidates
        reading = read_step(self._model, picked.stages, pick, count, picked.top)
        method = self._sampling.draw if self._sampling else "argmax"
        return TokenStep(
            index=index,
            token_id=pick.token_id,
            candidates=reading.candidates,
            entropy=reading.entropy,
            tail_mass=reading.tail_mass,
            surprisal=reading.surprisal,
            origin="sampled" if self._sampling else "argmax",
            phase=phase,
            draw=Draw(method, pick.uniform, pick.interval, reading.scores),
            stages=reading.stages,
            text=text,
            seconds=StepSeconds(
                forward + picked.second_seconds, picked.shaping_seconds, picked.draw_seconds
            ),
            finish_reason=finish_reason,
        )

    def record_forced(
        self,
        index: int,
        forced: ForcedToken,
        forward: float,
        text: str,
        finish_reason: Ended | None,
    ) -> TokenStep:
        """Record a forced token: an extra stage gives it probability 1.

        Raises:
            DecodingError: the model gives the token no probability.
        """
        token_id, reason, phase, logits, picked = forced
        if not logits[token_id] > -math.inf:
            raise cannot_force(self._model, token_id)
        started = perf_counter()
        before = [raw_distribution(logits)] if picked is None else picked.stages
        stages = [*before, all_on(token_id, before[-1])]
        seconds = StepSeconds(forward, perf_counter() - started, 0.0)
        if picked is not None:
            forward += picked.second_seconds
            seconds = StepSeconds(forward, picked.shaping_seconds, picked.draw_seconds)
        reading = read_step(self._model, stages, Pick(token_id), self._config.top_candidates)
        candidates = tuple(
            c._replace(removed_by=None) if c.token_id == token_id else c for c in reading.candidates
        )
        return TokenStep(
            index=index,
            token_id=token_id,
            candidates=candidates,
            entropy=reading.entropy,
            tail_mass=reading.tail_mass,
            surprisal=reading.surprisal,
            origin="forced",
            phase=phase,
            draw=self._replaced_draw(picked, [c.token_id for c in candidates]),
            stages=reading.stages,
            text=text,
            seconds=seconds,
            finish_reason=finish_reason,
            forced_as=reason,
            instead_of=None if picked is None else picked.pick.token_id,
        )

    def _replaced_draw(self, picked: Picked | None, candidate_ids: list[int]) -> Draw:
        """Record the draw whose token was replaced; `forced` if nothing was drawn."""
        if picked is None:
            return Draw("forced")
        if not self._sampling:
            return Draw("argmax")
        pick, scores = picked.pick, None
        if pick.noise is not None:
            ids = torch.tensor(candidate_ids)
            scores = tuple(noisy_scores(pick, ids, picked.stages[-1].log_probs_of(ids)))
        return Draw(self._sampling.draw, pick.uniform, pick.interval, scores)
