"""A GGUF file read by transformers and written as a folder of safetensors.

It follows what a stranger's file says, so it runs in a child process (`core.models.isolation`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedConfig,
    modeling_gguf_pytorch_utils,
)

from ...decoding.errors import ModelError
from ...language import N_, Message
from ..loading.errors import explain
from ..replacing import replaced
from ..reporting import Report, current_report
from .cache import write_source
from .ends import end_ids
from .header import read_header

# Saving copies no more than one such piece at a time.
_SHARD = "1GB"
_LOCAL: dict[str, Any] = {"trust_remote_code": False, "local_files_only": True}


def convert_gguf(path: str, name: str, out: str, dtype: str) -> None:
    """Write a file's model as safetensors in this dtype, with its configuration and tokenizer.

    Args:
        name: the file in a sentence.
        out: an empty folder.

    Raises:
        ModelError: what is wrong with the file.
    """
    file, folder, report = Path(path), Path(out), current_report()
    header = read_header(path, name)
    report(N_("Reading the GGUF file"))
    with _read_once(), _counted(report):
        tokenizer = _part(name, "tokenizer", AutoTokenizer, file)
        config: PreTrainedConfig = _part(name, "configuration", AutoConfig, file)
        model, loading = _part(
            name,
            "weights",
            AutoModelForCausalLM,
            file,
            config=config,
            dtype=getattr(torch, dtype),
            output_loading_info=True,
        )
    if lacking := sorted(map(str, loading["missing_keys"] | loading["mismatched_keys"])):
        raise ModelError(
            Message(
                "The weights of {name} are incomplete: {lacking} is missing; get the file again.",
                name=name,
                lacking=lacking[0],
            )
        )
    model.generation_config.eos_token_id = end_ids(header["end_ids"], tokenizer.get_vocab())
    report(N_("Writing the converted model"))
    tokenizer.save_pretrained(folder)
    # Saved as a model that was never quantized.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(folder, max_shard_size=_SHARD)
    write_source(file, folder, header["quantization"], dtype)


def _part(name: str, part: str, loader: Any, file: Path, **options: Any) -> Any:
    """Load a part of the file by a class of transformers."""
    try:
        return loader.from_pretrained(file.parent, gguf_file=file.name, **options, **_LOCAL)
    except MemoryError:
        raise
    except Exception as error:
        raise explain(name, part, error) from None


def _read_once() -> AbstractContextManager[None]:
    """Parse the file once for all of its parts, and make the table of names once for all modules.

    Else it takes four times as long. Slices of a memory map cost several times as much as those of
    a plain array over it.
    """
    import gguf

    class Reader(gguf.GGUFReader):
        @property
        def data(self) -> Any:
            return self._plain

        @data.setter
        def data(self, mapped: Any) -> None:
            self._plain = mapped.view(np.ndarray)

    return replaced(
        gguf,
        GGUFReader=lru_cache(maxsize=1)(Reader),
        get_tensor_name_map=lru_cache(maxsize=1)(gguf.get_tensor_name_map),
    )


def _counted(report: Report) -> AbstractContextManager[None]:
    """Tells how many tensors are converted, in place of transformers' progress bar."""

    def count(tensors: Iterable[Any], **_: Any) -> Iterator[Any]:
        waiting = list(tensors)
        for done, tensor in enumerate(waiting):
            if done % 8 == 0:
                report(f"Converting: {done} of {len(waiting)} tensors")
            yield tensor

    return replaced(modeling_gguf_pytorch_utils, tqdm=count)
