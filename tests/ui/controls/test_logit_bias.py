"""The logit bias on Decode: what is typed, what the model makes of it, and the way back."""

from __future__ import annotations

import pytest

from core.decoding.errors import ConfigError
from core.decoding.loop.text import single_token
from core.decoding.shaping.config import Shaping
from core.decoding.shaping.settings.bias import bias_lines
from core.models.scripted import ScriptedModel
from pages.ui.decode import controls, lines
from pages.ui.widgets.controls.control import defaults
from tests.figures.traces import make_trace
from tests.ui.conftest import Open
from tests.ui.pages.test_decode_page import PROMPT, run, scripted, settle, view_of  # noqa: F401
from tests.ui.seen import texts

LOOKED_UP = "only the loaded model can tell"


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_TOKENS", {})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" the = -5\nthe=2.5", [(" the", -5.0), ("the", 2.5)]),
        ("#383 = -5\n # 7=1\n#x = 1", [(383, -5.0), (" # 7", 1.0), ("#x", 1.0)]),
        ("\\n = 3\na\\tb = 3\n\\\\n = 3", [("\n", 3.0), ("a\tb", 3.0), ("\\n", 3.0)]),
        ("= = 1\n  = 2\n =4\n\n", [("=", 1.0), (" ", 2.0), (" ", 4.0)]),
    ],
)
def test_a_line_is_a_token_and_a_number(text: str, expected: list[tuple[int | str, float]]) -> None:
    assert bias_lines(text, lambda token: token) == expected  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("wrong", ["the", "= 5", "the = x", "the = 101", "the = nan", "the = inf"])
def test_a_line_of_another_form_gets_one_sentence(wrong: str) -> None:
    with pytest.raises(ConfigError, match="a token, = and a number from -100 to 100"):
        bias_lines(wrong, len)


class _Spaced(ScriptedModel):
    """Its tokenizer puts a space before every text, as SentencePiece's do."""

    def encode(self, text: str) -> list[int]:
        return super().encode(f" {text}")


def test_a_text_is_the_token_that_adds_just_it() -> None:
    tokens = ("<end>", " ", "cat", " cat", "s")
    for kind in (ScriptedModel, _Spaced):
        model = kind({(): [0.2] * 5}, tokens=tokens)
        for text, token in ((" ", 1), ("cat", 2), (" cat", 3), ("s", 4)):
            assert single_token(model, text, "logit bias") == token
        with pytest.raises(ConfigError, match="give each token a line, or name it as #id"):
            single_token(model, " cats", "logit bias")


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize("method", ["greedy", "sampling"])
def test_the_loaded_model_looks_up_the_text_at_run(open_app: Open, method: str) -> None:
    app = open_app(prompt=PROMPT, method=method, tokens="3", bias=" cat = 100\n#6 = -2")
    assert LOOKED_UP in texts(app)
    trace = view_of(run(app)).trace
    assert trace is not None and trace.text == " cat cat cat"
    assert trace.config.shaping.logit_bias == ((2, 100.0), (6, -2.0))
    assert LOOKED_UP not in texts(app) and "under the new knobs" not in texts(app)
    app.text_area(key="bias").set_value("#6 = -2").run()
    assert "under the new knobs" in texts(settle(app))


@pytest.mark.usefixtures("scripted")
@pytest.mark.parametrize(
    ("bias", "said"),
    [(" cat sat = 1", "' cat' + ' sat'"), ("#99 = 1", "from #0 to #7"), ("cat 1", "is a token, =")],
)
def test_what_is_no_token_of_the_model_gets_a_sentence(
    open_app: Open, bias: str, said: str
) -> None:
    app = run(open_app(prompt=PROMPT, bias=bias)) if "=" in bias else open_app(bias=bias)
    assert said in texts(app) and not app.exception
    assert view_of(app).source == "example"


def test_a_file_s_bias_goes_back_into_the_control(monkeypatch: pytest.MonkeyPatch) -> None:
    values, shaping = defaults(), Shaping(logit_bias={383: -5, 7: 0.1234567})
    monkeypatch.setattr(controls, "load", values.update)
    trace = make_trace(shaping=shaping)
    controls.load_controls(trace)
    assert values["bias"] == "#7 = 0.1234567\n#383 = -5"
    assert controls.config(values.__getitem__).shaping.logit_bias == shaping.logit_bias
