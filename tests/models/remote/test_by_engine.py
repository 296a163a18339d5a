"""A run that the server makes in one request: its tokens, its numbers, its end; labelled so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from core import ByEngine, ConfigError, Greedy, Shaping, Trace, check, collect, load_model
from core.decoding.errors import LostModelError
from core.figures import candidate_bars, step_stages, timing
from tests.figures.looking import trace_named
from tests.models.remote import faults, servers
from tests.models.remote.servers import Script, local, serving
from tests.models.remote.test_parity import FORMS

PROMPT = "Once upon a time"


@pytest.fixture(scope="module", params=["vllm", "llamacpp", "openai"])
def served(request: pytest.FixtureRequest) -> Iterator[tuple[Any, Script]]:
    with serving() as (url, script):
        yield load_model(FORMS[request.param].format(url=url)), script


@pytest.fixture(scope="module")
def connected() -> Iterator[tuple[Any, Script]]:
    with serving() as (url, script):
        yield load_model(FORMS["vllm"].format(url=url)), script


@pytest.fixture
def vllm(connected: tuple[Any, Script]) -> tuple[Any, Script]:
    """A server of vLLM's kind, without the fault of the test before."""
    connected[1].fault = None
    return connected


def test_one_request_makes_a_run_whose_numbers_are_proved(served: tuple[Any, Script]) -> None:
    model, script = served
    before = script.completions
    trace = collect(model, PROMPT, ByEngine(max_new_tokens=8, seed=3, top_candidates=5))
    assert script.completions == before + 1 and len(trace.token_ids) == 8
    assert trace.known == 5 and {step.origin for step in trace.token_steps} == {"server"}
    assert all(outcome.passed for outcome in check(trace, model))
    assert Trace.from_dict(trace.to_dict()) == trace
    later = collect(model, PROMPT, ByEngine(max_new_tokens=8, seed=4, top_candidates=5))
    assert later.token_ids != trace.token_ids


def test_a_drawn_token_far_below_the_named_ones_leaves_the_proof_whole() -> None:
    config = ByEngine(max_new_tokens=12, seed=1, top_candidates=3, shaping=Shaping(temperature=2.0))
    with serving() as (url, _):
        model = load_model(FORMS["llamacpp"].format(url=url))
        trace = collect(model, PROMPT, config)
        assert all(outcome.passed for outcome in check(trace, model))
    below = [step for step in trace.token_steps if len(step.candidates) > 3]
    assert below and all(step.chosen.rank == 4 for step in below)


def test_at_temperature_0_it_is_greedy(served: tuple[Any, Script]) -> None:
    model, _ = served
    expected = collect(local(), PROMPT, Greedy(max_new_tokens=12))
    trace = collect(model, PROMPT, ByEngine(max_new_tokens=12, shaping=Shaping(temperature=0.0)))
    assert trace.token_ids == expected.token_ids and trace.text == expected.text
    for mine, yours in zip(trace.token_steps, expected.token_steps, strict=True):
        assert mine.chosen.logit == pytest.approx(
            yours.chosen.raw_prob and -yours.surprisal, abs=1e-4
        )


def test_every_setting_is_said_and_stop_strings_end_the_run(served: tuple[Any, Script]) -> None:
    model, script = served
    shaping = Shaping(temperature=0.0, top_p=0.9, logit_bias={7: -2.0})
    config = ByEngine(max_new_tokens=40, stop_strings=(".",), seed=9, shaping=shaping)
    trace = collect(model, PROMPT, config)
    body = script.asked[-1][2]
    assert trace.finish_reason == "stop" and trace.text.endswith(".")
    assert body["top_p"] == 0.9 and body["seed"] == 9 and body["temperature"] == 0.0
    assert dict(body["logit_bias"]) in ({"7": -2.0}, {7: -2.0})


def test_what_a_server_lacks_is_refused() -> None:
    runs = [
        ("vllm", ByEngine(shaping=Shaping(typical_p=0.5)), "vLLM has no typical-p"),
        ("openai", ByEngine(shaping=Shaping(top_k=5)), "OpenAI-shaped has no top-k"),
        ("llamacpp", ByEngine(shaping=Shaping(frequency_penalty=1)), "of the generated text alone"),
        ("llamacpp", ByEngine(shaping=Shaping(presence_penalty=1)), "of the generated text alone"),
        ("llamacpp", ByEngine(shaping=Shaping(adaptive_target=0.3)), "has no adaptive-p"),
        ("vllm", ByEngine(shaping=Shaping(mirostat=1)), "vLLM has no mirostat"),
        ("llamacpp", ByEngine(min_new_tokens=2), "no min_new_tokens"),
        ("llamacpp", ByEngine(thinking_token_budget=9), "no thinking budget"),
    ]
    with serving() as (url, script):
        collect(load_model(FORMS["llamacpp"].format(url=url)), PROMPT, ByEngine(max_new_tokens=2))
        # Its own command line may set others.
        off = {"frequency_penalty": 0, "xtc_probability": 0, "dry_multiplier": 0, "mirostat": 0}
        assert off.items() <= script.asked[-1][2].items()
        shaping = Shaping(mirostat=2, mirostat_tau=3.0, dry_multiplier=0.8, dry_base=2.0)
        config = ByEngine(max_new_tokens=2, shaping=shaping)
        collect(load_model(FORMS["llamacpp"].format(url=url)), PROMPT, config)
        body = script.asked[-1][2]
        assert (body["mirostat"], body["mirostat_tau"], body["dry_base"]) == (2, 3.0, 2.0)
        assert body["dry_sequence_breakers"] == ["\n", ":", '"', "*"]
        for kind, config, sentence in runs:
            model = load_model(FORMS[kind].format(url=url))
            with pytest.raises(ConfigError, match=sentence):
                collect(model, PROMPT, config)
        model = load_model(FORMS["vllm"].format(url=url))
        collect(model, PROMPT, ByEngine(max_new_tokens=2, thinking_token_budget=64))
        assert script.asked[-1][2]["thinking_token_budget"] == 64
    with pytest.raises(ConfigError, match="a model on a server"):
        collect(local(), PROMPT, ByEngine())


