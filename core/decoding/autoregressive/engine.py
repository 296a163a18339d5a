"""Greedy decoding and sampling: one token a step, each step a forward, a shaping and a draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import NamedTuple

from torch import Tensor

from core.decoding.autoregressive.config import drawn_by
from core.decoding.config import Ended, MethodConfig
from core.decoding.loop.recording import read_step
from core.decoding.loop.run import eos_rows, process_prompt, token_limit
from core.decoding.loop.text import Ending
from core.decoding.protocol import Context, LanguageModel
from core.decoding.record.steps import Draw, Phase, Step, StepSeconds, TokenStep
from core.decoding.shaping.draws import Pick, draw, draw_noise, new_generator
from core.decoding.shaping.known import require_drawable
from core.decoding.shaping.long_rows import Ranking, ranked
from core.decoding.shaping.stages import Distribution
from core.decoding.shaping.step import StepShaper


def generate(
    model: LanguageModel, prompt_ids: Sequence[int], config: MethodConfig
) -> Iterator[Step]:
    """Yield the prompt step, then a step for each generated token.

    Args:
        prompt_ids: at least one id; prompt and generated tokens together stay within the
            model's context window.

    Raises:
        PromptError: the prompt is empty, holds an unknown id or is too long.
        DecodingError: the model returned no distribution, or every token is banned.
    """
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    yield from continue_from(model, context, prompt_ids, config)


def continue_from(
    model: LanguageModel, context: Context, prompt_ids: Sequence[int], config: MethodConfig
) -> Iterator[TokenStep]:
    """Yield a step for each generated token; `context` holds the prompt, in one row."""
    limit = token_limit(model, prompt_ids, config)
    picker, ending = Picker(model, config), Ending(model, config, limit)
    ids, logits, forward = list(prompt_ids), context.logits[0], 0.0
    for index in range(limit):
        picked = picker.pick(index, logits, ids)
        token_id = picked.pick.token_id
        ids.append(token_id)
        text, reason = ending.after(index, token_id)
        yield picker.record(index, picked, forward, text, reason)
        if reason:
            return
        started = perf_counter()
        logits = context.extend([token_id])[0, -1]
        forward = perf_counter() - started


def shaper_of(model: LanguageModel, config: MethodConfig) -> StepShaper:
    """Return the shaper of a run of one sequence; `config` chooses its tokens."""
    return StepShaper(
        config.shaping,
        draws=drawn_by(config) is not None,
        min_new_tokens=config.min_new_tokens,
        eos_ids=eos_rows(model),
        known=getattr(model, "known", None) is not None,
        seed=getattr(config, "seed", 0),
        token_bytes=model.token_bytes,
    )


class Picked(NamedTuple):
    """A pick with the distributions that led to it; times in seconds.

    `top` ranks the candidates of the first one, where all its tokens are known.
    """

    pick: Pick
    stages: list[Distribution]
    shaping_seconds: float
    draw_seconds: float
    top: Ranking | None = None


class Picker:
    """Shapes logits and draws, for one run; owns the run's generator."""

    def __init__(self, model: LanguageModel, config: MethodConfig) -> None:
        self._model = model
        self._config = config
        self._shaper = shaper_of(model, config)
        self._sampling = drawn_by(config)
        self._generator = new_generator(self._sampling.seed if self._sampling else 0)

    def pick(
        self, index: int, logits: Tensor, previous_ids: Sequence[int], noise: Tensor | None = None
    ) -> Picked:
        """The token that follows from `[vocab]` logits after `previous_ids`.

        Args:
            noise: of `draws.draw_noise`; None draws the run's next.
        """
        started = perf_counter()
        top = None if self._shaper.known else ranked(logits, self._config.top_candidates)
        stages = self._shaper.distributions(logits, previous_ids, index, top)
        shaped = perf_counter()
        if self._sampling:
            method = self._sampling.draw
            if noise is None:
                noise = draw_noise(method, self._generator, self._model.vocab_size)
            if self._shaper.known:
                require_drawable(stages[-1], method, noise)
            pick = draw(stages[-1], method, noise)
        else:
            pick = Pick(stages[-1].token_id(0))
        return Picked(pick, stages, shaped - started, perf_counter() - shaped, top)

    def record(
        self,
        index: int,
        picked: Picked,
        forward: float,
        text: str,
        finish_reason: Ended | None,
        phase: Phase = "answer",
    ) -> TokenStep:
        """The frozen step."""
        pick = picked.pick
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
            seconds=StepSeconds(forward, picked.shaping_seconds, picked.draw_seconds),
            finish_reason=finish_reason,
        )
