"""The command line: `python -m core decode` and `python -m core check`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from core.decoding.configs import BeamSearch
from core.decoding.errors import ConfigError, DecodingError, PromptError
from core.decoding.types import Check, DraftRound, Step, TokenStep, Trace
from core.options import build_parser, config_of, draft_of


def prompt_of(args: argparse.Namespace) -> str:
    """The prompt's text, from the arguments or from stdin (without its last newline).

    Raises:
        PromptError: it is empty or no text.
        ConfigError: a system prompt that nothing would read.
    """
    if args.system and not args.chat:
        raise ConfigError("--system acts only in a chat; add --chat.")
    try:
        text = sys.stdin.read().removesuffix("\n") if args.prompt == "-" else args.prompt
        # A shell's bytes that are no UTF-8 arrive as halves of surrogate pairs.
        f"{text}{args.system}".encode()
    except UnicodeError:
        raise PromptError("The prompt is not UTF-8 text; convert it first.") from None
    if not text:
        raise PromptError("The prompt is empty: write at least one word.")
    return str(text)


def run_decode(args: argparse.Namespace) -> int:
    """Stream the text to stdout and what the run was to stderr."""
    config, text = config_of(args), prompt_of(args)
    draft = draft_of(args, config)
    if args.json is not None:
        _require_writable(args.json)
    from core import collect, load_model

    model = load_model(args.model, dtype=args.dtype, device=args.device)
    prompt: str | Sequence[int] = text
    if args.chat:
        system = [{"role": "system", "content": args.system}] if args.system else []
        prompt = model.encode_chat([*system, {"role": "user", "content": text}])
    second = load_model(draft, dtype=args.dtype, device=args.device) if draft else None
    trace = collect(model, prompt, config, draft=second, on_step=_print_step, prompt_text=text)
    _print_hypotheses(trace)
    print(flush=True)
    _print_summary(trace)
    if args.json is not None:
        _save(trace, args.json)
    return 0


def _require_writable(path: str) -> None:
    """Say before the run what would be said after it; leaves the file as it was."""
    if not path:
        raise ConfigError("--json needs the name of a file; give one, or leave it out.")
    existed = os.path.lexists(path)
    try:
        if not existed or Path(path).is_file() or Path(path).is_dir():
            with open(path, "ab"):
                pass
        if not existed:
            os.unlink(path)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str, error: OSError) -> DecodingError:
    return DecodingError(f"{path} can't be written: {error.strerror or error}.")


def _print_step(step: Step) -> None:
    if isinstance(step, TokenStep | DraftRound):
        print(step.text, end="", flush=True)


def _print_hypotheses(trace: Trace) -> None:
    """Of a beam search, whose best text is known at its end only; with scores if several."""
    if not isinstance(trace.config, BeamSearch):
        return
    asked = trace.hypotheses[: trace.config.num_return_sequences]
    if len(asked) < 2:
        print(trace.text, end="")
    else:
        print("\n".join(f"{found.score:.4f}  {found.text}" for found in asked), end="")


def _print_summary(trace: Trace) -> None:
    for note in trace.notes:
        print(note, file=sys.stderr)
    if trace.rounds:
        rounds = trace.rounds
        accepted = sum(len(step.accepted) for step in rounds)
        drafted = sum(len(step.drafted) for step in rounds)
        print(
            f"[{len(rounds)} rounds, {accepted} of {drafted} drafted tokens accepted]",
            file=sys.stderr,
        )
    rate = f", {trace.tokens_per_second:.0f} tokens/s" if trace.tokens_per_second else ""
    print(
        f"[{len(trace.token_ids)} tokens after a prompt of {len(trace.prompt_ids)}, "
        f"finish reason {trace.finish_reason}{rate}]",
        file=sys.stderr,
    )


def _save(trace: Trace, path: str) -> None:
    from core import check

    try:
        trace.with_checks(tuple(check(trace))).save(path)
    except OSError as error:
        raise _unwritable(path, error) from None
    print(f"[trace written to {path}]", file=sys.stderr)


def run_check(args: argparse.Namespace) -> int:
    """Print a line for each check; 1 if one failed."""
    given = next((name for name in ("dtype", "device") if getattr(args, name) is not None), None)
    if args.model is None and (given or args.draft):
        raise ConfigError(f"--{given or 'draft'} acts only on a model; add --model.")
    from core import check, load_model, read_trace

    trace, model = read_trace(args.file), None
    if args.model is not None:
        dtype = args.dtype if args.dtype is not None else trace.dtype or None
        model = load_model(args.model, dtype=dtype, device=args.device)
    draft = load_model(args.draft, dtype=dtype, device=args.device) if args.draft else None
    checks = check(trace, model, draft)
    for outcome in checks:
        print(_check_line(outcome))
    passed = sum(outcome.passed for outcome in checks)
    print(f"{passed} of {len(checks)} checks passed")
    return 0 if passed == len(checks) else 1


def _check_line(outcome: Check) -> str:
    verdict = "pass" if outcome.passed else "FAIL"
    numbers = f"{outcome.value:.2g} (at most {outcome.tolerance:.2g})"
    return f"{verdict}  {outcome.name}: {numbers}; {outcome.detail}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 done, 1 a check failed, 2 bad input (one sentence on stderr)."""
    args = build_parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal may hold fewer characters than a model writes.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = run_decode(args) if args.command == "decode" else run_check(args)
        sys.stdout.flush()
        return code
    except DecodingError as error:
        print(f"python -m core: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Nobody reads on (`| head`); what is still buffered goes nowhere, or the exit would fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