def _wrong(handler: servers.Handler, answer: Any) -> bool:
    handler.send_text(str(answer).replace("token_id:", "token_id:9").encode())
    return True


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (faults.status(503), "busy or broken"),
        (faults.status(400), "refuses the request"),
        (faults.text(b"data: {"), "ended the run before its length"),
        (faults.text(b"data: {\n"), "half a JSON text"),
        (faults.text(b'data: {"error": {"message": "no memory"}}\n'), "fails: no memory"),
        (faults.text(b'data: {"choices": [{"logprobs": {"tokens": [1]}}]}\n'), "no log-prob"),
        (
            faults.text(
                b'data: {"choices": [{"logprobs": {"tokens": ["token_id:1"], '
                b'"token_logprobs": [-1], "top_logprobs": [[1]]}}]}\n'
            ),
            "no log-prob",
        ),
        (faults.text(b" " * 9_000_000), "answers with more than"),
        (_wrong, "beyond the 4,096"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_false_server_gets_one_sentence(
    vllm: tuple[Any, Script], fault: servers.Fault, sentence: str
) -> None:
    model, script = vllm
    script.fail(fault)
    with pytest.raises(LostModelError, match=sentence):
        collect(model, PROMPT, ByEngine(max_new_tokens=4))


@pytest.mark.parametrize("said", [b"5", b'[{"id": [1], "logprob": -1}]', b'[{"id": 1}]', b"[5]"])
def test_a_false_llama_cpp_gets_one_sentence_too(said: bytes) -> None:
    with serving() as (url, script):
        model = load_model(FORMS["llamacpp"].format(url=url))
        script.fail(faults.text(b'data: {"completion_probabilities": ' + said + b"}\n"))
        with pytest.raises(LostModelError, match="The server of"):
            collect(model, PROMPT, ByEngine(max_new_tokens=4))
        script.counters = "vllm:num_requests_waiting 1e\nvllm:num_requests_waiting 1e999\n"
        assert model.waiting() is None


def _first_event_only(handler: servers.Handler, answer: Any) -> bool:
    handler.send_text(str(answer).split("\n\n")[0].encode() + b"\n\n")
    return True


def test_one_token_is_kept_where_the_server_breaks_off_behind_it(vllm: tuple[Any, Script]) -> None:
    model, script = vllm
    script.fail(_first_event_only)
    trace = collect(model, PROMPT, ByEngine(max_new_tokens=4))
    assert len(trace.token_ids) == 1 and trace.finish_reason == "cancelled"
    assert "ended the run before its length" in trace.notes[-1].words


def test_numbers_after_the_server_s_own_cut_are_whole() -> None:
    with serving(Script(processed=True)) as (url, _):
        model = load_model(FORMS["vllm"].format(url=url))
        shaping = Shaping(top_k=5)
        trace = collect(model, PROMPT, ByEngine(max_new_tokens=4, shaping=shaping))
    step = trace.token_steps[0]
    assert sum(c.raw_prob > 0 for c in step.candidates) == 5 < len(step.candidates)
    assert step.tail_mass == 0 and all(outcome.passed for outcome in check(trace))


def test_the_first_token_ends_the_time_of_the_prompt(vllm: tuple[Any, Script]) -> None:
    trace = collect(vllm[0], PROMPT, ByEngine(max_new_tokens=2))
    first, second = trace.token_steps
    timings = trace.timings
    assert timings.prefill >= first.seconds.total and timings.decode >= second.seconds.total > 0
    assert trace.tokens_per_second == pytest.approx(1 / timings.decode)
    figure = timing([("run", trace)])
    names = ("prefill", "forward", "shaping", "draw", "other")
    parts = [trace_named(figure, name).x[0] for name in names]
    assert sum(parts) == pytest.approx(1000 * (timings.prefill + timings.decode))
    assert "needs no forward" not in figure.to_json()


def test_figures_say_that_the_server_drew(vllm: tuple[Any, Script]) -> None:
    trace = collect(vllm[0], PROMPT, ByEngine(max_new_tokens=2))
    step = trace.token_steps[0]
    stages, bars = step_stages(step, trace), candidate_bars(step, trace)
    assert "the server's draw: by its own settings" in stages.to_json()
    assert "The server drew" in bars.to_json() and "removed" not in bars.to_json()
    assert [item.name for item in bars.data] == ["raw"]
    forged = replace(trace, steps=(replace(step, origin="sampled"), *trace.steps[1:]))
    assert not all(item.passed for item in check(forged))
