"""Finding and loading models: embedded, from a local folder, or from the hub."""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from core.decoding.errors import ModelError

if TYPE_CHECKING:
    import torch

    from core.models.transformers_model import TransformersModel

EMBEDDED_PREFIX = "embedded:"
EMBEDDED_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "models"
# While transformers loads a model it changes how every thread makes modules: a second one beside
# it came out with weights that were never read.
_LOADING = Lock()


def list_embedded() -> list[str]:
    """Names of the models that come with the project, for `load_model("embedded:NAME")`."""
    if not EMBEDDED_FOLDER.is_dir():
        return []
    return sorted(path.parent.name for path in EMBEDDED_FOLDER.glob("*/config.json"))


def load_model(
    where: str | Path,
    *,
    dtype: str | torch.dtype | None = None,
    device: str | torch.device | None = None,
) -> TransformersModel:
    """Load a decoder-only model with its tokenizer, from safetensors only.

    Args:
        where: `embedded:NAME`, a local folder, or a hub id such as `Qwen/Qwen2.5-0.5B`.
        dtype: of the weights, such as `"bfloat16"`; float32 on a CPU when left out, elsewhere
            what the model was saved in.
        device: `"cpu"` when left out; `"cuda"`, `"cuda:1"`, `"mps"`.

    Raises:
        ModelError: nothing there, no network, wrong kind of model, damaged or incomplete files.
    """
    model_id = str(where).strip()
    if not model_id:
        raise ModelError(
            "No model was named; give embedded:NAME, a local folder or a hub id "
            f"({_embedded_names()})."
        )
    source: str | Path = model_id
    if model_id.startswith(EMBEDDED_PREFIX):
        source = _embedded_folder(model_id.removeprefix(EMBEDDED_PREFIX))
    elif isinstance(where, Path) or looks_like_path(model_id):
        source = Path(model_id).expanduser()
    from core.models.loading import load_transformers_model

    with _LOADING:
        return load_transformers_model(source, model_id, dtype, device)


def _embedded_folder(name: str) -> Path:
    if name not in list_embedded():
        raise ModelError(f"There is no embedded model {name!r}; {_embedded_names()}.")
    return EMBEDDED_FOLDER / name


def _embedded_names() -> str:
    names = ", ".join(EMBEDDED_PREFIX + name for name in list_embedded())
    return f"embedded models: {names}" if names else "no model is embedded here"


def looks_like_path(text: str) -> bool:
    """Whether `text` is meant as a path; `owner/name` is one only if it exists."""
    written_so = text.startswith(("/", ".", "~")) or "\\" in text or text.count("/") > 1
    try:
        return written_so or text.endswith("/") or Path(text).exists()
    except OSError:  # Too long for a file name.
        return False
