"""Write the notes on the shown step, under the method that made it; numbers alone."""

from __future__ import annotations

from operator import attrgetter, itemgetter

from core.decoding.autoregressive.config import Greedy
from core.decoding.counting import nth
from core.decoding.record.steps import Candidate, TokenStep
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import PENALTIES, WATERMARKS
from core.figures.base.labels import NBSP, percent, stage_name
from core.figures.constraint.words import allowed_words, step_of
from core.figures.samplers.xtc import xtc_words
from pages.ui.decode.methods import repeats

# From this on no setting changes much.
_SURE = 0.95
# Stages that change the ranking of the tokens and act in greedy decoding too.
_RANKING = ("raw", "min_new_tokens", *PENALTIES)


def words(trace: Trace, step: TokenStep) -> str:
    """Return about three short sentences as Markdown, without the text of any token: that would be
    a stranger's markup."""
    points = [_certainty(trace, step), _choice(trace, step), _allowed(trace, step), _cuts(step)]
    points += [
        xtc_words(trace.config.shaping, step),
        repeats.words(trace, step),
        _unknown(trace, step),
    ]
    listed = "\n".join(f"- {point}" for point in points if point)
    return f"## What to notice\n\n{listed}".replace(NBSP, " ")


def _certainty(trace: Trace, step: TokenStep) -> str:
    likeliest = max(step.candidates, key=attrgetter("raw_prob"))
    top = likeliest.raw_prob
    least = "" if trace.known is None else " at least"
    if top < _SURE:
        return (
            f"The likeliest token has {percent(top)}, and the entropy is{least} {step.entropy:.2f} "
            "nats: several tokens compete."
        )
    if likeliest.removed_by is not None and likeliest.removed_by != "argmax":
        stage = stage_name(likeliest.removed_by)
        return f"One token has {percent(top)} in the model; it is removed by {stage}."
    open_step = max(trace.token_steps, key=lambda candidate_step: candidate_step.entropy)
    where = ""
    if max(candidate.raw_prob for candidate in open_step.candidates) < _SURE:
        where = f" The model was least sure at step {nth(open_step.index)}."
    return f"One token has {percent(top)}: hardly any setting changes it.{where}"


def _choice(trace: Trace, step: TokenStep) -> str:
    chosen = step.chosen
    if step.forced_as == "given":
        return (
            f"The token was given in place of the pick: it has {percent(chosen.raw_prob)}, rank "
            f"{chosen.rank:,}."
        )
    if step.origin == "forced":
        return "The token was put there, whatever its probability."
    if step.origin == "server":
        return (
            "The server drew this token by its own settings and dice, which nobody can repeat "
            f"here; the model gave it {percent(chosen.raw_prob)}."
        )
    if isinstance(trace.config, Greedy):
        return _greedy_choice(step)
    if step.compared:
        return "The score decides: probability less the similarity to a token before it."
    if step.stages[-1].kept == 1:
        return "One token alone can be drawn: every seed draws it."
    likeliest = _likeliest(step)
    if likeliest == chosen and chosen.rank == 1:
        return "The draw took the likeliest token; another seed may draw another one."
    drawn = (
        f"The draw took the model's rank {chosen.rank:,}: {percent(chosen.raw_prob)} in the model, "
        f"{percent(chosen.prob)} in the final distribution."
    )
    if likeliest is None:
        return drawn
    if likeliest == chosen:
        return f"{drawn} Greedy decoding would have taken it too."
    return f"{drawn} Greedy decoding would have taken rank {likeliest.rank:,}."


def _greedy_choice(step: TokenStep) -> str:
    chosen = step.chosen
    if chosen.rank == 1:
        return "Greedy decoding takes rank 1, however close the others come."
    before = [stage for stage in step.stages if stage.name not in ("argmax", "final")][-1]
    prob = before.probs[step.candidates.index(chosen)]
    return (
        f"Greedy decoding takes the likeliest token after {stage_name(before.name)}: the model's "
        f"rank {chosen.rank:,}, with {percent(chosen.raw_prob)} in the model and {percent(prob)} "
        "after that stage."
    )


def _likeliest(step: TokenStep) -> Candidate | None:
    """Return the likeliest token after penalties, bans and contrasts; None if the record can't
    tell, or if a watermark, which acts in greedy decoding too, moves the ranking later.
    """
    if any(stage.name in WATERMARKS for stage in step.stages):
        return None
    stage = [stage for stage in step.stages if stage.name in _RANKING][-1]
    prob, likeliest = max(zip(stage.probs, step.candidates, strict=True), key=itemgetter(0))
    return likeliest if prob >= stage.tail_mass else None


def _unknown(trace: Trace, step: TokenStep) -> str:
    if trace.known is None or step.origin == "server":
        return ""
    return (
        f"The server names the {trace.known} likeliest tokens; {percent(step.tail_mass)} are on "
        "others. A draw that falls on these is refused; top-k below that number keeps it from them."
    )


def _allowed(trace: Trace, step: TokenStep) -> str:
    """Return what the constraint allowed; nothing where it removed no token."""
    allowed = step_of(trace, step)
    if allowed is None or allowed.log_mass == 0:
        return ""
    return allowed_words(allowed, named=False)


def _cuts(step: TokenStep) -> str:
    cut = [stage for stage in step.stages if stage.removed_mass > 0 and stage.name != "argmax"]
    if not cut or step.origin in ("forced", "server"):
        return ""
    stage, everything = cut[-1], step.stages[0].kept
    return (
        f"After {stage_name(stage.name)} {stage.kept:,} of {everything:,} tokens can be drawn; the "
        "others have the upper bar only."
    )
