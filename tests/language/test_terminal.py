"""The command line in Japanese and Korean: helps, errors, results, encodings."""

from __future__ import annotations

import argparse
import ast
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli.main import build_parser, main
from core.cli.parser import OF_ARGPARSE, Formatter
from core.cli.table import print_table
from core.language import use
from core.language.columns import text_columns
from core.language.make_messages import ROOT, is_translated, stored

STORED = "tests/traces/data"
GREEDY, SAMPLED = f"{STORED}/greedy.json", f"{STORED}/sampling.json"
LOCALES = {"ja": "ja_JP.UTF-8", "ko": "ko_KR.UTF-8"}
COMMANDS = next(
    action.choices
    for action in build_parser()._actions
    if isinstance(action, argparse._SubParsersAction)
)
# Options, their values, places of values, files, addresses, and other programs' names for things.
_NAMES = re.compile(
    r"\{[\w,.-]+\}|--?[a-z][\w-]*|[a-z]+:[\w/:.#]+|\b[A-Z][A-Z=.,_]+\b|\S+\.\w+|"
    r"python -m core( \w+)?|suffix decoding|lookahead decoding|universal assisted generation|"
    r"Decoding Explorer|core (many|path)|pull request"
)
_SENTENCE = re.compile(r"[A-Za-z']{2,} [a-z']{2,}")
# Texts of argparse for programmers, or of features that no command uses.
_UNUSED = re.compile(
    r"conflict|invalid option string|dest=|cannot|callable|__call__|positionals$|mutually|"
    r"unknown parser|can't open|with mode|unexpected option|prog\)s: error|deprecated|"
    r"must be|already|not a valid|expected %s argument"
)


@pytest.fixture(params=list(LOCALES))
def language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", LOCALES[request.param])
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT)
    return str(request.param)


def english_in(printed: str) -> list[str]:
    """Return the runs of English words in a command's output, its names left out."""
    return _SENTENCE.findall(_NAMES.sub("*", " ".join(printed.split())))


