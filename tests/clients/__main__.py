"""Run other people's clients against the endpoint, each in an environment of its own (.clients).

`python -m tests.clients [NAME ...]` installs what is missing and prints a row for each client.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.app_server import free_port

MODEL = "embedded:target"
HOME = Path(".clients")
# Relative: inspect takes no other path.
PROGRAMS = Path(os.path.relpath(Path(__file__).parent / "programs"))
SECONDS = 600


class Client(NamedTuple):
    """A client.

    Args:
        packages: what pip or npm installs; the first one's version is shown.
        command: run in its environment; `{base}` is the address up to /v1, `{root}` without it.
        npm: whether the packages are npm's.
    """

    packages: tuple[str, ...]
    command: tuple[str, ...]
    npm: bool = False


def _python(name: str, *packages: str) -> Client:
    return Client(packages, ("python", str(PROGRAMS / f"with_{name}.py"), "{base}", MODEL))


CLIENTS = {
    "openai": _python("openai", "openai"),
    "litellm": _python("litellm", "litellm"),
    "langchain": _python("langchain", "langchain-openai"),
    "instructor": _python("instructor", "instructor"),
    "llama-index": _python("llama_index", "llama-index-llms-openai-like"),
    "pydantic-ai": _python("pydantic_ai", "pydantic-ai-slim[openai]"),
    "lm-eval": _python("lm_eval", "lm-eval[api]"),
    "llm": Client(("llm",), ("llm", "-m", MODEL, "--no-log", "-o", "temperature", "0", "Hi")),
    "inspect": Client(
        ("inspect-ai", "openai"),
        (
            "inspect",
            "eval",
            str(PROGRAMS / "inspect_task.py"),
            "--model",
            f"openai-api/own/{MODEL}",
        ),
    ),
    "guidellm": Client(
        ("guidellm",),
        (
            *("guidellm", "run", "--backend", f"kind=openai_http,target={{root}},model={MODEL}"),
            *("--profile", "kind=synchronous", "--constraint", "kind=max_requests,count=3"),
            *("--tokenizer", "kind=hf_auto,model=assets/models/target"),
            *("--data", "kind=synthetic_text,prompt_tokens=16,output_tokens=8"),
            *("--output", "kind=json,path=.clients/guidellm/report.json"),
        ),
    ),
    "promptfoo": Client(
        ("promptfoo",),
        ("promptfoo", "eval", "--no-cache", "-c", str(PROGRAMS / "promptfoo.yaml")),
        npm=True,
    ),
    "openai-node": Client(("openai",), ("node", "with_openai.mjs", "{base}", MODEL), npm=True),
}


def main(names: Sequence[str]) -> int:
    """Run the clients that are named, or all; 1 if one fails."""
    failed = False
    with _endpoint() as base:
        for name in names or CLIENTS:
            problem, version = _run(name, CLIENTS[name], base)
            failed = failed or bool(problem)
            print(f"{name:14}{version:12}{problem or 'works'}", flush=True)
    return int(failed)


@contextmanager
def _endpoint() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "core", "serve", "--model", MODEL, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and "endpoint" in process.stdout.readline()
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(30)


def _run(name: str, client: Client, base: str) -> tuple[str, str]:
    """Return what failed (empty for a success), and the client's version."""
    home = (HOME / name).resolve()
    programs = home / ("node_modules/.bin" if client.npm else "bin")
    install = _npm if client.npm else _pip
    if problem := install(home, client.packages):
        return f"not installed: {problem}", ""
    environment = os.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "OPENAI_BASE_URL": base,
        "OPENAI_API_KEY": "none",
        "OWN_BASE_URL": base,
        "OWN_API_KEY": "none",
        "LLM_USER_PATH": str(home),
        "INSPECT_LOG_DIR": str(home / "logs"),
        "HF_HUB_OFFLINE": "1",
        "PROMPTFOO_DISABLE_TELEMETRY": "1",
        "PROMPTFOO_CONFIG_DIR": str(home),
    }
    if name == "llm":
        row = f"- model_id: {MODEL}\n  model_name: {MODEL}\n  api_base: {base}\n"
        (home / "extra-openai-models.yaml").write_text(row)
    here = Path.cwd()
    if name == "openai-node":
        shutil.copy(PROGRAMS / "with_openai.mjs", home)
        here = home
    command = [part.format(base=base, root=base.removesuffix("/v1")) for part in client.command]
    return _said(command, environment, here), _version(home, client)


def _said(command: Sequence[str], environment: dict[str, str], here: Path) -> str:
    try:
        done = subprocess.run(
            command, env=environment, cwd=here, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"took more than {SECONDS} s"
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return "" if done.returncode == 0 else (lines or ["no word"])[-1][:300]


def _pip(home: Path, packages: Sequence[str]) -> str:
    if not (home / "bin/python").exists():
        venv.create(home, with_pip=True)
    if (home / ".installed").exists():
        return ""
    command = [str(home / "bin/python"), "-m", "pip", "install", "--quiet", *packages]
    return _installed(home, command)


def _npm(home: Path, packages: Sequence[str]) -> str:
    home.mkdir(parents=True, exist_ok=True)
    if (home / ".installed").exists():
        return ""
    command = ["npm", "install", "--no-fund", "--no-audit", "--prefix", str(home), *packages]
    return _installed(home, command)


def _installed(home: Path, command: Sequence[str]) -> str:
    problem = _said(command, dict(os.environ), Path.cwd())
    if not problem:
        (home / ".installed").touch()
    return problem


def _version(home: Path, client: Client) -> str:
    name = client.packages[0].partition("[")[0]
    if client.npm:
        code = f"require('./node_modules/{name}/package.json').version"
        command = ["node", "-p", code]
    else:
        code = f"from importlib.metadata import version; print(version({name!r}))"
        command = [str(home / "bin/python"), "-c", code]
    return subprocess.run(command, cwd=home, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
