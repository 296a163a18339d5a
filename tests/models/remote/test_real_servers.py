"""The real servers on the embedded model: llama.cpp's of `xllamacpp`, vLLM from `make engines`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest

from core import BeamSearch, Greedy, Sampling, Shaping, Speculative, check, collect, load_model
from core.decoding.errors import LostModelError
from tests.app_server import free_port
from tests.models.gguf.files import write_gguf_of
from tests.models.remote.servers import local

ROOT = Path(__file__).parents[3]
VLLM = ROOT / ".engines" / "bin" / "python"
PROMPTS = ("Once upon a time", "The capital of France is", "A list of colors: red,")
MANY = (*PROMPTS, *(f"One day, {name} went to the" for name in "Ann Ben Cara Dan Eve".split()))
START_SECONDS = 300
LLAMACPP = """
import sys, time, xllamacpp
from xllamacpp import CommonParams, ggml_type, llama_flash_attn_type
p = CommonParams()
p.model.path, p.port = sys.argv[1], int(sys.argv[2])
p.n_ctx, p.n_parallel, p.n_gpu_layers, p.cpuparams.n_threads = 4096, 4, 0, 1
p.cache_type_k = p.cache_type_v = ggml_type.GGML_TYPE_F32
p.flash_attn_type = llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
server = xllamacpp.Server(p)
time.sleep(3600)
"""


@contextmanager
def _running(log: Path, url: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server from when it answers; ended behind."""
    quiet = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, cwd=ROOT, env={**os.environ, **quiet}
        )
        try:
            end = time.monotonic() + START_SECONDS
            while not _answers(url):
                assert process.poll() is None and time.monotonic() < end, log.read_text()[-2000:]
                time.sleep(0.1)
            yield process
        finally:
            process.terminate()
            process.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/v1/models", timeout=2, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


@pytest.fixture(scope="module")
def llamacpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    if find_spec("xllamacpp") is None:
        pytest.skip("llama.cpp's server isn't installed; make engines puts it there")
    folder, port = tmp_path_factory.mktemp("llamacpp"), free_port()
    file = write_gguf_of(folder / "target.gguf", local().hf_model, local().tokenizer)
    url, code = f"http://127.0.0.1:{port}", (sys.executable, "-c", LLAMACPP)
    with _running(folder / "log", url, *code, str(file), str(port)) as process:
        yield f"llamacpp:{url}", process


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    if not VLLM.exists():
        pytest.skip("vLLM isn't installed; make engines puts it into .engines (4 GB)")
    port, folder = free_port(), tmp_path_factory.mktemp("vllm")
    url, module = f"http://127.0.0.1:{port}", "vllm.entrypoints.openai.api_server"
    options = "--dtype float32 --enforce-eager --max-model-len 1024 --max-logprobs -1"
    command = f"{VLLM} -m {module} --model assets/models/target --served-model-name target"
    command += f" --host 127.0.0.1 --port {port} {options}"
    with _running(folder / "log", url, *command.split()) as process:
        yield f"vllm:{url}?tokenizer=embedded:target#target", process


def _hold(where: str, prompts: tuple[str, ...], beams: int) -> None:
    """Numbers within 1e-4 of ours where they count, and the same tokens by every method."""
    model, draft = load_model(where), load_model("embedded:draft")
    for prompt in prompts:
        ids = model.encode(prompt)
        own, other = model.start(ids).logits.exp(), local().start(ids).logits.softmax(-1)
        assert float((own - other).abs().max()) < 1e-4
    runs: list[tuple[Any, Any]] = [
        (Greedy(max_new_tokens=12), None),
        (BeamSearch(max_new_tokens=beams, num_beams=4), None),
        (Sampling(max_new_tokens=12, seed=3, shaping=Shaping(temperature=0.8, top_p=0.9)), None),
        (Speculative(max_new_tokens=12, shaping=Shaping(temperature=0.0)), draft),
    ]
    for prompt in prompts:
        for config, second in runs:
            found = collect(model, prompt, config, draft=second)
            assert found.token_ids == collect(local(), prompt, config, draft=second).token_ids
            assert all(one.passed for one in check(found))


def test_llama_cpp_emits_what_the_model_emits_here(llamacpp: tuple[str, Any]) -> None:
    _hold(llamacpp[0], PROMPTS[:1], 4)


@pytest.mark.slow
def test_vllm_emits_what_the_model_emits_here(vllm: tuple[str, Any]) -> None:
    _hold(vllm[0], MANY, 8)


def test_llama_cpp_that_is_killed_leaves_the_steps_so_far(llamacpp: tuple[str, Any]) -> None:
    where, process = llamacpp
    model, made = load_model(where), list[Any]()

    def kill(step: Any) -> None:
        made.append(step)
        if len(made) == 4:
            process.kill()
            process.wait(30)

    trace = collect(model, PROMPTS[0], Greedy(max_new_tokens=12), on_step=kill)
    assert trace.finish_reason == "cancelled" and len(trace.token_ids) == 3
    assert "The server of" in trace.notes[0]
    with pytest.raises(LostModelError, match="can't be reached"):
        load_model(where)
