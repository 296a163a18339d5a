"""The command line: `python -m core decode`, `check` and `sweep`."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from core.decoding.configs import (
    DRAW_METHODS,
    BeamSearch,
    Greedy,
    MethodConfig,
    Reasoning,
    Sampling,
    Shaping,
)
from core.decoding.errors import ConfigError, DecodingError, PromptError
from core.decoding.types import Check, Phase, Step, TokenStep, Trace
from core.reasoning_command import (
    REASONING_HELP,
    add_reasoning,
    add_sweep,
    asks_for_reasoning,
    reasoning_config,
    run_sweep_command,
    with_marks_of,
)

SHAPING_HELP = {
    "temperature": "divides the logits; 0 means greedy",
    "top_k": "keep the k most probable tokens; 0 is off",
    "top_p": "keep the smallest set with this mass; 1 is off",
    "min_p": "drop tokens below this share of the highest probability; 0 is off",
    "typical_p": "keep the tokens of typical surprisal with this mass; 1 is off",
    "epsilon_cutoff": "drop tokens below this probability; 0 is off",
    "eta_cutoff": "drop tokens below an entropy-dependent probability; 0 is off",
    "repetition_penalty": "weaken tokens that were seen; 1 is off",
    "no_repeat_ngram_size": "ban n-grams that were seen; 0 is off",
}
BEAM_HELP = {
    "num_beams": "rows of the beam",
    "length_penalty": "above 0 favours long hypotheses, below 0 short ones",
    "early_stopping": "when to end: true, false or never",
    "num_return_sequences": "how many hypotheses to print",
    "do_sample": "draw the candidates instead of taking the best",
    "num_beam_groups": "diverse beam search: so many groups",
    "diversity_penalty": "what a token costs that an earlier group has just taken, in nats",
}
# Penalties act in greedy decoding too; these options act where something is drawn.
_PENALTIES = ("repetition_penalty", "no_repeat_ngram_size")
_DRAWING = (*(f.name for f in fields(Shaping) if f.name not in _PENALTIES), "seed", "draw")
_EARLY_STOPPING: dict[str, bool | str] = {"true": True, "false": False, "never": "never"}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def build_parser() -> argparse.ArgumentParser:
    """All commands with their options."""
    parser = _Parser(
        prog="python -m core", description="Decode with a language model and keep every step."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_decode(commands.add_parser("decode", help="stream a text and write its trace file"))
    check = commands.add_parser("check", help="validate a trace file and print its checks")
    check.add_argument("file", help="a trace file")
    check.add_argument("--model", help="also check against this model (as in decode)")
    check.add_argument("--dtype", help="of the model's weights; default: the one of the run")
    check.add_argument("--device", help="of the model, as in decode")
    add_sweep(commands.add_parser("sweep", help="accuracy against the thinking budget"))
    return parser


def _add_decode(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        default="embedded:target",
        help="embedded:NAME, a folder in transformers' format, or a hub id (default: %(default)s)",
    )
    parser.add_argument("--prompt", required=True, help="the text to continue; - reads stdin")
    parser.add_argument("--chat", action="store_true", help="use the model's chat template")
    parser.add_argument("--system", default="", help="a system prompt, with --chat")
    parser.add_argument(
        "--method",
        choices=("greedy", "sampling", "beam", "reasoning"),
        help="default: the one where an option acts that only acts there, else greedy",
    )
    parser.add_argument("--json", metavar="FILE", help="write the trace file here")
    parser.add_argument(
        "--dtype",
        help="float32, bfloat16 or float16; default: float32 on the CPU, else the model's own",
    )
    parser.add_argument("--device", help="cpu (the default), cuda, mps, ...")
    _add_run(parser.add_argument_group("the run"))
    _add_drawing(parser.add_argument_group("shaping and the draw"))
    _add_beams(parser.add_argument_group("beam search"))
    add_reasoning(parser.add_argument_group("reasoning"))


def _add_run(group: argparse._ArgumentGroup) -> None:
    whole = partial(group.add_argument, type=int, metavar="N")
    standard = f"{Greedy().max_new_tokens}, of reasoning {Reasoning().max_new_tokens}"
    whole("--max-new-tokens", help=f"the bound on the loop (default: {standard})")
    whole("--min-new-tokens", default=0, help="hold the end back so long")
    stop = "a stop string; repeatable"
    group.add_argument("--stop", action="append", default=[], metavar="TEXT", help=stop)
    whole("--top-candidates", default=20, help="candidates kept a step (default: %(default)s)")
    group.add_argument("--no-cache", action="store_true", help="switch the KV cache off")


def _add_drawing(group: argparse._ArgumentGroup) -> None:
    """What was not given stays out of the parsed arguments."""
    off = argparse.SUPPRESS
    for field in fields(Shaping):
        group.add_argument(
            f"--{field.name.replace('_', '-')}",
            type=type(field.default),
            default=off,
            metavar="X",
            help=f"{SHAPING_HELP.get(field.name, '')} (default: {field.default})",
        )
    seed, draw = "of the draws (default: 0)", "how to draw (default: inverse_cdf)"
    group.add_argument("--seed", type=int, default=off, metavar="N", help=seed)
    group.add_argument("--draw", choices=DRAW_METHODS, default=off, help=draw)


def _add_beams(group: argparse._ArgumentGroup) -> None:
    """What was not given stays out of the parsed arguments."""
    off = argparse.SUPPRESS
    for name, text in BEAM_HELP.items():
        option, standard = (
            f"--{name.replace('_', '-')}",
            BeamSearch.__dataclass_fields__[name].default,
        )
        text = f"{text} (default: {str(standard).lower()})"
        if name == "do_sample":
            group.add_argument(option, action="store_true", default=off, help=text)
        elif name == "early_stopping":
            group.add_argument(option, choices=list(_EARLY_STOPPING), default=off, help=text)
        else:
            group.add_argument(option, type=type(standard), default=off, metavar="X", help=text)


def config_of(args: argparse.Namespace) -> MethodConfig:
    """The method's config from parsed arguments; the method that they ask for where none is named.

    Raises:
        ConfigError: a value outside its interval, or an option that the method would ignore.
    """
    method = args.method or _method_asked_for(args)
    _refuse_ignored(args, method)
    values = vars(args)
    shaping = {f.name: values[f.name] for f in fields(Shaping) if f.name in args}
    shared: dict[str, Any] = {
        "min_new_tokens": args.min_new_tokens,
        "stop_strings": tuple(args.stop),
        "shaping": Shaping(**shaping),
        "top_candidates": args.top_candidates,
        "use_cache": not args.no_cache,
    }
    if args.max_new_tokens is not None:
        shared["max_new_tokens"] = args.max_new_tokens
    if method == "reasoning":
        return reasoning_config(args, shared)
    if method == "beam":
        own = {name: values[name] for name in (*BEAM_HELP, "seed") if name in args}
        if "early_stopping" in own:
            own["early_stopping"] = _EARLY_STOPPING[own["early_stopping"]]
        return BeamSearch(**own, **shared)
    if method == "sampling":
        draw = {name: values[name] for name in ("seed", "draw") if name in args}
        return Sampling(**draw, **shared)
    return Greedy(**shared)


def _method_asked_for(args: argparse.Namespace) -> str:
    if asks_for_reasoning(args):
        return "reasoning"
    if any(name in args for name in BEAM_HELP):
        return "beam"
    return "sampling" if any(name in args for name in _DRAWING) else "greedy"


def _refuse_ignored(args: argparse.Namespace, method: str) -> None:
    """Raises ConfigError for an option that would do nothing."""
    undrawn = () if "do_sample" in args else _DRAWING
    searching = [name for name in BEAM_HELP if name != "do_sample"]
    thinking = (*REASONING_HELP, "level")
    useless: dict[str, list[tuple[Iterable[str], str]]] = {
        "greedy": [
            (_DRAWING, "greedy decoding; use sampling"),
            (BEAM_HELP, "greedy decoding; use --method beam"),
            (thinking, "greedy decoding; use --method reasoning"),
        ],
        "sampling": [
            (BEAM_HELP, "sampling; use --method beam"),
            (thinking, "sampling; use --method reasoning"),
        ],
        "beam": [
            (["draw"], "beam search; leave it out"),
            (undrawn, "beam search without --do-sample; add it"),
            (thinking, "beam search; use --method reasoning"),
        ],
        "reasoning": [
            (searching, "reasoning; use --method beam"),
            (undrawn, "reasoning without --do-sample; add it"),
        ],
    }
    for names, advice in useless[method]:
        given = next((name for name in names if name in args), None)
        if given is not None:
            raise ConfigError(f"--{given.replace('_', '-')} does nothing in {advice}.")


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
    if args.json is not None:
        _require_writable(args.json)
    from core import collect, load_model

    model = load_model(args.model, dtype=args.dtype, device=args.device)
    prompt: str | Sequence[int] = text
    if args.chat:
        system = [{"role": "system", "content": args.system}] if args.system else []
        prompt = model.encode_chat([*system, {"role": "user", "content": text}])
    if isinstance(config, Reasoning):
        config = with_marks_of(model, config, args)
    trace = collect(model, prompt, config, on_step=_Printer(), prompt_text=text)
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


class _Printer:
    """Prints the text as it comes; the answer begins on a line of its own."""

    _phase: Phase = "answer"

    def __call__(self, step: Step) -> None:
        if isinstance(step, TokenStep):
            begins = (self._phase, step.phase) == ("thinking", "answer")
            self._phase = step.phase
            print("\n" * begins + step.text, end="", flush=True)


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
    if args.model is None and given:
        raise ConfigError(f"--{given} acts only on a model; add --model.")
    from core import check, load_model, read_trace

    trace, model = read_trace(args.file), None
    if args.model is not None:
        dtype = args.dtype if args.dtype is not None else trace.dtype or None
        model = load_model(args.model, dtype=dtype, device=args.device)
    checks = check(trace, model)
    for outcome in checks:
        print(_check_line(outcome))
    passed = sum(outcome.passed for outcome in checks)
    print(f"{passed} of {len(checks)} checks passed")
    return 0 if passed == len(checks) else 1


def _check_line(outcome: Check) -> str:
    verdict = "pass" if outcome.passed else "FAIL"
    numbers = f"{outcome.value:.2g} (at most {outcome.tolerance:.2g})"
    return f"{verdict}  {outcome.name}: {numbers}; {outcome.detail}"


_COMMANDS = {"decode": run_decode, "check": run_check, "sweep": run_sweep_command}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 done, 1 a check failed, 2 bad input (one sentence on stderr)."""
    args = build_parser().parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal may hold fewer characters than a model writes.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _COMMANDS[args.command](args)
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
