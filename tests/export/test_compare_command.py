"""`python -m core compare`: where two stored runs part, and the file of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core import read_trace
from core.cli.commands import check, compare
from core.cli.main import main
from core.decoding.errors import TraceError
from core.export.comparison import comparison_of


@pytest.fixture(scope="module")
def runs(folder, tmp_path_factory) -> tuple[str, str]:
    """The files of two runs on the same dice, which differ in temperature."""
    out = tmp_path_factory.mktemp("runs")
    common = ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "8"]
    for name, heat in (("left", "0.9"), ("right", "5")):
        file = str(out / f"{name}.json")
        assert main([*common, "--temperature", heat, "--seed", "3", "--json", file]) == 0
    return str(out / "left.json"), str(out / "right.json")


def test_the_file_of_two_runs_holds_both_and_their_measures(runs, tmp_path, capsys) -> None:
    out = tmp_path / "both.json"
    assert main(["compare", *runs, "--json", str(out)]) == 1
    assert "temperature: 0.9 | 5" in capsys.readouterr().out
    data = json.loads(out.read_text())
    both = comparison_of(data)
    assert (both.left, both.right) == tuple(map(read_trace, runs))
    measures = data["measures"]
    assert (measures["exact"], measures["text"]) == (False, "own")
    assert len(measures["steps"]) == 8 and measures["steps"][0]["divergence"]["left"] == 0
    assert data["cause"] == "settings" and data["parted_at"] is not None
    assert data["differences"] == [{"name": "temperature", "left": "0.9", "right": "5"}]


def test_the_models_read_one_text_over_the_whole_vocabulary(folder, runs, tmp_path, capsys) -> None:
    out = tmp_path / "both.json"
    asked = ["compare", *runs, "--model", folder, "--read", "left", "--json", str(out)]
    assert main(asked) == 1
    assert "temperature alone decides it" in capsys.readouterr().out
    measures = json.loads(out.read_text())["measures"]
    assert (measures["exact"], measures["text"]) == (True, "left")
    assert {step["divergence"]["variation"] for step in measures["steps"]} == {0.0}


@pytest.fixture(scope="module")
def of_other(tmp_path_factory) -> tuple[str, str]:
    """The files of one run by both embedded models."""
    files = []
    for name in ("target", "draft"):
        files.append(str(tmp_path_factory.mktemp("other") / f"{name}.json"))
        asked = ["--model", f"embedded:{name}", "--prompt", "the fox", "--max-new-tokens", "3"]
        assert main(["decode", *asked, "--json", files[-1]]) == 0
    return files[0], files[1]


def test_each_run_is_read_by_its_own_model(of_other, tmp_path) -> None:
    """Its first surprisals are those that its file records."""
    out = tmp_path / "both.json"
    models = ["--model", "embedded:target", "--right-model", "embedded:draft"]
    assert main(["compare", *of_other, *models, "--read", "right", "--json", str(out)]) in (0, 1)
    steps = json.loads(out.read_text())["measures"]["steps"]
    left, right = map(read_trace, of_other)
    assert [step["surprisal"][1] for step in steps] == pytest.approx(
        [step.surprisal for step in right.token_steps], abs=1e-4
    )
    assert steps[0]["entropy"][0] == pytest.approx(left.token_steps[0].entropy, abs=1e-4)
    assert all(step["divergence"]["variation"] > 0 for step in steps)


def test_the_left_model_does_not_read_another_one_s_run(of_other, tmp_path, capsys) -> None:
    out = tmp_path / "both.json"
    asked = ["compare", *of_other, "--model", "embedded:target", "--read", "left"]
    assert main([*asked, "--json", str(out)]) == 2
    assert "by --right-model" in capsys.readouterr().err and not out.exists()


@pytest.mark.parametrize(
    ("models", "words"),
    [
        (["draft"], "name the left run's model by --model"),
        (["target", "--right-model", "embedded:target"], "the right run's model by --right-model"),
    ],
)
def test_a_model_that_made_another_run_reads_none(
    models, words, of_other, tmp_path, capsys
) -> None:
    out = tmp_path / "both.json"
    name, *more = models
    asked = ["compare", *of_other, "--model", f"embedded:{name}", *more, "--read", "left"]
    assert main([*asked, "--json", str(out)]) == 2
    assert words in capsys.readouterr().err and not out.exists()


def test_the_left_model_is_loaded_once(folder, runs, tmp_path, monkeypatch) -> None:
    loads = []
    monkeypatch.setattr(
        compare, "load_as", lambda *args: loads.append(args) or check.load_as(*args)
    )
    asked = ["compare", *runs, "--model", folder, "--read", "left"]
    assert main([*asked, "--json", str(tmp_path / "both.json")]) == 1
    assert len(loads) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--read", "left", "--json", "both.json"], "--read takes --model"),
        (["--read", "left", "--model", "x"], "--read takes --json"),
        (["--right-model", "x", "--model", "x"], "--right-model takes --read"),
        (["--dtype", "bfloat16"], "--dtype takes --model"),
        (["--json", "no/such/folder/both.json"], "no/such/folder"),
        (["--json", ""], "--json needs the name"),
    ],
)
def test_an_option_without_effect_is_refused(options, words, runs, capsys) -> None:
    assert main(["compare", *runs, *options]) != 0
    said = capsys.readouterr()
    assert words in said.err and not said.out


def test_the_file_goes_to_standard_output_alone(runs, capsysbinary) -> None:
    assert main(["compare", *runs, "--json", "-"]) == 1
    said = capsysbinary.readouterr()
    assert json.loads(said.out)["cause"] == "settings" and b"temperature" in said.err


def test_a_tiny_probability_is_no_zero(runs, tmp_path, capsys) -> None:
    files = []
    for name, file in zip(("left", "right"), runs, strict=True):
        text = Path(file).read_text()
        data = json.loads(text)
        for step in data["steps"]:
            if "candidates" in step and "raw_prob" in step["candidates"]:
                step["candidates"]["raw_prob"] = [2e-7] * len(step["candidates"]["raw_prob"])
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(data))
    assert main(["compare", *map(str, files)]) == 1
    printed = capsys.readouterr().out
    assert "0.0000%" not in printed and "< 0.0001 %" in printed


def test_a_damaged_comparison_is_refused_in_one_sentence() -> None:
    header = {"schema": "decoding-explorer/comparison", "version": 1}
    for damaged in (header, {**header, "left": [], "right": {}}, {**header, "version": 9}):
        with pytest.raises(TraceError):
            comparison_of(damaged)
