"""The repeat that DRY finds before a step: which earlier stretch of the text it is."""

from __future__ import annotations

from core.decoding.counting import counted, nth, sentences
from core.decoding.record.steps import TokenStep
from core.decoding.record.trace import Trace
from core.decoding.shaping.repeats import Repeat, repeats
from core.figures.base.labels import visible_token
from core.figures.samplers.dry import dry_words
from core.language import tr


def found(trace: Trace, step: TokenStep) -> dict[int, Repeat]:
    """Return the repeat that each token would continue; none where DRY doesn't act."""
    if all(stage.name != "dry_multiplier" for stage in step.stages):
        return {}
    _, _, allowed, last_n, breakers = trace.config.shaping.value_of("dry_multiplier")
    texts = _texts(trace)
    ids = [*trace.prompt_ids, *trace.token_ids[: step.index]]
    return repeats(ids, allowed, last_n, breakers, lambda token: texts.get(token, "").encode())


def _texts(trace: Trace) -> dict[int, str]:
    """Return the displayed texts of the prompt's tokens and the generated ones."""
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    texts = {position.token_id: position.text for position in positions}
    return texts | {own.token_id: own.chosen.text for own in trace.token_steps}


def lowered(trace: Trace, step: TokenStep) -> str:
    """Return a sentence that names the token that DRY lowers most; plain text, not Markdown."""
    matches, texts = found(trace, step), _texts(trace)
    if not matches:
        return ""
    token, repeat = max(matches.items(), key=lambda item: item[1])
    if token not in texts:
        return ""
    shown = visible_token(texts[token], 24)
    return dry_words(trace.config.shaping, shown, repeat, len(matches))


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


def prompt_span(trace: Trace, step: TokenStep) -> tuple[int, int] | None:
    """Return where that stretch begins and ends in the prompt, in characters before its end.

    None without one there, or if the texts of the prompt's tokens don't end the prompt as it is
    shown, as those of parts of a character.
    """
    earlier, count = stretch(trace, step), len(trace.prompt_ids)
    if not earlier or earlier[0] >= count or trace.prompt_step is None:
        return None
    texts = [position.text for position in trace.prompt_step.positions]
    rest = "".join(texts[earlier[0] :])
    if len(texts) != count or not (trace.rendered_prompt or trace.prompt).endswith(rest):
        return None
    return len(rest), len("".join(texts[min(earlier[-1] + 1, count) :]))


def words(trace: Trace, step: TokenStep) -> str:
    """Return a sentence on the longest repeat, without the text of any token."""
    matches, earlier = found(trace, step), stretch(trace, step)
    if not earlier:
        return ""
    begin = len(trace.prompt_ids)
    multiplier, base, allowed, *_ = trace.config.shaping.value_of("dry_multiplier")
    token, repeat = max(matches.items(), key=lambda item: item[1])
    penalty = repeat.penalty(multiplier, base, allowed)
    ranks = [candidate.rank for candidate in step.candidates if candidate.token_id == token]
    lowered = tr(
        "DRY lowers {tokens} that would continue a repeat.", tokens=counted(len(matches), "token")
    )
    longest = tr(
        "The longest repeat: the last {tokens} of the text stand already at {place} "
        "(dotted frame).",
        tokens=counted(len(earlier), "token"),
        place=_place(earlier, begin),
    )
    loss = (
        tr(
            "The model's rank {rank:,} loses most, {penalty:.3g} of its logit.",
            rank=ranks[0],
            penalty=penalty,
        )
        if ranks
        else ""
    )
    return tr(sentences(lowered, longest, loss))


def _place(earlier: range, begin: int) -> str:
    """Return the words for a stretch's place; its steps begin behind the prompt."""
    first, last = earlier[0], earlier[-1]
    if last < begin:
        if first == last:
            return tr("the prompt's token {number}", number=nth(first))
        return tr("the prompt's tokens {first} to {last}", first=nth(first), last=nth(last))
    if first < begin:
        return tr(
            "the prompt's token {first} to step {last}", first=nth(first), last=nth(last - begin)
        )
    if first == last:
        return tr("step {number}", number=nth(first - begin))
    return tr("steps {first} to {last}", first=nth(first - begin), last=nth(last - begin))
