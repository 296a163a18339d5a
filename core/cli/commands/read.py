"""`python -m core read`: print the surprisal of each token of a text, and its perplexity."""

from __future__ import annotations

import json
import math
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from ...decoding.counting import counted, nth, sentences
from ...decoding.errors import ConfigError, ModelError, PromptError
from ...decoding.files import finite_values, shown, write_file
from ...decoding.reading.types import (
    FollowedWord,
    ModelDivergence,
    PinnedToken,
    ReadingTotals,
    TextToken,
    TokenDivergence,
    text_tokens,
    totals_of,
)
from ...decoding.reading.watermarks import (
    DETECTED_BIAS,
    ENOUGH,
    THRESHOLD,
    Detection,
    detections,
)
from ...decoding.record.trace import Trace
from ...decoding.shaping.config import SETTINGS, WATERMARKS, Shaping, parts_of
from ...figures.base.labels import NBSP
from ...figures.guided.watermark import verdict
from ...language import N_, Message, tr
from ...language.columns import left, right, text_columns
from ...traces.bounded_file import file_bytes, text_of
from ..loading import load
from ..method import add_shaping, given
from ..options import require_switched_on
from ..output import quoted, require_writable, say, say_written, writing, written
from . import decode

# Settings of watermarks, as options of decode have them.
MARKS = tuple(name for name, spec in SETTINGS.items() if spec.role == "watermark")


