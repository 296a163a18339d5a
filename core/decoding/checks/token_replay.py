"""Replay of every step of a single-token method by the engine's own shaper."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import chain
from typing import TypeAlias

import torch
from torch import Tensor

from ...language import N_, Message
from ..autoregressive.config import drawn_by
from ..autoregressive.engine import Picker
from ..autoregressive.picked import ForcedToken, Picked
from ..config import DRAW_METHODS
from ..constraints.reading import answer_from
from ..counting import at_step, nth
from ..errors import DecodingError
from ..protocol import LanguageModel
from ..record.notes import DRAWS_UNKNOWN
from ..record.steps import TokenStep
from ..record.trace import Trace
from ..shaping.draws import Pick, draw_noise, interval_of
from ..shaping.stage import named_uniform
from .common import MASS_TOLERANCE
from .forwards import stretched
from .nearby_rows import NearbyRows
from .same_record import difference

SAME_STAGES = "stages_again"
# Function that records a step as its method does. It gets the recorded step, for fields that are
# checked elsewhere, the `[vocab]` logits, and the shaper's pick; None if nothing was picked.
RecordAgain: TypeAlias = Callable[[Picker, TokenStep, Tensor, Picked | None], TokenStep]


def record_picked(picker: Picker, step: TokenStep, row: Tensor, picked: Picked | None) -> TokenStep:
    """Record the pick, or the token given in its place, as greedy decoding and sampling do.

    Raises:
        DecodingError: a token was forced without a pick, which these methods never do.
    """
    if picked is None:
        raise DecodingError(N_("the method forces no token"))
    if step.origin == "forced" and picked.pick.token_id != step.token_id:
        forced = ForcedToken(step.token_id, "given", step.phase, row, picked)
        return picker.record_forced(step.index, forced, 0.0, step.text, step.finish_reason)
    return picker.record(step.index, picked, 0.0, step.text, step.finish_reason, step.phase)


class TokenReplay:
    """Replay of a run's steps in order, each from an independent forward's logits."""

    def __init__(self, trace: Trace, model: LanguageModel, record: RecordAgain) -> None:
        self._trace, self._record, self._vocab = trace, record, model.vocab_size
        chooser = trace.config.chooser
        self._picker, self._sampling = Picker(model, chooser), drawn_by(chooser)
        self._seed = getattr(chooser, "seed", 0)
        self._answer_from = answer_from(trace.token_steps)
        self._dice = torch.Generator().manual_seed(self._sampling.seed if self._sampling else 0)

    def fault(self, step: TokenStep, logits: Tensor, ids: Sequence[int], tolerance: float) -> str:
        """Describe the step's first difference from the settings applied to `[vocab]` logits; empty
        if none.

        Args:
            ids: prompt and generated tokens before the step.
            tolerance: largest difference of the logits from the run's, in nats.
        """
        for stage in step.stages:
            drawn = named_uniform(self._seed, stage.name, step.index)
            if stage.noise not in (None, drawn):
                return Message(
                    "step {index}: the seed gives {name} another number",
                    index=nth(step.index),
                    name=stage.name,
                )
        noise = self._noise_of(step)
        recorded = {c.token_id: c.logit for c in step.candidates}
        listed = [*recorded][: self._trace.config.top_candidates]
        nearby = NearbyRows(logits, recorded, listed, tolerance)
        slack = MASS_TOLERANCE + 4 * stretched(tolerance, self._trace.config.shaping)
        try:
            row = nearby.moved()
            picked = None if step.draw.method == "forced" else self._pick(step, row, ids, noise)
            again = [self._record(self._picker, step, row, picked)]
            if picked is not None and difference(step, again, slack):
                cuts = [stage.ids for stage in picked.stages if stage.ids is not None]
                for row in nearby.edges(cuts):
                    picked = self._pick(step, row, ids, noise)
                    again.append(self._record(self._picker, step, row, picked))
        except DecodingError as error:
            return at_step(step.index, error.args[0])
        field = difference(step, again, slack)
        return field and Message(
            "step {index}: the settings give another {field}", index=nth(step.index), field=field
        )

    def may_emit(
        self, at: int, logits: Tensor, tolerance: float, token_ids: Collection[int]
    ) -> bool:
        """Return whether step `at` picks each of the tokens for some row within the tolerance of
        the logits.

        The threshold of a filter may decide between two tokens by rounding alone. The replay must
        be new: it draws the noise of all steps up to this one.
        """
        noises = [self._noise_of(step) for step in self._trace.token_steps[: at + 1]]
        ids = [*self._trace.prompt_ids, *self._trace.token_ids[:at]]
        step = self._trace.token_steps[at]
        pick = partial(self._picker.pick, step.index, states=step.states)
        picked = pick(logits, ids, noises[-1])
        cuts = [stage.ids for stage in picked.stages if stage.ids is not None]
        rows = NearbyRows(logits, {}, (), tolerance).edges(cuts)
        tried = chain((picked,), (pick(row, ids, noises[-1]) for row in rows))
        return {*token_ids} <= {picked.pick.token_id for picked in tried}

    def _noise_of(self, step: TokenStep) -> Tensor | None:
        """Draw the noise of the next step, if it draws by noise."""
        if self._sampling and step.draw.method in DRAW_METHODS:
            return draw_noise(self._sampling.draw, self._dice, self._vocab)
        return None

    def _pick(
        self, step: TokenStep, row: Tensor, ids: Sequence[int], noise: Tensor | None
    ) -> Picked:
        """Pick as the engine does; for a draw by inverse CDF, return the recorded token's
        interval. If the draws are unknown, pick the recorded token.
        """
        self._picker.shaper.answer_from = None if step.phase == "thinking" else self._answer_from
        picked = self._picker.pick(step.index, row, ids, noise, step.states)
        token_id = step.token_id if step.instead_of is None else step.instead_of
        if DRAWS_UNKNOWN in self._trace.notes and step.draw.scores is None:
            return picked._replace(pick=Pick(token_id))
        if picked.pick.interval is None or token_id >= self._vocab:
            return picked
        last = picked.stages[-1]
        probs = (
            last.probs
            if last.ids is None
            else torch.zeros(self._vocab).scatter(0, last.ids, last.probs)
        )
        interval = interval_of(probs, token_id)
        return picked._replace(pick=Pick(token_id, picked.pick.uniform, interval))