def printed_help(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_an_english_sentence_is_found() -> None:
    assert english_in("  --at STEP  step of the new token") == ["step of", "the new"]
    assert english_in("  --at STEP  ステップの embedded:NAME (core many)") == []


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_a_help_holds_no_english_sentence(command: str, language: str, capsys) -> None:
    printed = printed_help(command, capsys)
    assert printed.startswith({"ja": "使い方: ", "ko": "사용법: "}[language])
    # The usage holds names alone.
    _, _, rest = printed.partition("\n\n")
    assert english_in(rest) == []
    lines = [line for line in rest.splitlines() if not _NAMES.search(line)]
    assert max(map(text_columns, lines)) <= 80


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_an_english_help_is_argparse_s_own(command: str, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    parser = COMMANDS[command] if command else build_parser()
    own = parser.format_help()
    assert parser.formatter_class is Formatter
    monkeypatch.setattr(parser, "formatter_class", argparse.HelpFormatter)
    assert own == parser.format_help()


@pytest.mark.usefixtures("language")
def test_the_next_line_of_a_usage_stands_below_its_first(capsys) -> None:
    first, second, *_ = printed_help("branch", capsys).splitlines()
    assert text_columns(first.partition("[")[0]) == text_columns(second.partition("[")[0])


def argparse_texts() -> set[str]:
    tree = ast.parse(Path(argparse.__file__).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    named = [call for call in calls if getattr(call.func, "id", "") in ("_", "ngettext")]
    given = [call.args[0] for call in named]
    return {str(text.value) for text in given if isinstance(text, ast.Constant)}


def test_argparse_s_texts_are_in_the_catalogues() -> None:
    """Of this version of Python; where one is missing, `OF_ARGPARSE`."""
    texts = argparse_texts()
    assert len(texts) > 20
    assert {text for text in texts if not _UNUSED.search(text)} <= set(OF_ARGPARSE)
    for name in LOCALES:
        catalogue = stored(name)
        for text in OF_ARGPARSE:
            assert is_translated(catalogue.get(text))
            fields = re.compile(r"%(?:\(\w+\))?[rs]")
            assert fields.findall(str(catalogue.get(text).string)) == fields.findall(text)


BAD = (
    "",
    "nothing",
    "decode",
    "decode --prompt",
    "decode --prompt x --top-k a",
    "decode --prompt x --method x",
    "decode --pro x --s",
    "decode --prompt x y",
    "decode --prompt x --temperature -1",
    "decode --prompt x --system y",
    "decode --prompt x --num-beams 3 --draw gumbel",
    "decode --prompt x --method beam --seed 5",
    "decode --prompt x --xtc-threshold 0.2",
    "decode --prompt x --drafter prompt_lookup --draft x",
    "decode --prompt x --level low --max-thinking-tokens 3",
    "decode --prompt x --json /no/such/folder/x",
    "decode --prompt x --model /no/such/folder",
    "check none.json",
    f"check {GREEDY} --device cpu",
    f"compare {GREEDY} {GREEDY} --dtype x",
    f"figure {GREEDY} --figure x",
    f"figure {GREEDY} --step 900",
    f"branch {GREEDY}",
    f"branch {GREEDY} --at 3 --rank 2 --top 3",
    f"branch {GREEDY} --at 300 --rank 2",
    f"branch {GREEDY} --at 3 --top 9",
    f"branch {GREEDY} --at 3 --run 4",
    "sweep --budgets x --out y",
    "sweep --seed 3 --out y",
    "worksheet nothing x.pdf",
    "many --prompt x",
    "path --prompt x --depth 0",
    "read none.txt",
    "serve --port -1",
    "evaluate none.yaml --out /tmp/x.jsonl",
)


@pytest.mark.usefixtures("language")
@pytest.mark.parametrize("arguments", BAD)
def test_the_error_of_a_bad_input_is_in_the_language(arguments: str, capsys) -> None:
    try:
        code = main(arguments.split())
    except SystemExit as ended:
        code = ended.code
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert english_in(printed.err.partition("\n\n")[2] or printed.err) == []
    assert not printed.err.isascii()


@pytest.mark.usefixtures("language")
def test_results_are_in_the_language_and_files_are_not(tmp_path, monkeypatch, capsys) -> None:
    arguments = ["compare", GREEDY, SAMPLED, "--json"]
    assert main([*arguments, str(tmp_path / "here.json")]) == 1
    printed = capsys.readouterr()
    assert english_in(re.sub(r"[“'].*?[”']|\(.*?\)|\|.*", "", printed.out + printed.err)) == []
    monkeypatch.setenv("LANG", "C")
    assert main([*arguments, str(tmp_path / "english.json")]) == 1
    files = [(tmp_path / f"{name}.json").read_bytes() for name in ("here", "english")]
    assert files[0] == files[1]


def test_checks_are_in_the_language(language: str, capsys) -> None:
    assert main(["check", GREEDY]) == 0
    printed = capsys.readouterr().out
    words = {"ja": "合格  ", "ko": "통과  "}[language]
    assert printed.count(words) >= 7 and english_in(printed) == []


def test_a_figure_is_in_the_language_of_its_option_alone(language: str, tmp_path, capsys) -> None:
    files = {}
    for name, options in (("plain", []), ("en", ["--lang", "en"]), ("own", ["--lang", language])):
        files[name] = tmp_path / f"{name}.html"
        call = ["figure", GREEDY, "--figure", "heatmap", "--out", str(files[name]), *options]
        assert main(call) == 0
    capsys.readouterr()
    plain, english, own = (files[name].read_text("utf-8") for name in ("plain", "en", "own"))
    assert plain == english
    assert f'lang="{language}"' in own and f'lang="{language}"' not in plain


@pytest.mark.usefixtures("language")
def test_the_columns_of_a_reading_are_aligned(folder, tmp_path, capsys) -> None:
    file = tmp_path / "text.txt"
    file.write_text("the fox 日本 한국 déjà", encoding="utf-8")
    assert main(["read", str(file), "--model", folder, "--against", folder]) == 0
    heads, *lines = capsys.readouterr().out.splitlines()[:-2]
    ends = [text_columns(heads[: found.end()]) for found in re.finditer(r"\S+", heads)]
    assert len(lines) > 5 and len(ends) == (8 if "첫 후보" in heads else 7)
    # Those of numbers; no prediction stands at the first token.
    for line in lines[1:]:
        for end in (ends[0], *ends[2:6]):
            cell = next(at for at in range(len(line)) if text_columns(line[: at + 1]) == end)
            assert line[cell] != " " and line[cell + 1 : cell + 2] in ("", " ")


def test_a_table_is_aligned_by_columns(capsys) -> None:
    with use("ja"):
        print_table(["方法", "正解率"], [["greedy", "5.0%"], ["貪欲", "10.0%"]], to_left=[0])
    assert capsys.readouterr().out.splitlines() == [
        "方法    正解率",
        "greedy    5.0%",
        "貪欲     10.0%",
    ]


@pytest.mark.parametrize(
    ("locale", "encoding", "word"),
    [
        ("ja_JP.UTF-8", "cp932", "使い方"),
        ("ja_JP.EUC-JP", "euc-jp", "使い方"),
        ("ko_KR.CP949", "cp949", "사용법"),
        ("ja_JP.UTF-8", "ascii", "usage"),
        ("ja_JP.UTF-8", "latin-1", "usage"),
        ("ko_KR.UTF-8", "cp932", "usage"),
    ],
)
def test_a_terminal_s_encoding_is_never_an_error(
    locale: str, encoding: str, word: str, monkeypatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", locale)
    for command in ("", *COMMANDS):
        terminal = io.TextIOWrapper(io.BytesIO(), encoding)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", terminal)
            with pytest.raises(SystemExit):
                main([*command.split(), "--help"])
        printed = terminal.buffer.getvalue().decode(encoding)
        assert printed.startswith(word)
        assert "\\u" not in printed


def test_a_process_in_an_old_encoding_prints_its_own_language() -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LC_")}
    kept.pop("LANGUAGE", None)
    environ = kept | {"LANG": "ja_JP.EUC-JP", "PYTHONIOENCODING": "euc-jp"}
    command = [sys.executable, "-m", "core", "decode", "--prompt", "x", "--top-k", "-1"]
    done = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.decode("euc-jp").startswith("python -m core: --top-k は [0, ")


def test_without_a_language_nothing_is_translated(capsys, monkeypatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANGUAGE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    texts = []
    for locale in (None, "C", "C.UTF-8", "POSIX", "fr_FR.UTF-8"):
        if locale:
            monkeypatch.setenv("LANG", locale)
        main(["check", GREEDY])
        main(["check", "none.json"])
        texts.append(capsys.readouterr())
    assert len(set(texts)) == 1
    assert "checks passed" in texts[0].out and "can't be opened: No such file" in texts[0].err
