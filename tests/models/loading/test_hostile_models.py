"""Whatever stands in a model's folder: one sentence, soon, and nothing of it is run."""

from __future__ import annotations

import resource
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from core.decoding.errors import PromptError
from core.models.isolation.client import RequestLimits
from core.models.loading import load
from core.models.registry import load_model
from core.models.text import chat
from tests.models.loading.kinds import TRAP, Break
from tests.models.loading.kinds_of_files import CONFIGS, FILES
from tests.models.loading.kinds_of_parts import TEMPLATES, TOKENIZER_KINDS, WEIGHT_KINDS
from tests.models.loading.refusal import refusal

SECONDS = 30.0
MOST_GROWTH = 300 * 2**20  # Bytes of this process; most of them are transformers' own modules.
HELLO = [{"role": "user", "content": "the fox"}]


@pytest.fixture(autouse=True)
def _tight_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        chat, "LIMITS", RequestLimits(cpu_seconds=1, seconds=20.0, memory_bytes=2**27)
    )
    monkeypatch.setattr(load, "_MOST_INSPECTION_BYTES", 2**28)


def _cases(kinds: Mapping[str, tuple[Any, str]]) -> list[ParameterSet]:
    """The first that is refused in some words stands for the others in `make test`."""
    sentences = [says for _, says in kinds.values()]
    return [
        pytest.param(
            *kind,
            id=name,
            marks=pytest.mark.slow
            if kind[1] and any(kind[1] in sentence for sentence in sentences[:at])
            else (),
        )
        for at, (name, kind) in enumerate(kinds.items())
    ]


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@pytest.mark.parametrize(
    ("broken", "says"),
    [case for kinds in (FILES, CONFIGS, WEIGHT_KINDS, TOKENIZER_KINDS) for case in _cases(kinds)],
)
def test_a_folder_is_refused_in_one_sentence(folder: Path, broken: Break, says: str) -> None:
    broken(folder)
    started, before = time.monotonic(), _peak_bytes()
    text = refusal(folder)
    assert says in text
    assert str(folder) in text
    assert time.monotonic() - started < SECONDS
    assert _peak_bytes() - before < MOST_GROWTH
    assert not (folder.parent / TRAP).exists()


@pytest.mark.parametrize(("template", "says"), _cases(TEMPLATES))
def test_a_template_is_ended(folder: Path, template: str, says: str) -> None:
    (folder / "chat_template.jinja").write_text(template)
    model = load_model(folder)
    assert model.has_chat_template
    for act in (model.render_chat, model.encode_chat):
        started, before = time.monotonic(), _peak_bytes()
        with pytest.raises(PromptError) as caught:
            act(HELLO)
        assert says in str(caught.value) and "\n" not in str(caught.value)
        assert time.monotonic() - started < SECONDS
        assert _peak_bytes() - before < MOST_GROWTH
