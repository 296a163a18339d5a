"""Finding and loading models: embedded, in a package, from local files, or from the hub."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ..decoding.errors import ModelError
from ..language import Message
from .importing import without_collections
from .isolation.client import prepare
from .packaged import PACKAGED, packaged_file
from .places import (
    EMBEDDED_PREFIX,
    embedded_folder,
    kind_of_path,
    list_diffusion,
    list_embedded,
    list_heads,
    list_stored,
    looks_like_path,
)
from .remote.address import FORMS, is_remote
from .reporting import Report, reporting, unheard
from .stopping import never

if TYPE_CHECKING:
    import torch

    from .loading.load import ModelSource
    from .remote.model import RemoteModel
    from .rewards.reward_model import RewardModel
    from .transformers_model import TransformersModel


def load_model(
    where: str | Path,
    *,
    dtype: str | torch.dtype | None = None,
    device: str | torch.device | None = None,
    should_stop: Callable[[], bool] | None = None,
    on_progress: Report = unheard,
) -> TransformersModel | RemoteModel:
    """Load a decoder-only model with its tokenizer, from safetensors or a GGUF file.

    A GGUF file is converted once and kept under the user's cache directory.

    Args:
        where: `embedded:NAME`, `smollm2`, a local folder, a GGUF file (or a folder with one), or a
            hub id such as `Qwen/Qwen2.5-0.5B`, with `@REVISION` a certain version of it, or the
            address of a model on a server such as `vllm:http://localhost:8000#model`.
        dtype: of the weights, such as `"bfloat16"`; float32 on a CPU when left out, elsewhere
            what the model was saved in.
        device: `"cpu"` when left out; `"cuda"`, `"cuda:1"`, `"mps"`.
        should_stop: asked all the while until the weights are read.
        on_progress: is told in a few words how far it is.

    Raises:
        ModelError: nothing there, no network, wrong kind of model, damaged or incomplete files,
            more than the free memory.
        LoadingStoppedError: `should_stop` said so.

    Example:
        >>> model = load_model("embedded:target")
        >>> model.model_id, model.vocab_size, model.dtype
        ('embedded:target', 4096, 'float32')
    """
    if not isinstance(where, str | Path):
        raise ModelError(
            Message(
                "load_model takes a name or a path, got the type {name}; a model of "
                "transformers goes into from_transformers(model, tokenizer).",
                name=type(where).__name__,
            )
        )
    stops = should_stop or never
    if is_remote(str(where).strip()):
        return _connected(str(where).strip(), dtype, device, stops, on_progress)
    source = _source(where)
    from .loading.load import load_transformers_model

    with reporting(on_progress):
        return load_transformers_model(source, dtype, device, stops)


def load_reward_model(
    where: str | Path,
    *,
    dtype: str | torch.dtype | None = None,
    device: str | torch.device | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> RewardModel:
    """Load a model that scores replies: a sequence classifier with one label, or two.

    Args:
        where: `embedded:reward`, a local folder, or a hub id; the rest as of `load_model`.

    Raises:
        ModelError, LoadingStoppedError: as `load_model`.
    """
    source = _source(where)
    from .loading.load import load_scorer

    return load_scorer(source, dtype, device, should_stop or never)


def _source(where: str | Path) -> ModelSource:
    """Return the place of a model's files by its name."""
    model_id = str(where).strip()
    if not model_id:
        raise ModelError(
            Message(
                "No model was named; give embedded:NAME, a local folder, a GGUF file "
                "or a hub id ({embedded_names}).",
                embedded_names=_embedded_names(),
            )
        )
    folder, trusted = None, False
    if model_id.startswith(EMBEDDED_PREFIX):
        name = model_id.removeprefix(EMBEDDED_PREFIX)
        if name not in list_stored():
            raise ModelError(
                Message(
                    "There is no embedded model {name!r}; {embedded_names}.",
                    name=name,
                    embedded_names=_embedded_names(),
                )
            )
        folder, trusted = embedded_folder(name), True
    elif model_id in PACKAGED:
        folder, trusted = packaged_file(model_id), True
    elif model_id.lower().startswith(("http:", "https:")):
        raise ModelError(
            Message(
                "{model} is a URL, not a model's name; write a model on a server as "
                "{forms}, one of the hub as OWNER/NAME.",
                model=model_id,
                forms=FORMS,
            )
        )
    elif isinstance(where, Path) or looks_like_path(model_id):
        try:
            folder = Path(model_id).expanduser()
        except RuntimeError:  # `~name` of nobody.
            raise ModelError(
                Message(
                    "There is no {kind_of_path} {model}; check the path, or give a hub "
                    "id or embedded:NAME.",
                    kind_of_path=kind_of_path(model_id),
                    model=model_id,
                )
            ) from None
    if not trusted:
        prepare()  # It starts while this process imports torch.
    with without_collections():
        from .loading.load import ModelSource

    return ModelSource(model_id, folder, trusted)


def _connected(
    where: str, dtype: object, device: object, should_stop: Callable[[], bool], report: Report
) -> RemoteModel:
    if dtype is not None or device is not None:
        raise ModelError(
            Message(
                "Type and device of a model on a server are the server's: leave out {value}.",
                value="dtype" if dtype is not None else "device",
            )
        )
    # The first import of every load: two threads that come to transformers' names by different ways
    # at once break each other's imports.
    with without_collections():
        import_module(".loading.load", __package__)
    from .remote.connect import connect

    with reporting(report):
        return connect(where, should_stop)


def _embedded_names() -> str:
    loadable = [*list_embedded(), *list_heads(), *list_diffusion()]
    names = ", ".join(EMBEDDED_PREFIX + name for name in loadable)
    if not names:
        return Message("no model is embedded here")
    return Message("embedded models: {names}", names=names)
