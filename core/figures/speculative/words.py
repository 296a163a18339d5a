"""Words, marks and colours for the outcomes of drafted tokens."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from ...decoding.counting import nth, sentences
from ...decoding.record.trace import Trace
from ...decoding.speculative.config import Acceptance, Speculative
from ...decoding.speculative.types import DraftRound, DraftToken, ExtraToken
from ...language import N_, tr
from ..base.color import blend
from ..base.labels import NBSP, percent, visible_token
from ..base.theme import LIGHT, Theme

Kind: TypeAlias = Literal["accepted", "rejected", "recovered", "bonus", "not_reached"]
KINDS: tuple[Kind, ...] = ("accepted", "rejected", "recovered", "bonus", "not_reached")
EXTRA = -1
"""Place of the token that the target adds to a round; drafted tokens have 0, 1, 2, ..."""

_COLORS: dict[Kind, str] = {
    "accepted": "green",
    "rejected": "vermillion",
    "recovered": "sky",
    "bonus": "purple",
}
# Plotly's marks, which need no font; a key uses letters instead.
SYMBOLS: dict[Kind, str] = {
    "accepted": "circle",
    "rejected": "x",
    "recovered": "diamond",
    "bonus": "star",
    "not_reached": "circle-open",
}
SIGNS: dict[Kind, str] = {
    "accepted": "●",
    "rejected": "<b>×</b>",
    "recovered": "◆",
    "bonus": "★",
    "not_reached": "○",
}
_SOFT = {"light": 0.68, "dark": 0.74, "grey": 0.5}
# On a dark background the original colours are too dark.
_LIGHTER = {"light": 0.0, "dark": 0.22, "grey": 0.35}


class EmittedToken(NamedTuple):
    """A token of the text, with its round and its place in the round."""

    round: int
    place: int
    kind: Kind
    text: str
    token: str


_KIND_WORDS: dict[Kind, str] = {
    "accepted": N_("accepted"),
    "rejected": N_("rejected"),
    "recovered": N_("recovered"),
    "bonus": N_("bonus"),
    "not_reached": N_("not reached"),
}
_RULE_WORDS: dict[Acceptance, str] = {
    "speculative": N_("speculative"),
    "exact": N_("exact match"),
    "typical": N_("typical"),
    "block": N_("block verification"),
}


def kind_words(kind: Kind) -> str:
    """Return a kind's words in a table, such as `not reached`."""
    return _KIND_WORDS[kind]


def shown_kind(kind: Kind) -> str:
    """Return a kind's words in the reader's language."""
    return tr(_KIND_WORDS[kind])


def kind_color(kind: Kind, theme: Theme = LIGHT) -> str:
    """Return the colour of a mark."""
    if kind not in _COLORS:
        return theme.muted
    return blend(theme.named[_COLORS[kind]], theme.ink, _LIGHTER[theme.name])


def bar_color(kind: Kind, theme: Theme = LIGHT) -> str:
    """Return the colour of a bar; in the grey theme a colour with a pattern."""
    return theme.named[_COLORS[kind]] if theme.patterns else kind_color(kind, theme)


def soft_color(kind: Kind, theme: Theme = LIGHT) -> str:
    """Return the background colour of a token."""
    if kind == "not_reached":
        return theme.panel
    return blend(theme.named[_COLORS[kind]], theme.paper, _SOFT[theme.name])


def extra_kind(step: DraftRound) -> Kind:
    """Return the kind of the target's own token: recovered or bonus."""
    return "recovered" if step.recovered is not None else "bonus"


def emitted(trace: Trace) -> list[EmittedToken]:
    """Return the tokens of the text in order."""
    tokens = []
    for at, step in enumerate(trace.rounds):
        texts = iter(step.texts)
        for place, token in zip(step.path, step.accepted, strict=False):
            tokens.append(EmittedToken(at, place, "accepted", next(texts, ""), token.text))
        if step.extra is not None:
            tokens.append(
                EmittedToken(at, EXTRA, extra_kind(step), next(texts, ""), step.extra.text)
            )
    return tokens


def where_words(step: DraftRound, place: int) -> str:
    """Return the words for a token's place in its round."""
    if place == EXTRA:
        return tr("the target’s own token")
    position = nth(step.depths[place])
    if not step.parents:
        return tr("position {position}", position=position)
    siblings = [at for at, parent in enumerate(step.parents) if parent == step.parents[place]]
    return tr(
        "position {position}, try {nth} of {count}",
        position=position,
        nth=nth(siblings.index(place)),
        count=len(siblings),
    )


def round_words(step: DraftRound, at: int, place: int) -> str:
    """Return the words for a token's round and its place there."""
    return tr("Round {round}, {place}", round=nth(at), place=where_words(step, place))


def token_at(trace: Trace, at: int, place: int) -> DraftToken | ExtraToken | None:
    """Return a round's token by its place; None if there is none."""
    if not 0 <= at < len(trace.rounds):
        return None
    step = trace.rounds[at]
    if place == EXTRA:
        return step.extra
    return step.drafted[place] if 0 <= place < len(step.drafted) else None


def rule_of(trace: Trace) -> Acceptance:
    """Return the acceptance rule of a run."""
    return trace.require(Speculative).config.acceptance


def is_greedy(trace: Trace) -> bool:
    """Return whether a run has no random choice."""
    return trace.config.shaping.temperature == 0


def rule_words(rule: Acceptance) -> str:
    """Return a rule's words, such as `exact match`."""
    return tr(_RULE_WORDS[rule])


def number(value: float, digits: int = 3) -> str:
    """Return a probability or uniform number as a decimal fraction; tiny ones stay readable."""
    if value in (0, 1):
        return f"{value:.0f}"
    return f"{value:.{digits}f}" if value >= 0.5 * 10**-digits else f"{value:.1e}"


