"""Tokens that a new run puts at a step of another one, by the options of `branch`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..decoding.config import MethodConfig
from ..decoding.errors import ConfigError
from ..decoding.record.steps import Candidate, TokenStep
from ..decoding.record.trace import Trace
from ..language import N_, Message, Plural


def candidates_of(args: Namespace, parent: Trace) -> Sequence[Candidate]:
    """Return the candidates of the step of --at; raise ConfigError if it is none of the run."""
    steps = parent.token_steps
    if not 1 <= args.at <= len(steps):
        raise ConfigError(
            Plural(
                "--rank, --top and --above read a token's step, and the run has {count} such step.",
                "--rank, --top and --above read a token's step, and the run has {count} such "
                "steps.",
                len(steps),
            )
        )
    step: TokenStep = steps[args.at - 1]
    return step.candidates


def tokens_of(args: Namespace, parent: Trace, model: Any) -> Sequence[int]:
    """Return the ids of the new tokens to put at the step; empty if only the seed changes."""
    if args.token_id is not None:
        return list(args.token_id)
    if args.text is not None:
        from ..decoding.loop.text import encode_continuation

        if not args.text:
            raise ConfigError(N_("--text is empty; give the text that stands there."))
        return encode_continuation(model, args.text)
    if args.rank is None:
        if args.seed is None:
            raise ConfigError(
                N_("Nothing differs; give --text, --token-id, --rank, --top, --above or --seed.")
            )
        return ()
    candidates = candidates_of(args, parent)
    matches = [c.token_id for c in candidates if c.rank == args.rank]
    if not matches:
        raise ConfigError(
            Message(
                "--rank {rank} is none of the {count} candidates that the step holds.",
                rank=args.rank,
                count=len(candidates),
            )
        )
    return matches


def with_seed(config: MethodConfig, seed: int) -> MethodConfig:
    """Return the config with another seed; raise ConfigError if its method has none."""
    if not hasattr(config, "seed"):
        words = Message(config.words)
        raise ConfigError(Message("--seed does nothing in {method}; leave it out.", method=words))
    changed: Any = config
    reseeded: MethodConfig = replace(changed, seed=seed)
    return reseeded
