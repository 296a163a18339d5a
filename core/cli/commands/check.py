"""`python -m core check`: validate a trace file and print its checks."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from ...decoding.errors import ConfigError
from ...decoding.methods import method_of
from ...decoding.unchecked import unchecked_words
from ...decoding.validation import brief
from ...language import Message, tr
from ...models.remote.address import is_remote
from ..loading import load
from ..method import options_of


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("file", help="a trace file")
    parser.add_argument("--model", help="also check against this model (as in decode)")
    parser.add_argument("--draft", help="the second model of a speculative run, with --model")
    parser.add_argument("--dtype", help="number type of the weights; default: the file's")
    parser.add_argument("--device", help="device of the model, as in decode")


def run(args: Namespace) -> int:
    """Print a line for each check; return 1 if one failed."""
    ignored = next(
        (name for name in ("draft", "dtype", "device") if getattr(args, name) is not None), None
    )
    if args.model is None and ignored:
        raise ConfigError(
            Message("{option} acts only on a model; add --model.", option=f"--{ignored}")
        )
    from ... import check, read_trace
    from ...decoding.requirements import require_draft

    trace, model, draft = read_trace(args.file), None, None
    if args.draft is not None:
        require_draft(trace.config, args.draft)
    if args.model is not None:
        model = load_as(trace.dtype, args.model, args)
        if args.draft is not None:
            draft = load_as(trace.draft_dtype, args.draft, args)
        # The same weights may have two names.
        for name, loaded in ((trace.model_id, model), (trace.draft_id, draft)):
            if loaded is not None and name != loaded.model_id:
                words = tr(
                    "warning: the file calls its model {name}; the checks are against {model}",
                    name=brief(name), model=brief(loaded.model_id),
                )  # fmt: skip
                print(words, file=sys.stderr)
    checks = check(trace, model, draft)
    for outcome in checks:
        print(
            tr(
                "{verdict}  {check}: {value:.2g} (at most {tolerance:.2g}); {detail}",
                verdict=tr("pass") if outcome.passed else tr("FAIL"),
                check=tr(outcome.words),
                value=outcome.value,
                tolerance=outcome.tolerance,
                detail=tr(outcome.detail),
            )
        )
    passed = sum(outcome.passed for outcome in checks)
    print(tr("{passed} of {count} checks passed", passed=passed, count=len(checks)))
    print(tr(unchecked_words(trace, checks)))
    if finding := options_of(method_of(trace.config)).findings(trace):
        print(finding)
    return 0 if passed == len(checks) else 1


def load_as(dtype: str, name: str, args: Namespace) -> Any:
    """Load the model in the file's number type by default; a server's model keeps its own type."""
    from ...server.settings import place_of

    if args.dtype is None and dtype and not is_remote(str(place_of(name)).strip()):
        return load(name, dtype, args.device)
    return load(name, args.dtype, args.device)
