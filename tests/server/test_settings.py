"""An operator's settings: read from the environment, and named where they are wrong."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from core.decoding.errors import ConfigError
from core.server.settings import Settings, settings, variable

ROOT = Path(__file__).parents[2]


def test_nothing_is_set_by_default() -> None:
    assert settings({"HOME": "/root"}) == Settings()


def test_lists_are_separated_by_commas() -> None:
    read = settings(
        {
            "DECODING_EXPLORER_HOSTS": "Explorer.Example.org, *.school.example,, [fe80::1]",
            "DECODING_EXPLORER_FRAMES": "https://blog.example.org/, http://localhost:8000",
            "DECODING_EXPLORER_MODELS": "Qwen/Qwen3-0.6B, my model = /srv/models/mine",
            "DECODING_EXPLORER_METRICS": "on",
            "DECODING_EXPLORER_API": "off",
            "DECODING_EXPLORER_API_KEYS": "first-key-of-many-letters,second-key-of-many-letters",
        }
    )
    assert read.hosts == ("explorer.example.org", "*.school.example", "fe80::1")
    assert read.frames == ("https://blog.example.org", "http://localhost:8000")
    assert read.models == {"Qwen/Qwen3-0.6B": "Qwen/Qwen3-0.6B", "my model": "/srv/models/mine"}
    assert read.metrics and not read.api
    assert read.api_keys == ("first-key-of-many-letters", "second-key-of-many-letters")


def test_an_error_never_says_a_key() -> None:
    with pytest.raises(ConfigError) as refused:
        settings({"DECODING_EXPLORER_API_KEYS": "secret!"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HOSTS", "https://explorer.example.org"),
        ("HOSTS", "explorer.example.org:80"),
        ("HOSTS", "exp*.example.org"),
        ("HOSTS", "a b"),
        ("FRAMES", "blog.example.org"),
        ("FRAMES", "*"),
        ("FRAMES", "https://a.example; script-src *"),
        ("FRAMES", "javascript://a"),
        ("MODELS", "/srv/models/mine"),
        ("MODELS", "=/srv/models/mine"),
        ("MODELS", "mine="),
        ("MODELS", "embedded:x=/srv/models/mine"),
        ("MODELS", "../x"),
        ("METRICS", "perhaps"),
        ("API", "perhaps"),
        ("API_KEYS", "short"),
        ("API_KEYS", "sixteen-letters-and, a space in a key"),
        ("API_ORIGINS", "*"),
        ("HOST", "explorer.example.org"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"DECODING_EXPLORER_{name}"):
        settings({f"DECODING_EXPLORER_{name}": value})


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs/security.md").read_text(encoding="utf-8")
    assert all(variable(row.name) in text for row in fields(Settings))