def verification_words(
    token: DraftToken, rule: Acceptance, *, drew: ExtraToken | None = None, greedy: bool = False
) -> str:
    """Return a drafted token's verification in one sentence with its numbers; plain text.

    Args:
        drew: in exact match, the token that the target drew instead of a rejected one.
        greedy: whether the run has no random choice.
    """
    pair = f"target_prob {percent(token.target_prob)}, draft_prob {percent(token.draft_prob)}"
    said = [
        token.refused
        and tr(
            "The constraint doesn't allow this token, so the target gives it 0{nbsp}%.", nbsp=NBSP
        ),
        _verified(token, pair, rule, drew, greedy=greedy),
        token.outcome == "not_reached" and tr(_UNREACHED[token.passed]),
    ]
    return tr(sentences(*(text for text in said if text)))


def _verified(
    token: DraftToken, pair: str, rule: Acceptance, drew: ExtraToken | None, *, greedy: bool
) -> str:
    """Return the rule's decision over a drafted token; `pair` are both probabilities."""
    if rule == "typical" and token.threshold is not None:
        threshold = percent(token.threshold)
        if token.passed:
            return tr("{pair}: above the threshold of {threshold}.", pair=pair, threshold=threshold)
        return tr("{pair}: not above the threshold of {threshold}.", pair=pair, threshold=threshold)
    if greedy:
        if token.passed:
            return tr(
                "{pair}: it is the target's most probable token. Nothing here is random.", pair=pair
            )
        return tr(
            "{pair}: it isn't the target's most probable token. Nothing here is random.", pair=pair
        )
    values = {"pair": pair, "number": number(token.uniform or 0.0)}
    if rule == "exact":
        return _drawn_instead(token, drew, values)
    values["chance"] = number(token.accept_prob)
    if token.block is not None:
        return _of_block(token, values | {"block": number(token.block.prob)})
    values["nbsp"] = NBSP
    if token.passed:
        return tr(
            "{pair}: accepted with probability min(1,{nbsp}target_prob / draft_prob) = {chance}; "
            "the number rolled was {number}, below it.",
            **values,
        )
    return tr(
        "{pair}: accepted with probability min(1,{nbsp}target_prob / draft_prob) = {chance}; the "
        "number rolled was {number}, not below it.",
        **values,
    )


def _drawn_instead(token: DraftToken, drew: ExtraToken | None, values: dict[str, str]) -> str:
    if drew is not None:
        return tr(
            "{pair}: the number rolled was {number}, with which the target drew {drawn}, with "
            "{prob}, not this token.",
            drawn=visible_token(drew.text, 24),
            prob=percent(drew.prob),
            **values,
        )
    if token.passed:
        return tr(
            "{pair}: the number rolled was {number}, with which the target drew the drafted token.",
            **values,
        )
    return tr(
        "{pair}: the number rolled was {number}, with which the target drew another token.",
        **values,
    )


def _of_block(token: DraftToken, values: dict[str, str]) -> str:
    if token.passed:
        return tr(
            "{pair}: the block up to here has the probability {block}; if no later token passes, "
            "it is accepted with probability {chance}; the number rolled was {number}, below it.",
            **values,
        )
    words = tr(
        "{pair}: the block up to here has the probability {block}; if no later token passes, it is "
        "accepted with probability {chance}; the number rolled was {number}, not below it.",
        **values,
    )
    if token.outcome != "accepted":
        return words
    return tr(sentences(words, tr("A later token was accepted, and so this one.")))


_UNREACHED = {
    True: N_("It would have passed, but the round was over before it."),
    False: N_("It would not have passed, and the round was over before it."),
}


def extra_words(step: DraftRound, rule: Acceptance, *, greedy: bool = False) -> str:
    """Return the origin of the target's own token in one sentence; plain text.

    Args:
        greedy: whether the run has no random choice.
    """
    extra = step.extra
    if extra is None:
        return tr("An accepted token ended the run, so the target added none.")
    prob = percent(extra.prob)
    if step.bonus is not None:
        return _bonus_words(bool(step.drafted), prob, greedy=greedy)
    if rule == "typical" or greedy:
        return tr(
            "In place of the rejected token the target's most probable one, {prob}.", prob=prob
        )
    if rule == "exact":
        return tr("What the target itself drew, with {prob}.", prob=prob)
    return tr(
        "Drawn from the residual, max(0,{nbsp}target{nbsp}−{nbsp}draft) renormalised, with {prob}; "
        "the target alone gives it {alone}.",
        nbsp=NBSP,
        prob=prob,
        alone=percent(extra.target_prob),
    )


def _bonus_words(drafted: bool, prob: str, *, greedy: bool) -> str:
    if greedy:
        return (
            tr("Every drafted token was accepted: a bonus, the target's most probable token.")
            if drafted
            else tr("Nothing was drafted: a bonus, the target's most probable token.")
        )
    if drafted:
        return tr(
            "Every drafted token was accepted: a bonus from the target's own distribution, drawn "
            "with {prob}.",
            prob=prob,
        )
    return tr(
        "Nothing was drafted: a bonus from the target's own distribution, drawn with {prob}.",
        prob=prob,
    )


def pending_of(trace: Trace, at: int) -> tuple[int, str]:
    """Return the id and text of the last token before a round, which its forward reads first."""
    before = next((step for step in reversed(trace.rounds[:at]) if step.token_ids), None)
    positions = trace.prompt_step.positions if trace.prompt_step else ()
    if before is None and not positions:
        return (trace.prompt_ids[-1], "") if trace.prompt_ids else (0, "")
    last = positions[-1] if before is None else before.extra or before.accepted[-1]
    return last.token_id, last.text
