"""`python -m core decode`: stream a text and write its trace file."""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, NamedTuple

from ...decoding.config import MethodConfig
from ...decoding.counting import counted
from ...decoding.errors import ConfigError, PromptError
from ...decoding.record.trace import Trace
from ...language import N_, Message, tr
from ...traces.bounded_file import text_of
from ..loading import load
from ..method import MethodOptions, options_of
from ..options import add_options, config_of, method_of
from ..output import require_writable, say, say_written, writing, written

# Limit on the characters read from stdin, which may never end.
MAX_PROMPT = 10_000_000
_SPEED = N_("{run}, {tokens} after the first in {seconds:.2f} s: {speed:.0f} tokens/s")
_SPEED_OF_ROUNDS = N_(
    "{run}, {tokens} after the first round in {seconds:.2f} s: {speed:.0f} tokens/s"
)


class DecodeArguments(NamedTuple):
    """Validated arguments of a run, before a model is loaded."""

    options: MethodOptions
    config: MethodConfig
    text: str


class RunOutcome(NamedTuple):
    """A run's trace and the command's exit code: 130 after Ctrl+C, 2 after a lost model, else 0."""

    trace: Trace
    code: int


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    add_request(parser)
    parser.add_argument("--json", metavar="FILE", help="write the trace file here; - is stdout")


def add_request(parser: ArgumentParser) -> None:
    """Add the options for the model, the prompt and the decoding settings."""
    add_prompt(parser, N_("the text to continue; - reads stdin"))
    add_options(parser)


def add_prompt(parser: ArgumentParser, text: str) -> None:
    """Add the options for the model and the prompt; `text` is the help of --prompt."""
    add_model(parser)
    parser.add_argument("--prompt", metavar="TEXT", required=True, help=text)
    parser.add_argument("--chat", action="store_true", help="use the model's chat template")
    parser.add_argument("--system", metavar="TEXT", default="", help="a system prompt, with --chat")


def add_model(parser: ArgumentParser) -> None:
    """Add the options for the model, its number type and its device."""
    parser.add_argument(
        "--model",
        default="embedded:target",
        help="embedded:NAME, smollm2, a folder in transformers' format, a GGUF file, a hub id, or "
        "a model on a server: vllm:http://HOST:8000#MODEL, llamacpp:http://HOST:8080, "
        "openai:https://HOST#MODEL (default: %(default)s)",
    )
    parser.add_argument(
        "--dtype",
        help="float32, bfloat16 or float16; default: float32 on the CPU, else the model's own",
    )
    parser.add_argument("--device", help="cpu (the default), cuda, mps, ...")


def run(args: Namespace) -> int:
    """Stream the text to stdout, and print a summary of the run to stderr."""
    request = request_of(args)
    if args.json is None:
        return carry_out(args, request).code
    require_writable(args.json, "--json")
    with written(args.json) as path:
        outcome = carry_out(args, request)
        from ... import check

        with writing(path):
            outcome.trace.with_checks(tuple(check(outcome.trace))).save(path)
    say_written(args.json)
    return outcome.code


def request_of(args: Namespace) -> DecodeArguments:
    """Return the settings and the prompt.

    Raises:
        ConfigError, PromptError: as `config_of` and `prompt_of`.
    """
    return DecodeArguments(options_of(method_of(args)), config_of(args), prompt_of(args))


