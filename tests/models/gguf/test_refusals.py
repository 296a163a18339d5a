"""A file that can't be used is refused in one sentence, before anything is allocated."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from core.models.gguf import cache, source
from core.models.loading import memory
from tests.models.gguf.files import write_gguf
from tests.models.loading.refusal import refusal

_COUNTS = struct.Struct("<QQ")


def _bytes(change: Callable[[bytearray], object]) -> Callable[[Path], None]:
    def apply(path: Path) -> None:
        raw = bytearray(path.read_bytes())
        change(raw)
        path.write_bytes(raw)

    return apply


def _put(at: int, layout: str, *numbers: int) -> Callable[[Path], None]:
    return _bytes(lambda raw: struct.pack_into(layout, raw, at, *numbers))


def _cut(count: int) -> Callable[[Path], None]:
    return _bytes(lambda raw: raw.__delitem__(slice(count, None)))


def _after(text: bytes, offset: int, layout: str, *numbers: int) -> Callable[[Path], None]:
    """Write behind the first place of a text."""
    return _bytes(
        lambda raw: struct.pack_into(layout, raw, raw.index(text) + len(text) + offset, *numbers)
    )


BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "no GGUF": (_bytes(lambda raw: raw.__setitem__(slice(0, 4), b"GGML")), "no GGUF file"),
    "nothing": (_cut(0), "no GGUF file"),
    "half a header": (_cut(700), "damaged or cut off (it ends too soon)"),
    "counts alone": (_cut(24), "damaged or cut off"),
    "half the tensors": (_cut(200_000), "is cut off: its tensors end at byte"),
    "version 1": (_put(4, "<I", 1), "version 1 of the format"),
    "big endian": (_put(4, ">I", 3), "of the format"),
    "endless tensors": (_put(8, "<Q", 2**62), "damaged or cut off (it ends too soon)"),
    "endless metadata": (_put(16, "<Q", 2**40), "damaged or cut off"),
    "endless text": (_put(24, "<Q", 2**60), "it ends too soon"),
    "endless array": (_after(b"tokenizer.ggml.tokens", 8, "<Q", 2**50), "it ends too soon"),
    "a key that is no text": (_bytes(lambda raw: raw.__setitem__(32, 0xFF)), "is no text"),
    "unknown value": (_after(b"llama.block_count", 0, "<I", 77), "damaged or cut off (77 is not a"),
    "unknown numbers": (_after(b"blk.0.attn_norm.weight", 12, "<I", 999), "ggml's type 999"),
    "many dimensions": (_after(b"blk.0.attn_norm.weight", 0, "<I", 9), "damaged or cut off"),
    "vast tensor": (_after(b"blk.0.attn_norm.weight", 4, "<Q", 2**50), "is cut off: its"),
    "tensor outside": (_after(b"blk.0.attn_norm.weight", 16, "<Q", 2**40), "is cut off"),
}  # fmt: skip


@pytest.mark.parametrize(("spoil", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_file(
    spoil: Callable[[Path], None], says: str, good: Path, tmp_path: Path
) -> None:
    file = Path(shutil.copy(good, tmp_path / "broken.gguf"))
    spoil(file)
    assert says in refusal(file)
    assert not cache.cache_root().exists()


def test_an_architecture_that_transformers_cant_read(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "other.gguf", architecture="clip")
    assert "the architecture clip, which transformers can't read" in refusal(file)


def test_one_of_several_files(tmp_path: Path) -> None:
    file = write_gguf(tmp_path / "part.gguf", split_count=3)
    assert "one of the 3 files of a model" in refusal(file)


def test_a_lacking_tensor(good: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(good, tmp_path / "lacking.gguf"))
    _bytes(lambda raw: raw.__setitem__(slice(0, None), raw.replace(b"attn_v.", b"attn_w.")))(file)
    assert "are incomplete" in refusal(file)
    assert cache.cached_bytes() == (0, 0)


def test_a_broken_tokenizer(good: Path, tmp_path: Path) -> None:
    file = Path(shutil.copy(good, tmp_path / "mute.gguf"))
    _bytes(
        lambda raw: raw.__setitem__(slice(0, None), raw.replace(b"ggml.tokens", b"ggml.tokenz"))
    )(file)
    assert "tokenizer" in refusal(file)


def test_too_large_for_memory(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_bytes", lambda: 300_000)
    monkeypatch.setattr(source, "_convert", None)
    assert "needs 351 kB of memory, and 300 kB are free" in refusal(good)


def test_a_vast_model_is_refused_by_its_header_alone(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """4 TB of zeros that no disk holds."""
    file = Path(shutil.copy(good, tmp_path / "vast.gguf"))
    _after(b"blk.0.attn_norm.weight", 4, "<Q", 2**40)(file)
    with file.open("r+b") as opened:
        opened.truncate(2**43)
    monkeypatch.setattr(source, "_convert", None)
    assert "needs 4,398.0 GB of memory, and" in refusal(file)


def test_too_large_for_the_disk(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(cache.shutil, "disk_usage", lambda _: usage._replace(free=1_000))
    assert "once it is converted, and 1 kB are free on the disk" in refusal(good)


def test_a_cache_that_cant_be_written(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert "can't be written" in refusal(good)


def test_a_folder_with_several(good: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        shutil.copy(good, tmp_path / f"{name}.gguf")
    assert "holds 2 GGUF files (a.gguf, b.gguf); name one of them" in refusal(tmp_path)


def test_a_file_that_isnt_there(tmp_path: Path) -> None:
    assert "There is no file" in refusal(tmp_path / "nothing.gguf")
    assert "There is no file nothing.gguf" in refusal("nothing.gguf")
