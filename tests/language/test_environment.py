"""Language of the command line, by the environment."""

from __future__ import annotations

import pytest

from core.language.environment import environment_language


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ("", "en"),
        ("LANG=C", "en"),
        ("LANG=C.UTF-8", "en"),
        ("LANG=POSIX", "en"),
        ("LANG=en_US.UTF-8", "en"),
        ("LANG=ja_JP.UTF-8", "ja"),
        ("LANG=ko_KR.UTF-8", "ko"),
        ("LANG=ja", "ja"),
        ("LANG=ja_JP.EUC-JP", "ja"),
        ("LANG=ja_JP@mod", "ja"),
        ("LANG=fr_FR.UTF-8", "en"),
        ("LANG=japanese", "en"),
        ("LC_MESSAGES=ko_KR.UTF-8 LANG=ja_JP.UTF-8", "ko"),
        ("LC_ALL=ja_JP.UTF-8 LC_MESSAGES=ko_KR.UTF-8 LANG=C", "ja"),
        ("LC_ALL=C LC_MESSAGES=ko_KR.UTF-8 LANG=ja_JP.UTF-8", "en"),
        ("LC_ALL= LANG=ja_JP.UTF-8", "ja"),
        ("LC_CTYPE=ja_JP.UTF-8", "en"),
        ("LANG=de_DE.UTF-8 LANGUAGE=fr:ko:ja", "ko"),
        ("LANG=ja_JP.UTF-8 LANGUAGE=fr", "en"),
        ("LANG=ja_JP.UTF-8 LANGUAGE=en:ja", "en"),
        ("LANG=ja_JP.UTF-8 LANGUAGE=C:ja", "en"),
        ("LANG=ja_JP.UTF-8 LANGUAGE=", "ja"),
        ("LANG=C LANGUAGE=ja", "en"),
        ("LANGUAGE=ja", "en"),
    ],
)
def test_the_language_has_gettext_s_precedence(variables: str, language: str) -> None:
    environ = dict(pair.split("=", 1) for pair in variables.split())
    assert environment_language(environ) == language
