"""`python -m core`: the text on stdout, one sentence on stderr and exit code 2 for bad input."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

import core
from benchmarks.broken_drafts import BrokenDraft, LateContext
from core import BeamSearch, Greedy, Sampling, Shaping, read_trace
from core.cli.commands import decode
from core.cli.main import build_parser, main
from core.cli.options import config_of
from core.decoding.config import MethodConfig
from core.decoding.constraints.value import Constraint
from core.decoding.methods import METHODS
from core.decoding.shaping.config import SETTINGS
from core.models.scripted import ScriptedModel

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def run_file(folder, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run.json"
    arguments = ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "3"]
    assert main([*arguments, "--json", str(out)]) == 0
    return out


def test_decode_streams_the_text_and_writes_the_trace(folder, tmp_path, capsys) -> None:
    out = tmp_path / "run.json"
    arguments = ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "6"]
    assert main([*arguments, "--json", str(out)]) == 0
    trace = read_trace(out)
    printed = capsys.readouterr()
    assert printed.out == trace.text + "\n"
    assert "finish reason" in printed.err
    assert len(trace.checks) >= 7


def test_check_prints_each_check_and_compares_with_the_model(folder, run_file, capsys) -> None:
    assert main(["check", str(run_file), "--model", folder]) == 0
    printed = capsys.readouterr().out
    assert "pass  probabilities sum to one" in printed
    assert "pass  transformers' generate emits the same tokens" in printed
    assert re.search(r"\b(\d+) of \1 checks passed", printed)


def test_a_forged_trace_fails_its_checks(run_file, tmp_path, capsys) -> None:
    out, data = tmp_path / "run.json", json.loads(run_file.read_text())
    data["steps"][2]["candidates"]["raw_prob"][0] *= 0.5
    out.write_text(json.dumps(data))
    assert main(["check", str(out)]) == 1
    assert "FAIL  surprisal is -ln(probability)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["decode", "--prompt", "x", "--temperature", "-1"], ": --temperature must lie in"),
        (["decode", "--prompt", "x", "--max-new-tokens", "0"], ": --max-new-tokens must lie"),
        (["decode", "--prompt", "x", "--model", "embedded:nothing"], "nothing"),
        (["decode", "--prompt", "x", "--model", "/no/such/folder"], "/no/such/folder"),
        (["check", "/no/such/file.json"], "can't be opened"),
        (["decode", "--prompt", "x", "--temperature", "1e-45"], "or be 0 (greedy)"),
        (["decode", "--prompt", "x", "--stop", "\udcff"], ": --stop must hold text that UTF-8"),
        (["sweep", "--problems", "-1", "--out", "x"], ": --problems must lie in"),
        (["serve", "--port", "-1"], ": --port must lie in [0, 65535], got -1."),
        (["decode", "--prompt", "\udcff"], "not UTF-8 text"),
        (["decode", "--prompt", "x", "--chat", "--system", "\udcff"], "not UTF-8 text"),
        (["decode", "--prompt", "x", "--system", "Be brief"], "--system acts only in a chat"),
        (["decode", "--prompt", "", "--chat"], "The prompt is empty"),
        (["decode", "--prompt", "x", "--json", "/no/such/folder/x"], "can't be written"),
        (["decode", "--prompt", "x", "--json", "."], "can't be written"),
        (["decode", "--prompt", "x", "--json", ""], "--json needs the name of a file"),
        (["check", "x.json", "--dtype", "float32"], "--dtype acts only on a model; add --model"),
        (["check", "x.json", "--device", "cpu"], "--device acts only on a model; add --model"),
        (["check", "x.json", "--draft", "x"], "--draft acts only on a model; add --model"),
        (["sweep", "--file", "x.csv", "--steps", "1", "--out", "x"], "--steps is of generated"),
        (["sweep", "--file", "x", "--problem-seed", "0", "--out", "x"], "--problem-seed is of"),
        (["decode", "--prompt", "x", "--draft-length", "0"], "--draft-length must lie in [1, 64]"),
        (
            ["decode", "--prompt", "x", "--method", "greedy", "--draft", "x"],
            "--draft does nothing in greedy decoding; use --method speculative",
        ),
        (
            ["decode", "--prompt", "x", "--adaptive", "--draw", "gumbel"],
            "--draw does nothing in speculative decoding",
        ),
        (
            ["decode", "--prompt", "x", "--draft", "x", "--drafter", "prompt_lookup"],
            "--draft does nothing with --drafter prompt_lookup",
        ),
        (
            ["decode", "--prompt", "x", "--exit-layer", "3"],
            "--exit-layer does nothing without --drafter early_exit; give both.",
        ),
        (
            ["decode", "--prompt", "x", "--drafter", "suffix", "--draft-threshold", "0.5"],
            "--draft-threshold does nothing with --drafter suffix; leave one of both out.",
        ),
        (
            ["decode", "--prompt", "x", "--posterior-alpha", "0.2"],
            "--posterior-alpha does nothing without --acceptance typical; give both.",
        ),
        (
            ["decode", "--prompt", "x", "--tree-nodes", "8", "--tree-picks", "top_k"],
            "--tree-picks does nothing without --tree-widths; give both.",
        ),
        (
            ["decode", "--prompt", "x", "--drafter", "prompt_lookup", "--lookup-min", "3"],
            "--lookup-min must be at most --lookup-ngram (2), got 3.",
        ),
        (
            ["decode", "--prompt", "x", "--tree-nodes", "8", "--tree-picks", "with_replacement"],
            "--tree-nodes chooses among the likeliest tokens: set --tree-picks to top_k.",
        ),
        (
            ["decode", "--prompt", "x", "--tree-widths", "lookup_ngram"],
            "got 'lookup_ngram'.",
        ),
        (
            ["decode", "--prompt", "x", "--tree-widths", "3,2", "--draft-length", "9"],
            "--draft-length does nothing with --tree-widths; leave one of both out.",
        ),
        (
            ["decode", "--prompt", "x", "--model", "embedded:nothing"],
            "There is no embedded model 'nothing'; embedded models: embedded:draft, "
            "embedded:target, embedded:head, embedded:diffusion.",
        ),
    ],
)
def test_a_bad_value_exits_2_with_one_sentence(arguments, words, capsys) -> None:
    assert main(arguments) == 2
    message = capsys.readouterr().err
    assert words in message
    assert message.count("\n") == 1


def test_without_a_command_the_help_is_printed(capsys) -> None:
    assert main([]) == 2
    assert "serve     answer OpenAI's API" in capsys.readouterr().err


@pytest.fixture
def no_model(monkeypatch) -> None:
    refuse = Mock(side_effect=AssertionError("a model was loaded"))
    monkeypatch.setattr(core, "load_model", refuse, raising=False)


@pytest.mark.parametrize(
    "options",
    ["--json /no/such/folder/x", "--stop \udcff", "--system x", "--temperature -1"],
)
@pytest.mark.usefixtures("no_model")
def test_what_can_be_said_at_once_is_said_before_the_model_loads(options: str) -> None:
    assert main(["decode", "--prompt", "x", *options.split()]) == 2


@pytest.mark.usefixtures("no_model")
def test_asking_whether_a_file_can_be_written_leaves_it_as_it_was(tmp_path) -> None:
    there, new = tmp_path / "there.json", tmp_path / "new.json"
    there.write_text("kept")
    for path in (there, new):
        with pytest.raises(AssertionError, match="a model was loaded"):
            main(["decode", "--prompt", "x", "--json", str(path)])
    assert there.read_text() == "kept" and not new.exists()


OPTIONS = {
    "sampling": (
        "--temperature 0.5",
        "--top-n-sigma 1.5",
        "--top-k 5",
        "--top-p 0.9",
        "--min-p 0.1",
        "--typical-p 0.9",
        "--epsilon-cutoff 0.01",
        "--dynatemp-high 1.5 --dynatemp-low 0.5 --dynatemp-exponent 2",
        "--smoothing-factor 0.2 --smoothing-curve 1.5",
        "--top-h 0.5",
        "--min-k 3",
        "--tail-free 0.9",
        "--top-a 0.2",
        "--p-less 2",
        "--eta-cutoff 0.01",
        "--mirostat 2 --mirostat-tau 3 --mirostat-eta 0.2",
        "--adaptive-target 0.4 --adaptive-decay 0.8",
        "--xtc-probability 0.5 --xtc-threshold 0.2",
        "--seed 0",
        "--draw inverse_cdf",
    ),
    "beam": (
        "--num-beams 3",
        "--length-penalty 0.5",
        "--early-stopping never",
        "--num-return-sequences 2",
        "--do-sample",
        "--num-beam-groups 2",
    ),
    "speculative": (
        "--draft x",
        "--acceptance exact",
        "--scoring batch_expansion",
        "--drafter prompt_lookup --lookup-ngram 3",
        "--draft-temperature 0.5",
        "--adaptive",
    ),
}


def parsed(options: str) -> MethodConfig:
    return config_of(build_parser().parse_args(["decode", "--prompt", "x", *options.split()]))


@pytest.mark.parametrize("method", ["greedy", "sampling", "reasoning", "speculative --draft x"])
def test_a_watermark_is_an_option_without_draws_too(method: str) -> None:
    options = "--watermark-bias 2 --watermark-scheme selfhash --watermark-context 3"
    shaping = parsed(f"--method {method} {options}").shaping
    assert (shaping.watermark_scheme, shaping.watermark_context) == ("selfhash", 3)
    shaping = parsed(f"--method {method} --synthid-depth 2 --synthid-keys 5,7").shaping
    assert (shaping.synthid_depth, shaping.synthid_keys) == (2, (5, 7))


@pytest.mark.parametrize(
    ("method", "options"),
    [(name, single) for name, options in OPTIONS.items() for single in options],
)
def test_an_option_of_a_method_asks_for_it_and_is_refused_by_another(
    method: str, options: str, capsys
) -> None:
    assert parsed(options).method == method
    assert main(["decode", "--prompt", "x", *options.split(), "--method", "greedy"]) == 2
    message = capsys.readouterr().err
    assert "does nothing in greedy decoding" in message and message.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--method beam --temperature 0.5", "--temperature does nothing in beam search without"),
        ("--method beam --seed 5", "--seed does nothing in beam search without --do-sample"),
        ("--num-beams 3 --draw gumbel", "--draw does nothing in beam search"),
        ("--do-sample --draw gumbel", "--draw does nothing in beam search"),
        ("--num-beams 3 --num-beam-groups 2", "must divide --num-beams (3)"),
    ],
)
def test_what_beam_search_would_ignore_is_refused(options: str, words: str, capsys) -> None:
    assert main(["decode", "--prompt", "x", *options.split()]) == 2
    assert words in capsys.readouterr().err


def test_a_further_number_of_a_setting_that_is_off_is_refused(capsys) -> None:
    for options in ("--xtc-threshold 0.2", "--xtc-threshold 0.1 --xtc-probability 0"):
        assert main(["decode", "--prompt", "x", *options.split()]) == 2
        message = capsys.readouterr().err
        assert "--xtc-threshold does nothing without --xtc-probability; give both." in message
        assert message.count("\n") == 1


PENALTIES = (
    "--repetition-penalty 1.2 --no-repeat-ngram-size 2 --min-new-tokens 3 --dry-multiplier 0.8 "
    "--dry-base 2 --dry-allowed-length 3 --dry-penalty-last-n 64 --dry-sequence-breakers \\n "
    "--dry-sequence-breakers : --bad-words 383.7,8 --bad-words 5 --length-decay 1.05 "
    "--length-decay-start 30 --suppress-tokens 9,12 --begin-suppress-tokens 3"
)
PENALISED = Greedy(
    min_new_tokens=3,
    shaping=Shaping(
        repetition_penalty=1.2,
        no_repeat_ngram_size=2,
        dry_multiplier=0.8,
        dry_base=2.0,
        dry_allowed_length=3,
        dry_penalty_last_n=64,
        dry_sequence_breakers=["\n", ":"],
        bad_words=[[383, 7], [8], [5]],
        length_decay=1.05,
        length_decay_start=30,
        suppress_tokens=[9, 12],
        begin_suppress_tokens=[3],
    ),
)


@pytest.mark.parametrize(
    ("options", "config"),
    [
        ("", Greedy()),
        (PENALTIES, PENALISED),
        (f"{PENALTIES} --method greedy", PENALISED),
        (
            "--temperature 0.7 --top-k 9 --seed 5 --no-cache --stop xyz --draw gumbel",
            Sampling(
                seed=5,
                draw="gumbel",
                use_cache=False,
                stop_strings=("xyz",),
                shaping=Shaping(temperature=0.7, top_k=9),
            ),
        ),
        (
            "--do-sample --temperature 0.5 --seed 5 --early-stopping true",
            BeamSearch(
                do_sample=True, seed=5, early_stopping=True, shaping=Shaping(temperature=0.5)
            ),
        ),
    ],
)
def test_the_options_make_the_config(options: str, config: MethodConfig) -> None:
    assert parsed(options) == config


def test_a_beam_search_prints_its_best_hypotheses_and_writes_them(folder, tmp_path, capsys) -> None:
    out = tmp_path / "run.json"
    arguments = ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "5"]
    assert main([*arguments, "--method", "beam", "--json", str(out)]) == 0
    trace = read_trace(out)
    assert capsys.readouterr().out == trace.text + "\n"
    assert main([*arguments, "--num-beams", "3", "--num-return-sequences", "2"]) == 0
    assert len(re.findall(r"^-\d+\.\d{4}  ", capsys.readouterr().out, re.MULTILINE)) == 2
    assert main(["check", str(out), "--model", folder]) == 0
    assert "transformers' generate finds the same hypotheses" in capsys.readouterr().out


def test_a_constraint_is_a_kind_and_a_text(folder, tmp_path, capsys) -> None:
    out = tmp_path / "run.json"
    call = ["decode", "--model", folder, "--prompt", "the fox", "--json", str(out)]
    assert main([*call, "--constraint", "choice=fox\nhat, hat", "--max-new-tokens", "20"]) == 0
    trace = read_trace(out)
    assert trace.text in ("fox", "hat, hat")
    assert trace.config.shaping.constraint == Constraint("choice", "fox\nhat, hat")
    capsys.readouterr()
    for wrong in ("regex=a(", "[0-9]", "xml=<a/>"):
        assert main([*call, "--constraint", wrong]) == 2
        message = capsys.readouterr().err
        assert "constraint" in message and message.count("\n") == 1


def test_a_logit_bias_is_pairs_of_id_and_value(folder, tmp_path, capsys) -> None:
    out = tmp_path / "run.json"
    start = ["decode", "--model", folder, "--prompt", "ha", "--max-new-tokens", "3"]
    options = ["--logit-bias", "65=100, 7=-2.5", "--logit-bias", "9=1"]
    assert main([*start, *options, "--json", str(out)]) == 0
    assert read_trace(out).token_ids == (65, 65, 65)
    assert read_trace(out).config.shaping.logit_bias == ((7, -2.5), (9, 1.0), (65, 100.0))
    assert main(["check", str(out), "--model", folder]) == 0
    capsys.readouterr()
    for wrong, words in (("5", "got '5'"), ("5=x", "got '5=x'"), ("5=101", "must lie in"),
                        ("5=1,5=2", "twice"), ("99999=1", "tokens go from #0")):  # fmt: skip
        assert main([*start, "--logit-bias", wrong]) == 2
        assert words in capsys.readouterr().err


def test_every_setting_has_an_option_with_help(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["decode", "--help"])
    printed = " ".join(capsys.readouterr().out.split())
    for name, spec in SETTINGS.items():
        # An acronym keeps its capitals.
        first = spec.help[0] if spec.help[1].isupper() else spec.help[0].lower()
        option, text = name.replace("_", "-"), f"{first}{spec.help[1:20]}"
        assert re.search(rf"--{option} [A-Z=,.]+ {re.escape(text)}", printed)
    shared = set(MethodConfig.__dataclass_fields__)
    for method in METHODS:
        settings = set(method.config.__dataclass_fields__) - shared
        assert all(f"--{name.replace('_', '-')} " in printed for name in settings)
    assert "dRY" not in printed and "DRY's penalty grows" in printed
    assert "(default: None)" not in printed and "(default: )" not in printed


@pytest.mark.parametrize(
    ("typed", "prompt"),
    [
        (b"the fox\n", "the fox"),
        (b"the fox", "the fox"),
        (b"a\n\n", "a\n"),
        (b"a\r\nb\r\n", "a\nb"),
        ("\ufeffthe fox\r\n".encode("utf-16-le"), "the fox"),
        ("\ufeffthe fox".encode(), "the fox"),
    ],
)
def test_a_prompt_from_stdin_loses_its_last_line_break(
    typed: bytes, prompt: str, folder, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), "utf-8"))
    out = tmp_path / "run.json"
    options = ["--max-new-tokens", "1", "--json", str(out)]
    assert main(["decode", "--model", folder, "--prompt", "-", *options]) == 0
    assert read_trace(out).prompt == prompt


@pytest.mark.parametrize("typed", [b"", b"\n", b"\xff\xfe", "the fox".encode("utf-16-le")])
@pytest.mark.usefixtures("no_model")
def test_no_text_on_stdin_exits_2(typed: bytes, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), "utf-8"))
    assert main(["decode", "--prompt", "-"]) == 2
    assert capsys.readouterr().err.startswith("python -m core: The prompt is ")


def test_check_loads_the_model_in_the_dtype_of_the_run(
    folder, tmp_path, monkeypatch, capsys
) -> None:
    out = tmp_path / "run.json"
    options = ["--max-new-tokens", "2", "--dtype", "bfloat16", "--json", str(out)]
    assert main(["decode", "--model", folder, "--prompt", "the fox", *options]) == 0
    assert read_trace(out).dtype == "bfloat16"
    load = Mock(side_effect=core.load_model)
    monkeypatch.setattr(core, "load_model", load, raising=False)
    assert main(["check", str(out), "--model", folder]) == 0
    float32 = ["--dtype", "float32", "--device", "cpu"]
    assert main(["check", str(out), "--model", folder, *float32]) == 1
    output = capsys.readouterr()
    assert "said to be 'bfloat16', here they are float32" in output.out
    assert "warning" not in output.err
    out.write_text(json.dumps(json.loads(out.read_text()) | {"model_id": "gpt2"}))
    main(["check", str(out), "--model", folder])
    assert "the file calls its model 'gpt2'" in capsys.readouterr().err
    loaded = [(call.kwargs["dtype"], call.kwargs["device"]) for call in load.call_args_list]
    assert loaded == [("bfloat16", None), ("float32", "cpu"), ("bfloat16", None)]


def test_a_strangers_dtype_reaches_the_terminal_cut(folder, run_file, tmp_path, capsys) -> None:
    out, dtype = tmp_path / "run.json", "\x1b[31m" + "x" * 1900
    out.write_text(json.dumps(json.loads(run_file.read_text()) | {"dtype": dtype}))
    assert main(["check", str(out), "--model", folder]) == 2
    message = capsys.readouterr().err
    assert "dtype must be one of float32, bfloat16, float16" in message
    assert len(message) < 200 and "\x1b" not in message


def test_a_reader_that_went_away_ends_the_command_without_a_traceback() -> None:
    """At the interpreter's end neither; what it is while a text streams, `test_command_streams`."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "core", "models"]
    done = subprocess.run(command, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_terminal_without_the_characters_gets_escapes(folder, tmp_path, monkeypatch) -> None:
    out, terminal = tmp_path / "run.json", io.TextIOWrapper(io.BytesIO(), "ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    prompt = ["--prompt", "déjà vu", "--max-new-tokens", "60", "--temperature", "5"]
    assert main(["decode", "--model", folder, *prompt, "--json", str(out)]) == 0
    text = read_trace(out).text
    assert not text.isascii()
    assert terminal.buffer.getvalue() == (text + "\n").encode("ascii", "backslashreplace")


@pytest.mark.parametrize("command", ["lens --attention 1", "path --modules"])
def test_a_model_on_a_server_is_not_looked_into(command: str, monkeypatch, capsys) -> None:
    monkeypatch.setattr(core, "load_model", lambda *_, **__: ScriptedModel({}))
    assert main([*command.split(), "--prompt", "the"]) == 2
    errors = capsys.readouterr().err
    assert "doesn't run through transformers' modules here" in errors and "Traceback" not in errors


def test_what_a_figure_or_a_check_would_ignore_or_not_write_is_refused(
    folder, run_file, tmp_path, capsys
) -> None:
    out = str(run_file)
    to = ["--figure", "candidates", "--out", str(tmp_path / "none" / "x.svg")]
    for arguments, words in (
        (["figure", out, "--step", "4"], "This trace has 3 steps, counted from 1; got 4."),
        (["figure", out, "--step", "0"], "counted from 1; got 0."),
        (["figure", out, *to], "can't be written: No such file or directory"),
        (
            ["check", out, "--model", folder, "--draft", folder],
            "ContrastiveDecoding and Speculative take a draft",
        ),
    ):
        capsys.readouterr()
        assert main(arguments) == 2
        message = capsys.readouterr().err
        assert words in message and message.count("\n") == 1
    assert main(["figure", out, "--step", "3"]) == 0


def test_a_speculative_run_from_start_to_check(folder, tmp_path, capsys) -> None:
    out = str(tmp_path / "run.json")
    options = "--draft-length 3 --temperature 0.5 --seed 4 --max-new-tokens 12".split()
    models = ["--model", folder, "--draft", folder]
    assert main(["decode", "--prompt", "the fox", "--json", out, *models, *options]) == 0
    printed = capsys.readouterr()
    trace = read_trace(out)
    assert printed.out == f"{trace.text}\n"
    # A draft that is the target loses no token, but for the last bits of two forwards.
    assert re.search(r"\[\d+ rounds?, \d+ of \d+ drafted tokens accepted\]", printed.err)
    assert (trace.config.method, trace.config.shaping.temperature) == ("speculative", 0.5)
    assert trace.draft_id == folder
    assert main(["check", out, *models]) == 0
    assert "the dice are those of the seed" in capsys.readouterr().out


def test_what_a_broken_draft_shows_is_printed_after_a_run_and_after_its_checks(
    tmp_path, monkeypatch, capsys
) -> None:
    loaded = decode.load

    def load(where: str, *rest: object) -> object:
        model = loaded(where, *rest)
        return BrokenDraft(model, cache=LateContext) if where == "embedded:draft" else model

    monkeypatch.setattr(decode, "load", load)
    out = str(tmp_path / "run.json")
    options = ["--prompt", "At night, the stars", "--draft-length", "2", "--json", out]
    assert main(["decode", *options, "--max-new-tokens", "16"]) == 0
    printed = capsys.readouterr().err
    assert "\nLate draft: in " in printed
    assert main(["check", out]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Late draft: in ")


def test_one_round_and_one_token_are_singular(folder, capsys) -> None:
    models = ["--model", folder, "--draft", folder]
    assert main(["decode", "--prompt", "the", "--max-new-tokens", "1", *models]) == 0
    printed = capsys.readouterr().err
    assert "[1 round, 0 of 0 drafted tokens accepted]\n[1 token after a prompt of " in printed
