"""Write the notes on the shown step, under the method that made it; numbers alone."""

from __future__ import annotations

from operator import attrgetter, itemgetter

from core.decoding.autoregressive.config import Greedy
from core.decoding.counting import nth, sentences
from core.decoding.record.steps import Candidate, TokenStep
from core.decoding.record.trace import Trace
from core.decoding.shaping.config import PENALTIES, WATERMARKS
from core.figures.base.labels import NBSP, percent, stage_name
from core.figures.constraint.words import allowed_words, step_of
from core.figures.samplers.xtc import xtc_words
from core.language import tr
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
    return f"## {tr('What to notice')}\n\n{listed}".replace(NBSP, " ")


def _certainty(trace: Trace, step: TokenStep) -> str:
    likeliest = max(step.candidates, key=attrgetter("raw_prob"))
    top = likeliest.raw_prob
    numbers = {"probability": percent(top), "entropy": step.entropy}
    if top < _SURE and trace.known is None:
        return tr(
            "The likeliest token has {probability}, and the entropy is {entropy:.2f} nats: several "
            "tokens compete.",
            **numbers,
        )
    if top < _SURE:
        return tr(
            "The likeliest token has {probability}, and the entropy is at least {entropy:.2f} "
            "nats: several tokens compete.",
            **numbers,
        )
    if likeliest.removed_by is not None and likeliest.removed_by != "argmax":
        return tr(
            "One token has {probability} in the model; it is removed by {stage}.",
            probability=percent(top),
            stage=stage_name(likeliest.removed_by),
        )
    open_step = max(trace.token_steps, key=lambda candidate_step: candidate_step.entropy)
    sure = tr(
        "One token has {probability}: hardly any setting changes it.", probability=percent(top)
    )
    if max(candidate.raw_prob for candidate in open_step.candidates) >= _SURE:
        return sure
    number = nth(open_step.index)
    return tr(sentences(sure, tr("The model was least sure at step {number}.", number=number)))


def _choice(trace: Trace, step: TokenStep) -> str:
    chosen = step.chosen
    if step.forced_as == "given":
        return tr(
            "The token was given in place of the pick: it has {probability}, rank {rank:,}.",
            probability=percent(chosen.raw_prob),
            rank=chosen.rank,
        )
    if step.origin == "forced":
        return tr("The token was put there, whatever its probability.")
    if step.origin == "server":
        return tr(
            "The server drew this token by its own settings and dice, which nobody can repeat "
            "here; the model gave it {probability}.",
            probability=percent(chosen.raw_prob),
        )
    if isinstance(trace.config, Greedy):
        return _greedy_choice(step)
    if step.compared:
        return tr("The score decides: probability less the similarity to a token before it.")
    if step.stages[-1].kept == 1:
        return tr("One token alone can be drawn: every seed draws it.")
    likeliest = _likeliest(step)
    if likeliest == chosen and chosen.rank == 1:
        return tr("The draw took the likeliest token; another seed may draw another one.")
    drawn = tr(
        "The draw took the model's rank {rank:,}: {raw} in the model, {final} in the final "
        "distribution.",
        rank=chosen.rank,
        raw=percent(chosen.raw_prob),
        final=percent(chosen.prob),
    )
    if likeliest is None:
        return drawn
    if likeliest == chosen:
        return tr(sentences(drawn, tr("Greedy decoding would have taken it too.")))
    greedy = tr("Greedy decoding would have taken rank {rank:,}.", rank=likeliest.rank)
    return tr(sentences(drawn, greedy))


def _greedy_choice(step: TokenStep) -> str:
    chosen = step.chosen
    if chosen.rank == 1:
        return tr("Greedy decoding takes rank 1, however close the others come.")
    before = [stage for stage in step.stages if stage.name not in ("argmax", "final")][-1]
    prob = before.probs[step.candidates.index(chosen)]
    return tr(
        "Greedy decoding takes the likeliest token after {stage}: the model's rank {rank:,}, with "
        "{raw} in the model and {probability} after that stage.",
        stage=stage_name(before.name),
        rank=chosen.rank,
        raw=percent(chosen.raw_prob),
        probability=percent(prob),
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
    return tr(
        "The server names the {known} likeliest tokens; {mass} are on others. A draw that falls on "
        "these is refused; top-k below that number keeps it from them.",
        known=trace.known,
        mass=percent(step.tail_mass),
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
    return tr(
        "After {stage} {kept:,} of {all:,} tokens can be drawn; the others have the upper bar "
        "only.",
        stage=stage_name(stage.name),
        kept=stage.kept,
        all=everything,
    )
