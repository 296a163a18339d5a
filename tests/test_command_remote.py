"""`python -m core` with models on servers: files that it wrote are read by every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.cli.main import main
from core.traces.file import read_trace
from tests.depth import slow
from tests.models.remote.servers import Script, serving

RUN = ["decode", "--prompt", "The fox", "--max-new-tokens", "3"]
METHODS = {
    "greedy": [],
    "sampling": ["--method", "sampling", "--seed", "1"],
    "engine": ["--method", "engine"],
    "beam": ["--method", "beam", "--num-beams", "2"],
    "speculative": ["--drafter", "prompt_lookup"],
    "reasoning": ["--method", "reasoning", "--max-thinking-tokens", "2"],
}


SERVERS = {
    "vllm:{url}?tokenizer=embedded:target#target": tuple(METHODS),
    "openai:{url}?tokenizer=embedded:target#target": ("greedy", "engine"),
    "llamacpp:{url}?tokenizer=embedded:target": ("greedy", "engine"),
}
RUNS = [(where, method) for where, methods in SERVERS.items() for method in methods]


@pytest.mark.parametrize(
    ("where", "method"),
    [*RUNS[:2], *(slow(*run) for run in RUNS[2:-2]), *RUNS[-2:]],
)
def test_every_command_reads_the_trace_of_a_server(
    where: str, method: str, tmp_path: Path, capsys
) -> None:
    out = tmp_path / "run.json"
    with serving(Script()) as (url, _):
        model = where.format(url=url)
        assert main([*RUN, *METHODS[method], "--model", model, "--json", str(out)]) == 0
        assert main(["check", str(out)]) == 0
        assert main(["check", str(out), "--model", model]) == 0
    # A local model is another one: its check fails, and is no error.
    assert main(["check", str(out), "--model", "embedded:target"]) == 1
    capsys.readouterr()
    assert main(["figure", str(out)]) == 0
    name = capsys.readouterr().out.split()[0]
    figure = tmp_path / "figure.csv"
    assert main(["figure", str(out), "--figure", name, "--out", str(figure)]) == 0
    assert read_trace(out).model_id == model


@pytest.mark.parametrize(
    ("model", "advice"),
    [("vllm:{url}#target", "start vLLM with"), ("openai:{url}#target", "take greedy or sampling.")],
)
def test_vllm_is_advised_only_to_its_users(model: str, advice: str, capsys) -> None:
    with serving(Script(most=5)) as (url, _):
        where = f"{model.format(url=url)}".replace("#", "?tokenizer=embedded:target#")
        assert main([*RUN, "--method", "beam", "--model", where]) == 2
    assert advice in capsys.readouterr().err


def test_the_url_of_a_server_is_repeated_whole_with_the_names_that_fit(capsys) -> None:
    assert main([*RUN, "--model", "http://localhost:1"]) == 2
    errors = capsys.readouterr().err
    assert "http://localhost:1 is a URL" in errors and "vllm:http://HOST:8000#MODEL" in errors
