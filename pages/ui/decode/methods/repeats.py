"""The repeat that DRY finds before a step: which earlier stretch of the text it is."""

from __future__ import annotations

from core.decoding.counting import counted, nth
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.decoding.shaping.repeats import Repeat, repeats


def found(trace: Trace, step: TokenStep) -> dict[int, Repeat]:
    """Return the repeat that each token would continue; none where DRY doesn't act."""
    if all(stage.name != "dry_multiplier" for stage in step.stages):
        return {}
    _, _, allowed, last_n, breakers = trace.config.shaping.value_of("dry_multiplier")
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    texts = {position.token_id: position.text for position in positions}
    texts |= {own.token_id: own.chosen.text for own in trace.token_steps}
    ids = [*trace.prompt_ids, *trace.token_ids[: step.index]]
    return repeats(ids, allowed, last_n, breakers, lambda token: texts.get(token, "").encode())


def stretch(trace: Trace, step: TokenStep) -> range:
    """Return the indices, in prompt and generated tokens, of the longest repeat's earlier
    stretch; empty without one.
    """
    longest = max(found(trace, step).values(), default=Repeat(0, 0))
    return range(longest.end - longest.length, longest.end)


def steps(trace: Trace, step: TokenStep) -> list[int]:
    """Return the steps whose tokens are in that stretch."""
    begin = len(trace.prompt_ids)
    return [at - begin for at in stretch(trace, step) if at >= begin]


def words(trace: Trace, step: TokenStep) -> str:
    """Return a sentence on the longest repeat, without the text of any token."""
    lowered, earlier = len(found(trace, step)), stretch(trace, step)
    if not earlier:
        return ""
    begin = len(trace.prompt_ids)
    ends = [
        f"the prompt's token {nth(at)}" if at < begin else f"step {nth(at - begin)}"
        for at in (earlier[0], earlier[-1])
    ]
    where = ends[0] if len(earlier) == 1 else f"{ends[0]} to {ends[1]}"
    multiplier, base, allowed, *_ = trace.config.shaping.value_of("dry_multiplier")
    token, repeat = max(found(trace, step).items(), key=lambda item: item[1])
    penalty = repeat.penalty(multiplier, base, allowed)
    ranks = [candidate.rank for candidate in step.candidates if candidate.token_id == token]
    most = (
        f" The model's rank {ranks[0]:,} loses most, {penalty:.3g} of its logit." if ranks else ""
    )
    return (
        f"DRY lowers {counted(lowered, 'token')}: the last {counted(len(earlier), 'token')} stand "
        f"earlier too, at {where}, and the longest repeat would go on.{most}"
    )
