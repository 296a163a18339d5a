"""Runs of one prompt by several methods: probabilities and costs equal independent measurements."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
import torch

from core import BeamSearch, Greedy, Sampling, Shaping, Speculative, collect
from core.decoding.config import MethodConfig
from core.decoding.errors import ConfigError
from core.decoding.many.methods import cost_of, send_methods, tokens_of, whole_text
from core.decoding.record.trace import Trace
from core.evaluation.plan.counted import Counted
from core.models.scripted import ScriptedModel
from tests.models.builders import random_language_model

TOKENS = 9
SHAPING = Shaping(temperature=0.9, top_p=0.9)
CONFIGS: dict[str, MethodConfig] = {
    "greedy": Greedy(max_new_tokens=TOKENS),
    "sampling": Sampling(max_new_tokens=TOKENS, shaping=SHAPING, seed=3),
    "beam": BeamSearch(num_beams=3, max_new_tokens=TOKENS),
    "speculative": Speculative(max_new_tokens=TOKENS, draft_length=3, shaping=SHAPING, seed=4),
    "lookup": Speculative(max_new_tokens=TOKENS, drafter="prompt_lookup", shaping=SHAPING),
}
PROMPT = "Once upon a time there was a small red fox."


@cache
def models() -> tuple[Counted, Counted]:
    return Counted(random_language_model("llama")), Counted(random_language_model("llama", seed=1))


def run(config: MethodConfig) -> tuple[Trace, int, int]:
    """A run, and the forwards that both models made."""
    target, draft = models()
    target.forwards = draft.forwards = 0
    drafts = getattr(config, "drafter", "") == "model"
    trace = collect(target, PROMPT, config, draft=draft if drafts else None)  # type: ignore[arg-type]
    return trace, target.forwards, draft.forwards


@pytest.mark.parametrize("name", CONFIGS)
def test_tokens_have_the_model_s_own_probabilities_by_whatever_method(name: str) -> None:
    trace, *_ = run(CONFIGS[name])
    tokens = tokens_of(trace)
    assert tuple(token.token_id for token in tokens) == trace.token_ids
    context = models()[0].start(trace.prompt_ids[:-1])
    logits = context.extend([trace.prompt_ids[-1], *trace.token_ids[:-1]])[0]
    logprobs = torch.log_softmax(logits.double(), -1)
    expected = [float(row[token]) for row, token in zip(logprobs, trace.token_ids, strict=True)]
    assert [token.raw_prob for token in tokens] == pytest.approx(
        [torch.tensor(value).exp().item() for value in expected], rel=1e-4
    )
    assert cost_of(trace).logprob == pytest.approx(sum(expected), abs=1e-3)


@pytest.mark.parametrize("name", CONFIGS)
def test_forward_passes_are_those_that_the_models_made(name: str) -> None:
    trace, target, draft = run(CONFIGS[name])
    cost = cost_of(trace)
    assert (cost.forwards, cost.draft_forwards) == (target, draft)
    assert cost.tokens == len(trace.token_ids) and cost.seconds == trace.timings.total
    beams = 3 if name == "beam" else 1
    assert cost.rows == 1 + beams * (cost.forwards - 1)


def test_the_runs_equal_those_of_the_methods_alone_and_carry_their_checks() -> None:
    target, draft = models()
    configs = [CONFIGS[name] for name in ("greedy", "sampling", "beam", "speculative")]
    made: dict[int, Trace] = {}
    steps: list[int] = []
    lacking = send_methods(
        target,  # type: ignore[arg-type]
        PROMPT,
        configs,
        draft=draft,  # type: ignore[arg-type]
        on_trace=made.__setitem__,
        on_tokens=steps.append,
    )
    assert lacking == ("",) * 4 and list(made) == [0, 1, 2, 3] and max(steps) >= TOKENS
    for place, config in enumerate(configs):
        alone, *_ = run(config)
        assert made[place].token_ids == alone.token_ids
        assert made[place].checks and all(check.passed for check in made[place].checks)


def test_a_method_that_the_model_refuses_is_left_out_with_its_sentence() -> None:
    target, _ = models()
    configs = [CONFIGS["greedy"], CONFIGS["speculative"], CONFIGS["sampling"]]
    made: dict[int, Trace] = {}
    lacking = send_methods(target, PROMPT, configs, on_trace=made.__setitem__)  # type: ignore[arg-type]
    assert list(made) == [0, 2]
    assert lacking[0] == lacking[2] == "" and "needs a draft model" in lacking[1]
    with pytest.raises(ConfigError, match="needs a draft model"):
        send_methods(target, PROMPT, configs[1:2], on_trace=made.__setitem__)  # type: ignore[arg-type]


def test_a_stop_ends_the_run_under_way_and_begins_no_other() -> None:
    target, _ = models()
    made: dict[int, Trace] = {}
    config = replace(CONFIGS["greedy"], max_new_tokens=5)
    send_methods(
        target,  # type: ignore[arg-type]
        PROMPT,
        [config] * 4,
        on_trace=made.__setitem__,
        should_stop=lambda: len(made) == 1,
    )
    assert list(made) == [0]


@pytest.mark.parametrize(
    "config", [Greedy(max_new_tokens=6), BeamSearch(num_beams=1, max_new_tokens=6)]
)
def test_bytes_that_form_no_character_are_named_in_the_text_of_a_run(config) -> None:
    tokens = ("<end>", "a", b"\xe6", b"\x98", b"\x94", b"\xec", " b")
    then = {1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 0}
    rows = {(at,): [float(to == token) for token in range(7)] for at, to in then.items()}
    run = collect(ScriptedModel(rows, tokens=tokens), [1], config)
    assert run.text == "昔\ufffd b" and run.finish_reason == "eos"
    assert whole_text(run) == "昔<EC> b"
