"""`python -m core branch`: another token in a stored run, its trace, and the tree of runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core import read_trace
from core.cli.main import main
from core.decoding.record.tree import RunTree
from core.figures.base.labels import visible_token
from core.traces.tree_file import read_tree, tree_json


@pytest.fixture(scope="module")
def run_file(folder, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "run.json"
    arguments = ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "8"]
    assert main([*arguments, "--temperature", "0.9", "--seed", "3", "--json", str(out)]) == 0
    return out


def test_a_candidate_by_its_rank_is_forced_and_its_numbers_are_told(
    folder, run_file, tmp_path, capsys
) -> None:
    parent, out = read_trace(run_file), tmp_path / "branch.json"
    rank = 2 if parent.token_steps[3].chosen.rank != 2 else 1
    arguments = ["branch", str(run_file), "--model", folder, "--at", "4", "--rank", str(rank)]
    assert main([*arguments, "--json", str(out)]) == 0
    trace, printed = read_trace(out), capsys.readouterr()
    step = trace.token_steps[3]
    assert trace.token_ids[:3] == parent.token_ids[:3]
    assert (step.chosen.rank, step.origin) == (rank, "forced")
    assert step.instead_of == parent.token_ids[3]
    assert printed.out == trace.text + "\n"
    assert f"rank {rank};" in printed.err and "the pick was" in printed.err
    assert trace.checks and all(check.passed for check in trace.checks)


def test_a_pick_outside_the_candidates_is_told_by_the_model_s_text(
    folder, tmp_path, capsys
) -> None:
    narrow = tmp_path / "narrow.json"
    asked = ["decode", "--model", folder, "--prompt", "the fox", "--max-new-tokens", "8"]
    asked += ["--temperature", "3", "--seed", "3", "--top-candidates", "1", "--json", str(narrow)]
    assert main(asked) == 0
    trace = read_trace(narrow)
    at = next(step.index for step in trace.token_steps if step.chosen.rank > 1)
    first = str(trace.token_steps[at].candidates[0].token_id)
    asked = ["branch", str(narrow), "--model", folder, "--at", str(at + 1), "--token-id", first]
    capsys.readouterr()
    assert main(asked) == 0
    said = capsys.readouterr().err
    assert f"the pick was {visible_token(trace.token_steps[at].chosen.text, 24)}]" in said


def test_a_text_stands_at_the_step_and_runs_make_a_tree(folder, run_file, tmp_path, capsys) -> None:
    tree = tmp_path / "tree.json"
    common = ["--model", folder, "--tree", str(tree)]
    assert main(["branch", str(run_file), "--at", "2", "--text", " dog", *common]) == 0
    assert " dog" in capsys.readouterr().out
    assert main(["branch", str(tree), "--at", "6", "--seed", "9", "--run", "1", *common]) == 0
    ids = [str(read_trace(run_file).token_ids[4]), "7"]
    assert main(["branch", str(tree), "--at", "5", "--token-id", *ids, *common]) == 0
    branches = read_tree(tree).branches
    assert [(b.parent, b.at_step) for b in branches] == [(None, 0), (0, 1), (0, 5), (0, 4)]
    assert branches[2].trace.config.seed == 9
    assert branches[3].trace.token_ids[4:6] == tuple(map(int, ids))
    assert branches[0].trace == read_trace(run_file)


def test_the_likeliest_tokens_go_on_in_one_batch(folder, run_file, tmp_path, capsys) -> None:
    tree, parent = tmp_path / "tree.json", read_trace(run_file)
    arguments = ["branch", str(run_file), "--model", folder, "--at", "4", "--top", "5"]
    assert main([*arguments, "--tree", str(tree)]) == 0
    branches, printed = read_tree(tree).branches, capsys.readouterr()
    likeliest = {c.token_id for c in parent.token_steps[3].candidates[:5]} - {parent.token_ids[3]}
    assert {branch.trace.token_ids[3] for branch in branches[1:]} == likeliest
    assert all(branch.trace.token_ids[:3] == parent.token_ids[:3] for branch in branches)
    assert all(check.passed for branch in branches[1:] for check in branch.trace.checks)
    assert printed.out == "".join(branch.trace.text + "\n" for branch in branches[1:])
    assert printed.err.count("the pick was") == len(likeliest)


def test_each_candidate_above_a_probability_goes_on(folder, run_file, tmp_path, capsys) -> None:
    tree, parent = tmp_path / "tree.json", read_trace(run_file)
    least = parent.token_steps[3].candidates[3].raw_prob
    asked = ["branch", str(run_file), "--model", folder, "--at", "4", "--above", f"{least:.9f}"]
    assert main([*asked, "--depth", "2", "--tree", str(tree)]) == 0
    branches, printed = read_tree(tree).branches, capsys.readouterr()
    for at in (3, 4):
        made = [branch for branch in branches[1:] if branch.at_step == at]
        assert made and all(b.trace.token_steps[at].chosen.raw_prob >= least - 1e-6 for b in made)
    assert "[at most 31 runs" in printed.err
    assert printed.out == "".join(branch.trace.text + "\n" for branch in branches[1:])


def _share(line: str) -> float:
    found = re.search(r": (\d+) of (\d+) tokens? differ", line)
    assert found
    return int(found[1]) / int(found[2])


def test_the_fork_points_are_listed_the_largest_change_first(
    folder, run_file, tmp_path, capsys
) -> None:
    tree, parent = tmp_path / "tree.json", read_trace(run_file)
    asked = ["branch", str(run_file), "--model", folder, "--forks", "3", "--tree", str(tree)]
    assert main(asked) == 0
    branches, printed = read_tree(tree).branches[1:], capsys.readouterr()
    lines = printed.out.splitlines()
    assert "at 3 of 8 steps, those with the most entropy" in printed.err
    assert len(lines) == len(branches) == 3
    steps = sorted(parent.token_steps, key=lambda step: -step.entropy)[:3]
    assert {branch.at_step for branch in branches} == {step.index for step in steps}
    shares = [_share(line) for line in lines]
    assert shares == sorted(shares, reverse=True)
    assert all("nats a token" in line and "together again" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--at", "2"], "Nothing differs"),
        (["--at", "9", "--text", "a"], "there is no step 9"),
        (["--at", "0", "--rank", "1"], "--rank, --top and --above read a token's step"),
        (["--at", "2", "--rank", "5000"], "--rank 5000 is none of the 20 candidates"),
        (["--at", "2", "--text", ""], "--text is empty"),
        (["--at", "2", "--token-id", "999999"], "#999999"),
        (["--at", "2", "--rank", "1", "--run", "2"], "--run names run 2"),
        (["--text", "a"], "Name a step with --at"),
        (["--at", "2", "--forks"], "Name a step with --at"),
        (["--at", "2", "--text", "a", "--depth", "2"], "--depth does nothing without --above"),
        (["--at", "2", "--above", "0.1", "--depth", "0", "--tree", "-"], "1 to 8 steps in a row"),
        (["--at", "2", "--above", "1.5", "--tree", "-"], "lies between 0 and 1, got 1.5"),
        (["--at", "2", "--above", "0.5"], "--above writes its runs to a tree"),
        (["--forks", "0"], "A run has 1 to 32 fork points, got 0"),
        (["--at", "2", "--top", "9", "--tree", "-"], "--top takes 2 to 8 tokens, got 9."),
        (["--at", "2", "--top", "3"], "--top writes its runs to a tree"),
        (["--at", "2", "--top", "3", "--tree", "-", "--seed", "1"], "leave out --json and --seed"),
    ],
)
def test_what_cannot_be_done_is_said(folder, run_file, capsys, arguments, words) -> None:
    assert main(["branch", str(run_file), "--model", folder, *arguments]) == 2
    assert words in capsys.readouterr().err


def _full(run_file: Path, runs: int) -> RunTree:
    trace = read_trace(run_file)
    tree = RunTree.of(trace)
    for _ in range(runs - 1):
        tree = tree.grown(0, 2, trace)
    return tree


@pytest.mark.parametrize(
    ("arguments", "runs"),
    [
        (["--forks", "3"], 30),
        (["--at", "4", "--top", "5"], 30),
        (["--at", "4", "--above", "0.01"], 32),
        (["--at", "4", "--text", " dog"], 32),
    ],
)
def test_a_tree_without_room_is_refused_before_the_runs_are_made(
    folder, run_file, tmp_path, capsys, monkeypatch, arguments, runs
) -> None:
    file = tmp_path / "tree.json"
    file.write_text(tree_json(_full(run_file, runs)), encoding="utf-8")
    monkeypatch.setattr("core.cli.commands.branch.load_as", None)
    asked = ["branch", str(file), "--model", folder, *arguments, "--tree", str(tmp_path / "new")]
    assert main(asked) == 2
    assert f"has room for {32 - runs} run" in capsys.readouterr().err


def test_a_search_without_steps_of_single_tokens_has_no_fork_points(capsys) -> None:
    stored = Path(__file__).parents[1] / "assets/traces/beam.json"
    assert main(["branch", str(stored), "--forks"]) == 2
    assert "This run of beam search has no fork points" in capsys.readouterr().err


def test_a_file_does_not_choose_a_model(run_file, capsys) -> None:
    assert main(["branch", str(run_file), "--at", "2", "--rank", "1"]) == 2
    assert "name it with --model" in capsys.readouterr().err


def test_the_built_in_model_of_a_file_is_loaded_by_itself(tmp_path, capsys) -> None:
    stored = Path(__file__).parents[1] / "assets/traces/decode.json"
    arguments = ["branch", str(stored), "--at", "12", "--text", " boy"]
    assert main([*arguments, "--tree", str(tmp_path / "tree.json")]) == 0
    made = read_tree(tmp_path / "tree.json").branches[1]
    assert " boy" in made.trace.text and made.trace.model_id == "embedded:target"
    assert "the pick was" in capsys.readouterr().err
