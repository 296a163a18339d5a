"""The command line's options, and the config that they ask for."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import fields
from functools import partial
from typing import NoReturn

from core.decoding.configs import (
    ACCEPTANCES,
    DRAFTERS,
    DRAW_METHODS,
    SCORINGS,
    BeamSearch,
    Greedy,
    MethodConfig,
    Sampling,
    Shaping,
    Speculative,
)
from core.decoding.errors import ConfigError

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
SPECULATIVE_HELP = {
    "draft_length": "tokens that the draft proposes a round at most",
    "acceptance": "speculative sampling, the target's own sample, or typical acceptance",
    "scoring": "one sequence with many queries, or many sequences",
    "drafter": "a second model, or what followed the last tokens before",
    "draft_temperature": "the draft's own",
    "draft_threshold": "the draft stops behind a token that it is less sure of",
    "adaptive": "lengthen drafts that are accepted, shorten the others",
    "lookup_ngram": "of prompt lookup: the longest run of last tokens to search for",
    "posterior_threshold": "of typical acceptance: epsilon",
    "posterior_alpha": "of typical acceptance: delta",
}
_CHOICES = {"acceptance": ACCEPTANCES, "scoring": SCORINGS, "drafter": DRAFTERS}
# Penalties act in greedy decoding too; these options act where something is drawn.
_PENALTIES = ("repetition_penalty", "no_repeat_ngram_size")
_DRAWING = (*(f.name for f in fields(Shaping) if f.name not in _PENALTIES), "seed", "draw")
_DRAFTING = ("draft", *SPECULATIVE_HELP)
_EARLY_STOPPING: dict[str, bool | str] = {"true": True, "false": False, "never": "never"}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def build_parser() -> argparse.ArgumentParser:
    """Both commands with their options."""
    parser = _Parser(
        prog="python -m core", description="Decode with a language model and keep every step."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_decode(commands.add_parser("decode", help="stream a text and write its trace file"))
    check = commands.add_parser("check", help="validate a trace file and print its checks")
    check.add_argument("file", help="a trace file")
    check.add_argument("--model", help="also check against this model (as in decode)")
    check.add_argument("--draft", help="the second model of a speculative run, with --model")
    check.add_argument("--dtype", help="of the model's weights; default: the one of the run")
    check.add_argument("--device", help="of the model, as in decode")
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
        choices=("greedy", "sampling", "beam", "speculative"),
        help="default: the one whose own option is given; sampling where one that acts on a draw "
        "is, else greedy",
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
    _add_drafts(parser.add_argument_group("speculative decoding"))


def _add_run(group: argparse._ArgumentGroup) -> None:
    whole = partial(group.add_argument, type=int, metavar="N")
    whole("--max-new-tokens", default=40, help="the bound on the loop (default: %(default)s)")
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


def _add_drafts(group: argparse._ArgumentGroup) -> None:
    """What was not given stays out of the parsed arguments."""
    off = argparse.SUPPRESS
    group.add_argument(
        "--draft",
        default=off,
        metavar="MODEL",
        help="the second model, as --model (default: embedded:draft)",
    )
    for name, text in SPECULATIVE_HELP.items():
        option = f"--{name.replace('_', '-')}"
        standard = Speculative.__dataclass_fields__[name].default
        text = f"{text} (default: {standard})"
        if name == "adaptive":
            group.add_argument(option, action="store_true", default=off, help=text)
        elif name in _CHOICES:
            group.add_argument(option, choices=_CHOICES[name], default=off, help=text)
        else:
            kind = float if standard is None else type(standard)
            group.add_argument(option, type=kind, default=off, metavar="X", help=text)


def config_of(args: argparse.Namespace) -> MethodConfig:
    """The method's config from parsed arguments; the method that they ask for where none is named.

    Raises:
        ConfigError: a value outside its interval, or an option that the method would ignore.
    """
    method = args.method or _method_asked_for(args)
    _refuse_ignored(args, method)
    values = vars(args)
    shaping = {f.name: values[f.name] for f in fields(Shaping) if f.name in args}
    shared = {
        "max_new_tokens": args.max_new_tokens,
        "min_new_tokens": args.min_new_tokens,
        "stop_strings": tuple(args.stop),
        "shaping": Shaping(**shaping),
        "top_candidates": args.top_candidates,
        "use_cache": not args.no_cache,
    }
    if method == "beam":
        own = {name: values[name] for name in (*BEAM_HELP, "seed") if name in args}
        if "early_stopping" in own:
            own["early_stopping"] = _EARLY_STOPPING[own["early_stopping"]]
        return BeamSearch(**own, **shared)
    if method == "speculative":
        own = {name: values[name] for name in (*SPECULATIVE_HELP, "seed") if name in args}
        return Speculative(**own, **shared)
    if method == "sampling":
        draw = {name: values[name] for name in ("seed", "draw") if name in args}
        return Sampling(**draw, **shared)
    return Greedy(**shared)


def draft_of(args: argparse.Namespace, config: MethodConfig) -> str | None:
    """Which model drafts: the embedded one where none is named, none where none is needed.

    Raises:
        ConfigError: a draft model beside prompt lookup.
    """
    named: str | None = getattr(args, "draft", None)
    if not isinstance(config, Speculative):
        return None
    if config.drafter == "model":
        return named or "embedded:draft"
    if named:
        raise ConfigError(
            "--draft does nothing with --drafter prompt_lookup; leave one of both out."
        )
    return None


def _method_asked_for(args: argparse.Namespace) -> str:
    if any(name in args for name in _DRAFTING):
        return "speculative"
    if any(name in args for name in BEAM_HELP):
        return "beam"
    return "sampling" if any(name in args for name in _DRAWING) else "greedy"


def _refuse_ignored(args: argparse.Namespace, method: str) -> None:
    """Raises ConfigError for an option that would do nothing."""
    undrawn = () if "do_sample" in args else _DRAWING
    useless: dict[str, list[tuple[Iterable[str], str]]] = {
        "greedy": [
            (_DRAWING, "greedy decoding; use sampling"),
            (BEAM_HELP, "greedy decoding; use --method beam"),
            (_DRAFTING, "greedy decoding; use --method speculative"),
        ],
        "sampling": [
            (BEAM_HELP, "sampling; use --method beam"),
            (_DRAFTING, "sampling; use --method speculative"),
        ],
        "speculative": [
            (BEAM_HELP, "speculative decoding; leave it out"),
            (["draw"], "speculative decoding, which draws by inverse_cdf; leave it out"),
        ],
        "beam": [
            (_DRAFTING, "beam search; leave it out"),
            (["draw"], "beam search; leave it out"),
            (undrawn, "beam search without --do-sample; add it"),
        ],
    }
    for names, advice in useless[method]:
        given = next((name for name in names if name in args), None)
        if given is not None:
            raise ConfigError(f"--{given.replace('_', '-')} does nothing in {advice}.")
