"""What a model's name may mean on this machine: an embedded one, or a path."""

from __future__ import annotations

from pathlib import Path

EMBEDDED_PREFIX = "embedded:"
DEFAULT_DRAFT = "embedded:draft"
EMBEDDED_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "models"


def list_embedded() -> list[str]:
    """Names of the models that come with the project, for `load_model("embedded:NAME")`."""
    return _folders_with("generation_config.json")


def list_stored() -> list[str]:
    """The same with those that don't write, such as a reward model."""
    return _folders_with("config.json")


def _folders_with(name: str) -> list[str]:
    return sorted(path.parent.name for path in EMBEDDED_FOLDER.glob(f"*/{name}"))


def embedded_folder(name: str) -> Path:
    """Where an embedded model is."""
    return EMBEDDED_FOLDER / name


def looks_like_path(text: str) -> bool:
    """Whether `text` is meant as a path; `owner/name` is one only if it exists."""
    written_so = text.startswith(("/", ".", "~")) or "\\" in text or text.count("/") > 1
    try:
        return written_so or text.endswith(("/", ".gguf")) or Path(text).exists()
    except OSError:  # Too long for a file name.
        return False
