"""Reasoning: thinking between two marks up to a bound, then the answer, by greedy decoding or
sampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from time import perf_counter

from ..autoregressive.engine import Picker
from ..autoregressive.picked import ForcedToken
from ..loop.run import process_prompt
from ..protocol import LanguageModel
from ..record.steps import Step
from .config import Reasoning
from .controller import BudgetController


def generate(model: LanguageModel, prompt_ids: Sequence[int], config: Reasoning) -> Iterator[Step]:
    """Yield the prompt step, then a step for each token, picked or forced.

    Budget forcing is that of s1 (Muennighoff et al. 2025): at the bound the closing mark is forced,
    and the first `ignore_end` attempts to stop thinking are replaced by `wait_text`.

    Raises:
        as `autoregressive.generate`.
    """
    prompt_step, context = process_prompt(model, prompt_ids, config.use_cache)
    yield prompt_step
    controller, picker = BudgetController(model, prompt_ids, config), Picker(model, config.chooser)
    ids, logits, forward = list(prompt_ids), context.logits[0], 0.0
    for index in count():
        picker.shaper.answer_from = controller.answer_from
        picked = picker.pick(index, logits, ids) if controller.asks else None
        decision = controller.decide(None if picked is None else picked.pick.token_id)
        ids.append(decision.token_id)
        text, reason = controller.after(decision)
        if picked is not None and decision.forced_as is None:
            yield picker.record(index, picked, forward, text, reason, decision.phase)
        else:
            forced = ForcedToken(
                decision.token_id, decision.forced_as, decision.phase, logits, picked
            )
            yield picker.record_forced(index, forced, forward, text, reason)
        if reason:
            return
        started = perf_counter()
        logits = context.extend([decision.token_id])[0, -1]
        forward = perf_counter() - started
