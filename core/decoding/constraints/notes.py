"""Notes of a run with a constraint: where it could not act as it should."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch

from ...language import N_, Message
from ..config import MethodConfig
from ..counting import nth
from ..protocol import LanguageModel
from ..record.notes import CONSTRAINT_LEFT, CONSTRAINT_OPEN, GAVE_WAY, Note
from ..shaping.config import BANS, SETTINGS
from ..shaping.stage import StepContext
from ..shaping.stages import ACTS
from .grammar import grammars_of
from .reading import answer_from


def constraint_notes(
    model: LanguageModel,
    config: MethodConfig,
    prompt_ids: Sequence[int],
    token_ids: Sequence[int],
    steps: Sequence[object],
) -> Iterator[Note]:
    """Yield the notes that follow from a run's constraint and its tokens; none without one."""
    constraint = config.shaping.constraint
    begin = answer_from(steps)
    if constraint is None or begin is None or not token_ids:
        return
    grammar = grammars_of(model).start(constraint)
    grammar.read(token_ids[begin:])
    ended = bool(steps) and getattr(steps[-1], "finish_reason", None)
    if grammar.left and not (token_ids[-1] in model.eos_ids and grammar.complete):
        at = begin + grammar.held
        words = Message(
            "Token {at} doesn't keep to the constraint, which acts no more from there on", at=at + 1
        )
        if token_ids[at] in model.eos_ids:
            words = Message(
                "The constraint came to a dead end at token {at}: the text is not complete",
                at=at + 1,
            )
        if grammar.fault:
            words = Message("{words} ({fault})", words=words, fault=grammar.fault)
        yield Note(CONSTRAINT_LEFT, Message("{part}.", part=words))
    elif ended in ("length", "stop") and not grammar.complete:
        by = Message(N_("the bound on its tokens") if ended == "length" else N_("a stop string"))
        yield Note(
            CONSTRAINT_OPEN, Message("The run ended by {by} before its text was complete.", by=by)
        )
    yield from _gave_way(model, config, prompt_ids, token_ids)


def _gave_way(
    model: LanguageModel,
    config: MethodConfig,
    prompt_ids: Sequence[int],
    token_ids: Sequence[int],
) -> Iterator[Note]:
    """Yield a note for each ban that removes a token of the text, at the first such token."""
    ids, begin = [*prompt_ids, *token_ids], len(prompt_ids)
    for name in config.shaping.active(BANS - {"constraint", "min_new_tokens"}):
        act, value = ACTS[name], getattr(config.shaping, name)
        for at, token in enumerate(token_ids):
            context = StepContext(ids[: begin + at], begin, token_bytes=model.token_bytes)
            if float(act(torch.zeros(model.vocab_size), value, context)[token]) == -math.inf:
                yield _way(SETTINGS[name].name, at)
                break
    last = len(token_ids) - 1
    if last < config.min_new_tokens and token_ids[last] in model.eos_ids:
        yield _way(N_("the minimum of new tokens"), last)


def _way(name: str, at: int) -> Note:
    words = Message(
        "A setting gave way at token {at}, where it would have left no token: {name}.",
        at=nth(at),
        name=Message(name),
    )
    return Note(GAVE_WAY, words)