def add(parser: ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("file", help="a text file; - reads stdin")
    decode.add_model(parser)
    parser.add_argument(
        "--pin",
        action="append",
        metavar="TOKEN",
        default=[],
        help="also print the probability of this token, a text or #ID, at every place; up to five",
    )
    parser.add_argument(
        "--word",
        default=None,
        help="also print the probability that the model goes on with this word, of one or more "
        "tokens, with or without a space before it, at every place",
    )
    parser.add_argument(
        "--against", metavar="MODEL", help="also compare with this model of the same tokenizer"
    )
    parser.add_argument("--against-dtype", metavar="DTYPE", help="its number type, as --dtype")
    group = parser.add_argument_group("the watermark to look for, by the settings of the run")
    add_shaping(group, MARKS)
    parser.add_argument("--json", metavar="FILE", help="write all numbers here; - is stdout")
    parser.add_argument("--trace", metavar="FILE", help="write the trace file here; - is stdout")


def run(args: Namespace) -> int:
    """Print a line for each token, then the totals."""
    for option in ("json", "trace"):
        if (path := getattr(args, option)) is not None:
            require_writable(path, f"--{option}")
    if args.json == args.trace == "-":
        raise ConfigError(N_("Only one of --json and --trace can be standard output."))
    if args.against_dtype is not None and args.against is None:
        # The same weights in another number type.
        args.against = args.model
    shaping = _marks_of(args)
    text = _text_of(args)
    from ... import check
    from ...decoding.reading.measure import diverging, pinned, pins_in
    from ...decoding.reading.read import opening_of, read_marked, read_text
    from ...decoding.reading.word import follow_word

    model = load(args.model, args.dtype, args.device)
    pins = pins_in(model, args.pin)
    trace = read_text(model, text)
    if trace.finish_reason == "cancelled":
        raise ModelError(
            Message(
                "The reading broke off after {tokens}: {notes}",
                tokens=counted(len(trace.token_ids), "token"),
                notes=sentences(*(note.words for note in trace.notes)),
            )
        )
    followed = pinned(model, trace, pins)
    word = follow_word(model, trace, args.word) if args.word is not None else None
    divergence = None
    if args.against is not None:
        other = load(args.against, args.against_dtype, args.device)
        divergence = diverging(model, other, [*trace.prompt_ids, *trace.token_ids])
    found: tuple[Detection, ...] = ()
    if shaping.active(WATERMARKS):
        marked = read_marked(model, trace, shaping)
        found = detections(marked, opening_of(model, marked))
    tokens = text_tokens(trace)
    with written(args.json or "") as numbers, written(args.trace or "") as file:
        _print(trace, tokens, followed, word, divergence)
        for detection in found:
            print(_watermark(detection))
        if args.json is not None:
            plain = _plain(trace, tokens, followed, word, divergence)
            values = finite_values(plain | {"watermarks": [_score(one) for one in found]})
            content = json.dumps(values, ensure_ascii=False)
            with writing(numbers):
                write_file(numbers, content)
        if args.trace is not None:
            with writing(file):
                trace.with_checks(tuple(check(trace))).save(file)
    for path in filter(None, (args.json, args.trace)):
        say_written(path)
    return 0


def _marks_of(args: Namespace) -> Shaping:
    """Return the watermark's settings; a detector of the green list doesn't use the bias itself.

    Raises:
        ConfigError: a further number of SynthID without its layers, or of a green list of bias 0.
    """
    marks = given(args, MARKS)
    if any(name in marks for name in parts_of("watermark_bias")):
        marks = {"watermark_bias": DETECTED_BIAS, **marks}
    require_switched_on(marks)
    return Shaping(**marks)


def _watermark(found: Detection) -> str:
    """Return the detector's verdict as a line."""
    low = found.counts[-1] < ENOUGH and (found.z_score or 0) < THRESHOLD
    words = f"{tr(SETTINGS[found.name].name)}: {verdict(found).replace(NBSP, ' ')}"
    if not low:
        return words
    return tr(
        "{verdict}; a low z of fewer than {enough} tokens proves nothing",
        verdict=words, enough=ENOUGH,
    )  # fmt: skip


def _score(found: Detection) -> dict[str, Any]:
    """Return the detector's numbers of the whole text by the keys of the file."""
    return {
        "name": found.name,
        "scored_tokens": found.counts[-1],
        "mean_score": found.means[-1],
        "expected": found.expected,
        "z_score": found.z_score,
        "p_value": found.p_value,
    }


def _text_of(args: Namespace) -> str:
    """Return the text of the file, without its last line break, as from stdin."""
    if args.file == "-":
        args.prompt, args.system, args.chat = "-", "", False
        return decode.prompt_of(args)
    data = file_bytes(args.file, 4 * decode.MAX_PROMPT, Message("text file"), PromptError)
    try:
        text = text_of(data).removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise PromptError(
            Message(
                "The text file {file} is not UTF-8 text; convert it first.", file=shown(args.file)
            )
        ) from None
    if not text:
        raise PromptError(Message("The text file {file} is empty.", file=shown(args.file)))
    return text


def _print(
    trace: Trace,
    tokens: Sequence[TextToken],
    pins: Sequence[PinnedToken],
    word: FollowedWord | None,
    divergence: ModelDivergence | None,
) -> None:
    """Print the table of tokens and the totals."""
    names = [tr("surprisal"), tr("rank"), tr("entropy"), *(quoted(pin.text) for pin in pins)]
    names += [quoted(word.word)] if word else []
    names += ["KL", tr("favourites")] if divergence else []
    widths = [max(9, text_columns(name)) for name in names]
    print(f"{right(tr('at'), 5)}  {left(tr('token'), 16)} {_row(names, widths)}")
    first, probs = len(trace.prompt_ids), word.probs if word else ()
    for token in tokens:
        cells = ["-"] * 3
        if token.surprisal is not None and token.entropy is not None:
            cells = [f"{token.surprisal:.3f}", f"{token.rank or 0:,}", f"{token.entropy:.3f}"]
        at = token.place - first
        values = [pin.logprobs[at] if at >= 0 else None for pin in pins]
        cells += ["-" if value is None else f"{math.exp(value):.3g}" for value in values]
        if word:
            prob = probs[at] if at >= 0 else None
            cells.append("-" if prob is None else f"{prob:.3g}")
        if divergence and token.place:
            row = divergence.tokens[token.place - 1]
            cells += [f"{row.kl:.3g}", _favourites(row)]
        favourite = f"  {token.expected[0].text!r}" if token.expected and not divergence else ""
        text = left(quoted(token.text, 16), 16)
        print(f"{nth(token.place):5}  {text} {_row(cells, widths)}{favourite}")
    print(_summary(totals_of(tokens)))
    if divergence:
        print(
            tr(
                "{other} against {model}: mean KL {kl:.3g} nats, {flipped} favourites differ",
                other=divergence.names[1],
                model=divergence.names[0],
                kl=divergence.mean_kl,
                flipped=divergence.flipped,
            )
        )
    for note in trace.notes:
        say(tr(note.words))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return the cells of a row, which has fewer at the first token, as it is no prediction."""
    return " ".join(right(cell, width) for cell, width in zip(cells, widths, strict=False))


def _favourites(row: TokenDivergence) -> str:
    one, other = row.favourite_texts
    return f"{one!r} -> {other!r}" if row.flipped else repr(one)


def _summary(totals: ReadingTotals) -> str:
    return tr(
        "perplexity {perplexity:.4f}, {bits:.4f} bits per byte, {nats:.4f} nats per token over "
        "{tokens} predicted tokens of {bytes} bytes; {first} were the model's favourite",
        perplexity=totals.perplexity,
        bits=totals.bits_per_byte,
        nats=totals.nats / max(1, totals.tokens),
        tokens=totals.tokens,
        bytes=totals.bytes,
        first=totals.first,
    )


def _plain(
    trace: Trace,
    tokens: Sequence[TextToken],
    pins: Sequence[PinnedToken],
    word: FollowedWord | None,
    divergence: ModelDivergence | None,
) -> dict[str, Any]:
    """Return the printed numbers by the keys of the file."""
    totals = totals_of(tokens)
    first = len(trace.prompt_ids)
    rows = [
        {
            "at": nth(token.place),
            "id": token.token_id,
            "text": token.text,
            "surprisal": token.surprisal,
            "rank": token.rank,
            "entropy": token.entropy,
            "favourite": token.expected[0]._asdict() if token.expected else None,
            "pins": [pin.logprobs[token.place - first] for pin in pins]
            if token.place >= first
            else [],
        }
        for token in tokens
    ]
    return {
        "model": trace.model_id,
        "revision": trace.model_revision,
        "dtype": trace.dtype,
        "perplexity": totals.perplexity,
        "bits_per_byte": totals.bits_per_byte,
        **totals._asdict(),
        "pins": [{"id": pin.token_id, "text": pin.text} for pin in pins],
        "word": word
        and {
            "text": word.word,
            "spellings": [spelling._asdict() for spelling in word.spellings],
            "probs": word.probs,
        },
        "tokens": rows,
        "against": None
        if divergence is None
        else {
            "names": divergence.names,
            "mean_kl": divergence.mean_kl,
            "flipped": divergence.flipped,
            "tokens": [row._asdict() | {"at": nth(row.place)} for row in divergence.tokens],
        },
    }
