"""A link fills in the controls; what costs more than a bound waits for a press."""

from __future__ import annotations

import pytest

from core.decoding.autoregressive.config import Greedy, Sampling
from core.decoding.beam.config import BeamSearch
from core.decoding.config import MethodConfig
from core.decoding.contrastive.config import ContrastiveSearch
from core.decoding.speculative.config import Speculative
from pages.ui.run import cost
from tests.ui.conftest import Open
from tests.ui.reason_app import settle, view_of
from tests.ui.seen import texts


def test_a_link_alone_does_not_start_a_sweep_of_forty_budgets(open_reason: Open) -> None:
    budgets = " ".join(map(str, range(40)))
    app = open_reason(sweep="1", budgets=budgets, many_problems="48")
    assert not view_of(app).jobs
    assert "Press Run sweep to start." in texts(app)
    assert app.text_input(key="budgets").value == budgets
    app.text_input(key="budgets").set_value("1").run()
    app.number_input(key="many_problems").set_value(1).run()
    assert not view_of(app).jobs
    app = settle(app.button(key="start_sweep").click().run())
    assert "Your sweep" in texts(app) and "Press Run sweep" not in texts(app)


@pytest.mark.parametrize(
    ("look", "flag", "button"),
    [("Same bound, other ways", "rivals", "Compare"), ("Best of N", "best", "Draw samples")],
)
def test_a_link_alone_starts_no_comparison_that_costs_much(
    open_reason: Open, look: str, flag: str, button: str
) -> None:
    app = open_reason(reason_look=look, **{flag: "1"})
    assert not view_of(app).jobs
    assert f"Press {button} to start." in texts(app)


def test_a_link_alone_starts_a_short_run_and_no_long_one(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cost, "LINK_TOKENS", 39)
    app = open_app(run="1", prompt="the cat")
    assert "decode" not in app.session_state["view"].jobs
    assert "This link asks for up to 40 tokens. Press Run to start." in texts(app)


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        (Sampling(max_new_tokens=40), 40),
        (BeamSearch(max_new_tokens=40, num_beams=5), 200),
        (Speculative(max_new_tokens=40), 80),
        (ContrastiveSearch(max_new_tokens=40, contrastive_top_k=64), 2560),
        (Greedy(max_new_tokens=40, use_cache=False), 1600),
    ],
    ids=lambda value: getattr(value, "method", ""),
)
def test_rows_drafts_and_what_is_read_again_count_as_tokens_too(
    config: MethodConfig, tokens: int
) -> None:
    assert cost.tokens_of(config) == tokens
