"""Measurements of the sampling lab on one step's stored logits; nothing here runs the model.

Every function takes the order of the processors as an argument (`orders`); runs use only
transformers' order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from ...language import N_
from ..autoregressive.config import Sampling
from ..constraints.grammar import GrammarMaker, StepGrammar
from ..constraints.value import Constraint
from ..errors import ConfigError
from ..loop.recording import rank_of, read_step
from ..loop.text import join_prompt, join_text
from ..protocol import LanguageModel, Vocabulary
from ..record.steps import Candidate, Draw, Stage, StepSeconds, TokenStep
from ..record.trace import Timings, Trace
from ..requirements import require_all_tokens
from ..shaping.config import Shaping
from ..shaping.draws import draw, noise_at
from ..shaping.orders import TRANSFORMERS, Order
from ..shaping.repeats import repeats
from ..shaping.stage import NO_STATES
from ..shaping.stages import Distribution
from ..shaping.step import StepShaper
from .types import Crossing, LabStep, LoweredToken


class StepLogits(NamedTuple):
    """Logits of a step that the knobs act on.

    Args:
        model: the vocabulary; a step that is kept for long holds no weights.
        logits: the model's `[vocab]` logits.
        previous_ids: prompt and generated tokens before the step.
        eos_ids: the model's end-of-sequence tokens.
        generated: number of generated tokens among the previous ones; None for the number of the
            draw, which it is in a run.
        states: the samplers' states at the step, as a run recorded them.
        grammar: the tokens that the constraint allows; None without one.
    """

    model: Vocabulary
    logits: Tensor
    previous_ids: tuple[int, ...]
    eos_ids: tuple[int, ...] = ()
    generated: int | None = None
    states: Mapping[str, float] = NO_STATES
    grammar: StepGrammar | None = None

    def shaper(self, shaping: Shaping, order: Order, seed: int = 0) -> StepShaper:
        """Return the shaper for an order; processors that its library lacks are left out."""
        return StepShaper(
            shaping,
            names=order.acting(shaping),
            eos_ids=self.eos_ids,
            seed=seed,
            token_bytes=self.model.token_bytes,
            grammars=self._grammars,
        )

    def _grammars(self) -> GrammarMaker:
        if self.grammar is None:
            raise ConfigError(N_("acts on a step that was read with it."), "constraint", "Shaping")
        return self.grammar

    def shaped(
        self, shaper: StepShaper, number: int, begun: Sequence[Distribution] = ()
    ) -> list[Distribution]:
        """Return the distributions of draw `number`.

        Args:
            begun: the first distributions, if known already.
        """
        index = number if self.generated is None else self.generated
        return shaper.distributions(
            self.logits, self.previous_ids, index, begun=begun, states=self.states, throw=number
        )


def read_step_logits(
    model: LanguageModel,
    previous_ids: Sequence[int],
    generated: int | None = None,
    states: Mapping[str, float] = NO_STATES,
    constraint: Constraint | None = None,
) -> StepLogits:
    """Return the step after some tokens, from one forward over them.

    Args:
        generated, states: as of `StepLogits`.
        constraint: of the generated tokens, if the settings will have one.

    Raises:
        PromptError: no token, an unknown one, or too many.
        ConfigError: the model's server doesn't name all tokens, or as `step_grammar`.
    """
    require_all_tokens(model, N_("the lab"))
    logits = model.start(previous_ids).logits[0]
    grammar = None
    if constraint is not None:
        grammar = step_grammar(model, constraint, previous_ids, generated or 0)
    return StepLogits(
        model.vocabulary,
        logits,
        tuple(previous_ids),
        tuple(sorted(model.eos_ids)),
        generated,
        states,
        grammar,
    )


def step_grammar(
    model: LanguageModel, constraint: Constraint, previous_ids: Sequence[int], generated: int
) -> StepGrammar:
    """Return the tokens that a constraint allows at a step.

    Raises:
        ConfigError: the constraint is too large, or allows no first token.
    """
    return StepGrammar(model, constraint, previous_ids[len(previous_ids) - generated :])


def distributions(
    step_logits: StepLogits,
    shaping: Shaping,
    order: Order = TRANSFORMERS,
    number: int = 0,
    seed: int = 0,
) -> list[Distribution]:
    """Return every distribution from `raw` to the final one, in the order's sequence.

    At temperature 0 the filters don't act: the last stage is `argmax`.

    Raises:
        DecodingError: the logits are no distribution.
    """
    return step_logits.shaped(step_logits.shaper(shaping, order, seed), number)


def noise_of(step_logits: StepLogits, config: Sampling, number: int) -> Tensor:
    """Return the noise of draw `number`: the noise of step `number` in a run with this seed."""
    return noise_at(config.draw, config.seed, number, step_logits.model.vocab_size)


def lab_step(
    step_logits: StepLogits,
    config: Sampling,
    order: Order = TRANSFORMERS,
    number: int = 0,
    text: str = "",
) -> LabStep:
    """Return the step under `config`, with the noise of draw `number`.

    Args:
        text: the typed prompt, for the trace.

    Raises:
        DecodingError: the logits are no distribution.
    """
    model, noise = step_logits.model, noise_of(step_logits, config, number)
    stages = distributions(step_logits, config.shaping, order, number, config.seed)
    pick, raw_pick = (draw(stage, config.draw, noise) for stage in (stages[-1], stages[0]))
    reading = read_step(model, stages, pick, config.top_candidates)
    greedy = config.shaping.temperature == 0
    step = TokenStep(
        index=0,
        token_id=pick.token_id,
        candidates=reading.candidates,
        entropy=reading.entropy,
        tail_mass=reading.tail_mass,
        surprisal=reading.surprisal,
        origin="argmax" if greedy else "sampled",
        phase="answer",
        draw=Draw("argmax")
        if greedy
        else Draw(config.draw, pick.uniform, pick.interval, reading.scores),
        stages=reading.stages,
        text=join_text(model, [pick.token_id]),
        seconds=StepSeconds(0.0, 0.0, 0.0),
        finish_reason=None,
    )
    return LabStep(
        trace=_one_step_trace(step_logits, config, step, text),
        text_before=join_prompt(model, step_logits.previous_ids),
        order=order,
        throw=number,
        raw_pick=candidate_of(step_logits, stages, raw_pick.token_id),
        crossing=_crossing(step_logits, stages, reading.stages),
        skipped=skipped_processors(config.shaping, order),
        lowered=_lowered(step_logits, stages, config.shaping),
    )


def agrees(stored: LabStep, again: LabStep) -> bool:
    """Return True if a stored step equals the recomputed one, up to rounding on another machine."""
    names = [
        (step.token_id, [stage.name for stage in step.stages]) for step in (stored.step, again.step)
    ]
    if names[0] != names[1] or stored.text_before != again.text_before:
        return False
    theirs, ours = _numbers_of(stored.step), _numbers_of(again.step)
    return theirs.keys() == ours.keys() and all(
        math.isclose(value, ours[key], rel_tol=1e-3, abs_tol=1e-3) for key, value in theirs.items()
    )


def _numbers_of(step: TokenStep) -> dict[tuple[object, ...], float]:
    """Return a step's numbers that figures draw: those of candidates, stages and the draw."""
    numbers: dict[tuple[object, ...], float] = {}
    ids = [candidate.token_id for candidate in step.candidates]
    for token_id, candidate in zip(ids, step.candidates, strict=True):
        numbers |= {("logit", token_id): candidate.logit, ("prob", token_id): candidate.prob}
    for stage in step.stages:
        numbers |= {("stage", stage.name, at): p for at, p in zip(ids, stage.probs, strict=True)}
        numbers[("tail", stage.name)] = stage.tail_mass
        numbers[("removed", stage.name)] = stage.removed_mass
    for at, score in zip(ids, step.draw.scores or (), strict=False):
        if score is not None:
            numbers[("score", at)] = score
    if step.draw.uniform is not None and step.draw.interval is not None:
        numbers |= {("uniform",): step.draw.uniform}
        numbers |= {("end", at): end for at, end in enumerate(step.draw.interval)}
    return numbers