def carry_out(
    args: Namespace,
    request: DecodeArguments,
    loaded: Callable[[Any], object] = lambda _: None,
) -> RunOutcome:
    """Load the models, stream the text to stdout, and print a summary of the run to stderr.

    Ctrl+C ends the run after the current step; a second one ends the command.

    Args:
        loaded: called with the target model before the run.
    """
    from ... import collect

    options, text = request.options, request.text
    drafter = options.draft(args)
    model = load(args.model, args.dtype, args.device)
    prompt = put(model, text, args, options.instruction(model, args))
    config = options.fit(model, request.config, args)
    draft = load(drafter, args.dtype, args.device) if drafter else None
    loaded(model)
    with interrupted_by_user() as interrupted:
        trace = collect(
            model, prompt, config, draft=draft, prompt_text=text,
            on_step=options.printer(), should_stop=interrupted,
        )  # fmt: skip
    if options.print_result:
        options.print_result(trace)
    print(flush=True)
    print_summary(trace, options.notes(trace))
    if trace.finish_reason != "cancelled":
        return RunOutcome(trace, 0)
    if interrupted():
        say(tr("stopped"))
    return RunOutcome(trace, 130 if interrupted() else 2)


@contextmanager
def interrupted_by_user() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns True after Ctrl+C; the first Ctrl+C raises no exception."""
    pressed = list[bool]()
    if current_thread() is not main_thread():
        yield lambda: False
        return
    usual = signal.getsignal(signal.SIGINT)

    def record(*_: object) -> None:
        pressed.append(True)
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, record)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, usual)


def put(model: Any, text: str, args: Namespace, told: str = "") -> str | Sequence[int]:
    """Return the prompt as text, or as token ids of a chat, with the instruction `told` added."""
    if not args.chat:
        return f"{told}\n\n{text}\n" if told else text
    system = "\n\n".join(part for part in (args.system, told) if part)
    messages = [{"role": "system", "content": system}] if system else []
    return list(model.encode_chat([*messages, {"role": "user", "content": text}]))


def prompt_of(args: Namespace) -> str:
    """Return the prompt's text, from the arguments or from stdin (without its last line break).

    Raises:
        PromptError: the prompt is empty or no UTF-8 text.
        ConfigError: a system prompt is given without a chat.
    """
    if args.system and not args.chat:
        raise ConfigError(N_("--system acts only in a chat; add --chat."))
    try:
        text = _stdin() if args.prompt == "-" else args.prompt
        # Bytes from a shell that are no UTF-8 arrive as halves of surrogate pairs.
        f"{text}{args.system}".encode()
    except UnicodeError:
        raise PromptError(N_("The prompt is not UTF-8 text; convert it first.")) from None
    if not text:
        raise PromptError(N_("The prompt is empty: write at least one word."))
    return str(text)


def _stdin() -> str:
    if sys.stdin is None:
        raise PromptError(N_("Standard input is closed; give the prompt itself in place of -."))
    # UTF-8 takes at most four bytes per character. On Windows, lines in a pipe end with CR and LF.
    text = text_of(sys.stdin.buffer.read(4 * MAX_PROMPT + 1)).replace("\r\n", "\n")
    if "\0" in text:
        raise PromptError(
            N_(
                "The prompt is text with NUL characters; convert it to UTF-8, or give UTF-16 its "
                "byte order mark."
            )
        )
    if len(text) > MAX_PROMPT:
        raise PromptError(
            Message(
                "The prompt has more than {most:,} characters; give a shorter one.", most=MAX_PROMPT
            )
        )
    return text.removesuffix("\n")


def print_summary(trace: Trace, notes: tuple[str, ...]) -> None:
    """Print the notes, the lengths, the finish reason and the speed of a run on stderr."""
    for note in (*(note.words for note in trace.notes), *notes):
        print(tr(note), file=sys.stderr)
    words = tr(
        "{tokens} after a prompt of {prompt}, finish reason {reason}",
        tokens=counted(len(trace.token_ids), "token"),
        prompt=len(trace.prompt_ids),
        reason=trace.finish_reason,
    )  # fmt: skip
    if speed := trace.tokens_per_second:
        words = tr(
            _SPEED_OF_ROUNDS if trace.rounds else _SPEED,
            run=words, tokens=trace.later_tokens, seconds=trace.timings.decode, speed=speed,
        )  # fmt: skip
    print(f"[{words}]", file=sys.stderr)
