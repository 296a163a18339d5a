"""Cache of converted GGUF files: a folder for each, under the user's cache directory.

A conversion is written beside its place and moved there when it is whole, so that half of one is
never used.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ...decoding.errors import ModelError
from ...decoding.files import reason_of, write_file
from ...language import Message
from ..loading.folder import ends_of

SOURCE_FILE = "gguf_source.json"
_LAYOUT = 2  # Of what a conversion holds; another number converts anew.
_SAMPLED_BYTES = 2**20
_BEGUN = "begun-"
_DIGEST_LENGTH = 12
# A conversion whose process was killed leaves its folder; none takes so long.
_ABANDONED_SECONDS = 24 * 3600.0


def user_cache() -> Path:
    """Return the project's cache folder of this user; it may not be there."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "decoding-explorer"


def cache_root() -> Path:
    """The folder of all conversions; it may not be there."""
    return user_cache() / "gguf"


def key_of(path: Path, dtype: str) -> str:
    """Return the key of a file's conversion: another file, or a changed one, has another key.

    It reads only the ends of the file: a digest of gigabytes would delay every load.
    """
    state = path.stat()
    head = f"{_LAYOUT} {dtype} {state.st_size} {state.st_mtime_ns}".encode()
    return hashlib.sha256(head + ends_of(path, _SAMPLED_BYTES)).hexdigest()[:32]


def converted(key: str) -> Path | None:
    """The folder of a whole conversion."""
    folder = cache_root() / key
    return folder if folder.is_dir() else None


def content_of(path: Path) -> str:
    """The digest of a whole file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def moved(key: str, content: str, dtype: str) -> Path | None:
    """The conversion of a file with the same content, which now goes by this key.

    The file was copied, or installed anew.
    """
    root = cache_root()
    for folder in root.iterdir() if root.is_dir() else ():
        with suppress(OSError, ValueError, TypeError, KeyError):
            source = json.loads((folder / SOURCE_FILE).read_text(encoding="utf-8"))
            if (source["sha256"], source["dtype"]) == (content, dtype) and not _begun(folder):
                return folder.rename(root / key)
    return None


def _begun(folder: Path) -> bool:
    return folder.name.startswith(_BEGUN)


def write_source(file: Path, folder: Path, quantization: str, dtype: str) -> None:
    """Write into a conversion's folder which file it was made from."""
    source = {"quantization": quantization, "sha256": content_of(file), "dtype": dtype}
    write_file(folder / SOURCE_FILE, json.dumps(source))


def source_of(folder: Path, file: Path) -> str:
    """Return the revision of a converted file for a trace: name, quantization and digest."""
    source = json.loads((folder / SOURCE_FILE).read_text(encoding="utf-8"))
    return f"{file.name} {source['quantization']} {source['sha256'][:_DIGEST_LENGTH]}"


@contextmanager
def being_converted(key: str) -> Iterator[Path]:
    """A new folder that becomes the conversion's when the block ends, and goes where it fails."""
    root = cache_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        for path in root.glob(f"{_BEGUN}*"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _ABANDONED_SECONDS:
                    shutil.rmtree(path, ignore_errors=True)
        begun = Path(tempfile.mkdtemp(prefix=_BEGUN, dir=root))
    except OSError as error:
        raise ModelError(
            Message(
                "The cache folder {root} can't be written ({reason}); make room for "
                "it, or name another place in XDG_CACHE_HOME.",
                root=root,
                reason=reason_of(error),
            )
        ) from None
    try:
        yield begun
        with suppress(OSError):  # Another process has converted the same file meanwhile.
            begun.rename(root / key)
    finally:
        shutil.rmtree(begun, ignore_errors=True)


def cached_bytes() -> tuple[int, int]:
    """Count the conversions, and the bytes that they take with unfinished ones."""
    root = cache_root()
    folders = [path for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
    whole = sum(not _begun(path) for path in folders)
    size = 0
    for folder in folders:
        for path in folder.rglob("*"):
            with suppress(OSError):
                size += path.lstat().st_size
    return whole, size


def empty_cache() -> int:
    """Remove all conversions; the bytes that this frees.

    A model that is loaded keeps its weights in memory; the next load converts its file again.
    """
    _, size = cached_bytes()
    shutil.rmtree(cache_root(), ignore_errors=True)
    return size - cached_bytes()[1]
