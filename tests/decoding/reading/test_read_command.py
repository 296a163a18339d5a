"""`python -m core read`: surprisals and perplexity, pins, a second model, and hard files."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path

import pytest
import torch
from transformers import WatermarkDetector

from core import Sampling, Shaping, collect, load_model, read_trace
from core.cli.main import main
from core.decoding.reading.read import opening_of, read_marked, read_text
from core.decoding.reading.types import text_tokens, totals_of
from core.decoding.reading.watermarks import detections
from core.decoding.reading.word import follow_word
from core.decoding.record.trace import Trace
from core.models.running.reference import watermark

LONG = "Once upon a time there was a little dog. He liked to play with his red ball in the park. "
LONG += "One day he lost it, and a girl helped him to look for it under the trees."
TEXT = "Once upon a time there was a <b>girl</b>, 日本."


def _word_of(trace: Trace) -> dict[str, object]:
    word = follow_word(load_model("embedded:target"), trace, "girl")
    assert word is not None
    spellings = [spelling._asdict() for spelling in word.spellings]
    return {"text": "girl", "spellings": spellings, "probs": word.probs}


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text(TEXT + "\n", encoding="utf-8")
    return str(path)


def test_each_token_has_a_line_and_the_numbers_are_those_of_the_library(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, trace_file = tmp_path / "out.json", tmp_path / "trace.json"
    asked = ["read", file, "--pin", " the", "--pin", "#4", "--against-dtype", "bfloat16"]
    asked += ["--word", "girl"]
    assert main([*asked, "--json", str(out), "--trace", str(trace_file)]) == 0
    trace = read_text(load_model("embedded:target"), TEXT)
    tokens, content = text_tokens(trace), json.loads(out.read_text(encoding="utf-8"))
    totals = totals_of(tokens)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == len(tokens) + 3
    assert f"perplexity {totals.perplexity:.4f}" in printed[-2]
    assert "embedded:target (bfloat16) against embedded:target (float32)" in printed[-1]
    assert content["perplexity"] == pytest.approx(totals.perplexity)
    assert [row["surprisal"] for row in content["tokens"]] == pytest.approx(
        [token.surprisal for token in tokens]
    )
    assert content["word"] == json.loads(json.dumps(_word_of(trace)))
    assert [pin["text"] for pin in content["pins"]] == [" the", "<|end|>"]
    assert all(math.isfinite(value) for row in content["tokens"][1:] for value in row["pins"])
    kls = [row["kl"] for row in content["against"]["tokens"]]
    assert content["against"]["mean_kl"] == pytest.approx(sum(kls) / len(kls))
    read = read_trace(trace_file)
    assert read.token_ids == trace.token_ids and all(check.passed for check in read.checks)


def test_stdin_is_read_and_json_goes_to_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = io.TextIOWrapper(io.BytesIO(TEXT.encode()), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", data)
    assert main(["read", "-", "--json", "-"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["tokens"][0]["surprisal"] is None
    assert "perplexity" in captured.err


@pytest.mark.parametrize(
    ("content", "more", "words"),
    [
        (b"", [], "is empty"),
        (b"\n", [], "is empty"),
        (b"Once", [], "The text is a single token"),
        (b"\xff\xfe\xff", [], "is not UTF-8 text"),
        (b"word " * 2000, [], "this model reads at most 1,024 at once"),
        (b"Once upon", ["--pin", "no such token"], "takes single tokens"),
        (b"Once upon", ["--word", " "], "The word is empty"),
        (b"Once upon", ["--word", ""], "The word is empty"),
        (b"Once upon", ["--json", "-", "--trace", "-"], "Only one of --json and --trace"),
    ],
)
def test_what_can_t_be_read_is_one_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes,
    more: list[str],
    words: str,
) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    assert main(["read", str(path), *more]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert len(said) == 1 and words in said[0]


@pytest.mark.parametrize(
    ("options", "shaping"),
    [
        (["--watermark-bias", "3", "--watermark-key", "77"], {"watermark_bias": 3.0}),
        (["--synthid-depth", "30", "--synthid-ngram", "4"], {"synthid_depth": 30}),
    ],
)
def test_a_watermark_is_found_with_the_options_of_its_run_alone(
    options: list[str], shaping: dict[str, float], tmp_path: Path, capsys
) -> None:
    model, text = load_model("embedded:target"), tmp_path / "text.txt"
    more = {"watermark_key": 77} if "watermark_bias" in shaping else {"synthid_ngram": 4}
    settings = Shaping(**shaping, **more)
    run = collect(model, "Once", Sampling(max_new_tokens=240, seed=2, shaping=settings))
    text.write_text(f"Once{run.text}", encoding="utf-8")
    numbers = []
    for asked in (options, [*options[:2], *options[2:3], "9"]):
        out = tmp_path / "out.json"
        assert main(["read", str(text), *asked, "--json", str(out)]) == 0
        (found,) = json.loads(out.read_text(encoding="utf-8"))["watermarks"]
        numbers.append(found)
        assert f"z = {found['z_score']:.1f}".replace("-", "−") in capsys.readouterr().out
    right, wrong = numbers
    assert right["z_score"] > 3 > wrong["z_score"] and right["p_value"] < 1e-3
    read = read_marked(model, read_text(model, f"Once{run.text}"), settings)
    (found,) = detections(read, opening_of(model, read))
    assert right["z_score"] == pytest.approx(found.z_score)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--synthid-ngram", "4"], "--synthid-ngram does nothing without --synthid-depth"),
        (
            ["--watermark-bias", "0", "--watermark-key", "77"],
            "--watermark-key does nothing without --watermark-bias",
        ),
    ],
)
def test_a_further_number_of_no_watermark_is_refused(
    file: str, capsys, options: list[str], words: str
) -> None:
    assert main(["read", file, *options]) == 2
    assert f"{words}; give both." in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ["--watermark-key", "99"],
        ["--watermark-ratio", "0.5"],
        ["--watermark-scheme", "selfhash", "--watermark-context", "4"],
    ],
)
def test_the_key_and_the_ratio_suffice_to_look_for_a_green_list(
    options: list[str], tmp_path: Path
) -> None:
    model, file = load_model("embedded:target"), tmp_path / "text.txt"
    file.write_text(LONG, encoding="utf-8")
    numbers = []
    for more in ([], ["--watermark-bias", "4"]):
        out = tmp_path / "out.json"
        assert main(["read", str(file), *options, *more, "--json", str(out)]) == 0
        numbers += json.loads(out.read_text(encoding="utf-8"))["watermarks"]
    alone, biased = numbers
    assert alone == biased
    settings = {
        option.removeprefix("--").replace("-", "_"): text if "scheme" in option else float(text)
        for option, text in zip(options[::2], options[1::2], strict=True)
    }
    whole = {name: int(settings[name]) for name in settings if name.endswith(("key", "context"))}
    shaping = Shaping(watermark_bias=2.0, **{**settings, **whole})
    reference = WatermarkDetector(model.hf_model.config, "cpu", watermark(shaping).to_dict())
    expected = reference(torch.tensor([model.encode(LONG)]), return_dict=True)
    assert alone["scored_tokens"] == expected.num_tokens_scored[0]
    assert alone["z_score"] == pytest.approx(expected.z_score[0], abs=1e-9)
    assert alone["p_value"] == pytest.approx(float(expected.p_value[0]), abs=1e-9)
