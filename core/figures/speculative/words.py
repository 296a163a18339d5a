"""Words, marks and colours for the outcomes of drafted tokens."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from ...decoding.counting import nth
from ...decoding.record.trace import Trace
from ...decoding.speculative.config import Acceptance, Speculative
from ...decoding.speculative.types import DraftRound, DraftToken, ExtraToken
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


def kind_words(kind: Kind) -> str:
    """Return a kind's words, such as `not reached`."""
    return kind.replace("_", " ")


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
        return "the target’s own token"
    words = f"position {nth(step.depths[place])}"
    if not step.parents:
        return words
    siblings = [at for at, parent in enumerate(step.parents) if parent == step.parents[place]]
    return f"{words}, try {nth(siblings.index(place))} of {len(siblings)}"


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
    return {"exact": "exact match", "block": "block verification"}.get(rule, rule)


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
    if token.refused:
        pair = f"The constraint doesn't allow this token, so the target gives it 0{NBSP}%. {pair}"
    end = "" if token.outcome != "not_reached" else _UNREACHED[token.passed]
    if rule == "typical" and token.threshold is not None:
        passed = "above" if token.passed else "not above"
        return f"{pair}: {passed} the threshold of {percent(token.threshold)}.{end}"
    if greedy:
        it_is = "it is" if token.passed else "it isn't"
        return f"{pair}: {it_is} the target's most probable token. Nothing here is random.{end}"
    thrown = f"the number rolled was {number(token.uniform or 0.0)}"
    if rule == "exact":
        drawn = "the drafted token" if token.passed else "another token"
        if drew is not None:
            drawn = f"{visible_token(drew.text, 24)}, with {percent(drew.prob)}, not this token"
        return f"{pair}: {thrown}, with which the target drew {drawn}.{end}"
    below = "below it" if token.passed else "not below it"
    if token.block is not None:
        later = token.outcome == "accepted" and not token.passed
        kept = " A later token was accepted, and so this one." if later else ""
        return (
            f"{pair}: the block up to here has the probability {number(token.block.prob)}; if no "
            f"later token passes, it is accepted with probability {number(token.accept_prob)}; "
            f"{thrown}, {below}.{kept}{end}"
        )
    return (
        f"{pair}: accepted with probability min(1,{NBSP}target_prob / draft_prob) = "
        f"{number(token.accept_prob)}; {thrown}, {below}.{end}"
    )


_UNREACHED = {
    True: " It would have passed, but the round was over before it.",
    False: " It would not have passed, and the round was over before it.",
}


def extra_words(step: DraftRound, rule: Acceptance, *, greedy: bool = False) -> str:
    """Return the origin of the target's own token in one sentence; plain text.

    Args:
        greedy: whether the run has no random choice.
    """
    extra = step.extra
    if extra is None:
        return "An accepted token ended the run, so the target added none."
    if step.bonus is not None:
        why = "Nothing was drafted" if not step.drafted else "Every drafted token was accepted"
        if greedy:
            return f"{why}: a bonus, the target's most probable token."
        return (
            f"{why}: a bonus from the target's own distribution, drawn with {percent(extra.prob)}."
        )
    if rule == "typical" or greedy:
        return (
            f"In place of the rejected token the target's most probable one, {percent(extra.prob)}."
        )
    if rule == "exact":
        return f"What the target itself drew, with {percent(extra.prob)}."
    return (
        f"Drawn from the residual, max(0,{NBSP}target{NBSP}−{NBSP}draft) renormalised, "
        f"with {percent(extra.prob)}; the target alone gives it {percent(extra.target_prob)}."
    )
