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
from typing import TypeAlias

import httpx2

from core import load_model
from core.models.transformers_model import TransformersModel
from tests.app_server import free_port
from tests.models.gguf.files import write_gguf_of
from tests.models.remote.servers import local

ROOT = Path(__file__).parents[3]
VLLM = ROOT / ".engines" / "bin" / "python"
# Read from a cold disk, vLLM took over 5 minutes once; usually it takes one.
START_SECONDS, END_SECONDS = 420, 30
# An address, and the process behind it.
Served: TypeAlias = tuple[str, subprocess.Popen[bytes]]
_LLAMACPP = """
import sys, time, xllamacpp
from xllamacpp import CommonParams, common_speculative_type, ggml_type, llama_flash_attn_type
p = CommonParams()
p.model.path, p.port = sys.argv[1], int(sys.argv[2])
p.n_ctx, p.n_parallel, p.n_gpu_layers, p.cpuparams.n_threads = 4096, 4, 0, 1
if sys.argv[3] == "float32":
    p.cache_type_k = p.cache_type_v = ggml_type.GGML_TYPE_F32
    p.flash_attn_type = llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
if len(sys.argv) > 4:
    p.endpoint_metrics, draft = True, p.speculative.draft
    p.speculative.types = [common_speculative_type.COMMON_SPECULATIVE_TYPE_DRAFT_SIMPLE]
    draft.mparams.path, draft.n_gpu_layers, draft.n_max = sys.argv[4], 0, 4
    draft.cpuparams.n_threads = 1
server = xllamacpp.Server(p)
time.sleep(3600)
"""
_VLLM_OPTIONS = "--dtype float32 --enforce-eager --max-model-len 1024"


def has_llamacpp() -> bool:
    """Return whether llama.cpp's server is installed."""
    return find_spec("xllamacpp") is not None


@contextmanager
def llamacpp(folder: Path, cache: str = "float32", draft: str = "") -> Iterator[Served]:
    """llama.cpp's server; its standard `cache` holds halves. With a `draft` it speculates."""
    file, port = folder / "target.gguf", free_port()
    if not file.exists():
        write_gguf_of(file, local().hf_model, local().tokenizer)
    url, code = f"http://127.0.0.1:{port}", (sys.executable, "-c", _LLAMACPP)
    drafts = []
    if draft:
        drafts = [str(folder / "draft.gguf")]
        model = load_model(draft)
        assert isinstance(model, TransformersModel)
        write_gguf_of(Path(drafts[0]), model.hf_model, model.tokenizer)
    with _running(folder / "log", url, *code, str(file), str(port), cache, *drafts) as process:
        yield f"llamacpp:{url}", process


@contextmanager
def vllm(folder: Path, *options: str) -> Iterator[Served]:
    """vLLM with the whole vocabulary, unless options say another `--max-logprobs`."""
    port, module = free_port(), "vllm.entrypoints.openai.api_server"
    command = f"{VLLM} -m {module} --model assets/models/target --served-model-name target"
    command += f" --host 127.0.0.1 --port {port} {_VLLM_OPTIONS} --max-logprobs -1"
    url = f"http://127.0.0.1:{port}"
    with _running(folder / "log", url, *command.split(), *options) as process:
        yield f"vllm:{url}?tokenizer=embedded:target#target", process


@contextmanager
def _running(log: Path, url: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server from when it answers; ended behind."""
    variables = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    variables["OMP_NUM_THREADS"] = "1"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=out, cwd=ROOT, env={**os.environ, **variables}
        )
        try:
            end = time.monotonic() + START_SECONDS
            while not _answers(url):
                assert process.poll() is None and time.monotonic() < end, log.read_text()[-2000:]
                time.sleep(0.1)
            yield process
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a server, also one that is still starting and takes no notice."""
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/v1/models", timeout=2, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False