def skipped_processors(shaping: Shaping, order: Order) -> tuple[str, ...]:
    """Return the settings that are switched on but missing in the order's library."""
    acting = order.acting(shaping)
    return tuple(name for name in shaping.active(TRANSFORMERS.processors) if name not in acting)


def _one_step_trace(step_logits: StepLogits, config: Sampling, step: TokenStep, text: str) -> Trace:
    model = step_logits.model
    return Trace(
        model_id=model.model_id,
        model_revision=model.revision,
        dtype=model.dtype,
        prompt=text,
        prompt_ids=step_logits.previous_ids,
        config=config,
        steps=(step,),
        token_ids=(step.token_id,),
        text=step.text,
        finish_reason="length",
        timings=Timings(0.0, 0.0, 0.0),
    )


def candidate_of(
    step_logits: StepLogits, stages: Sequence[Distribution], token_id: int
) -> Candidate:
    """Return a token with its numbers, whatever its rank."""
    raw, last, token = stages[0], stages[-1], torch.tensor([token_id])
    alive = [stage.log_probs_of(token)[0] > -torch.inf for stage in stages]
    gone = next((stage.name for stage, is_in in zip(stages, alive, strict=True) if not is_in), None)
    return Candidate(
        token_id,
        step_logits.model.token_text(token_id),
        rank_of(raw.logits, token_id),
        float(raw.logits[token_id]),
        _prob(raw, token_id),
        _prob(last, token_id),
        gone,
    )


def _prob(stage: Distribution, token_id: int) -> float:
    return float(torch.tensor(stage.log_probs_of(torch.tensor([token_id]))).exp())


def _crossing(
    step_logits: StepLogits, stages: Sequence[Distribution], records: Sequence[Stage]
) -> Crossing | None:
    """Return the least probable token that top-p kept, with the cumulative mass up to it."""
    at = next((place for place, stage in enumerate(stages) if stage.name == "top_p"), None)
    if at is None:
        return None
    seen, left = stages[at - 1], stages[at]
    lowest = int(torch.argmin(left.logits))
    token_id = left.token_id(lowest)
    prob = _prob(seen, token_id)
    after = 1.0 - records[at].removed_mass
    probs = tuple(_prob(stage, token_id) for stage in stages)
    candidate = candidate_of(step_logits, stages, token_id)
    return Crossing(candidate, max(0.0, after - prob), after, (*probs, probs[-1]))


def _lowered(
    step_logits: StepLogits, stages: Sequence[Distribution], shaping: Shaping
) -> LoweredToken | None:
    """Return the token that DRY lowers most: the one that would continue the longest repeat."""
    if all(stage.name != "dry_multiplier" for stage in stages):
        return None
    _, _, allowed, last_n, breakers = shaping.value_of("dry_multiplier")
    token_bytes = step_logits.model.token_bytes
    matches = repeats(step_logits.previous_ids, allowed, last_n, breakers, token_bytes)
    if not matches:
        return None
    token, repeat = max(matches.items(), key=lambda item: item[1])
    return LoweredToken(candidate_of(step_logits, stages, token), repeat, len(matches))
