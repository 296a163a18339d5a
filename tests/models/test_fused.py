"""The fused step of a few tokens gives transformers' logits, and is used only where it does."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from core.models.fused.body import Body
from core.models.fused.check import fused_step
from core.models.fused.step import FusedStep
from core.models.transformers_model import TransformersModel
from tests.depth import mostly_slow
from tests.models.builders import SLIDING_WINDOW, random_language_model, random_model

IDS = [(7 * place + 3) % 299 + 1 for place in range(200)]
FUSED = {
    "llama": {},
    "llama with a head per key": {"num_key_value_heads": 4},
    "llama with untied weights": {"tie_word_embeddings": False},
    "llama with long heads": {"head_dim": 16},
    "llama with scaled positions": {
        "rope_parameters": {"rope_type": "linear", "factor": 2.0, "rope_theta": 10000.0}
    },
    "qwen2": {},
    "mistral": {"sliding_window": None},
    "qwen3": {},
    "phi3": {},
    "phi3 turned in part": {
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.5,
        },
    },
    "smollm3": {},
    "olmo2": {},
    "olmo3": {},
    "gemma": {},
    "gemma2": {
        "sliding_window": 512,
        "attn_logit_softcapping": 2.0,
        "final_logit_softcapping": 5.0,
    },
    "gemma3_text": {"sliding_window": 512},
    "granite": {},
    "nemotron": {},
    "starcoder2": {},
    "phi": {},
    "stablelm": {},
    "stablelm in parallel": {"use_parallel_residual": True},
    "gpt_neox": {},
    "gpt_neox in sequence": {"use_parallel_residual": False},
    "gpt2": {},
    "llama with biases": {"attention_bias": True, "mlp_bias": True},
    "llama with another activation": {"hidden_act": "gelu"},
}
# One for each kind of layer: norms, biases, heads, turned positions, soft caps, order of blocks.
KINDS = {"llama", "phi3 turned in part", "qwen3", "olmo2", "gemma2", "stablelm in parallel", "gpt2"}
NOT_FUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "another block": ("mixtral", {"num_key_value_heads": 2}),
    "another activation": ("llama", {"hidden_act": "tanh"}),
    "norms that the family has not": ("stablelm", {"qk_layernorm": True}),
    "positions that depend on the length": (
        "llama",
        {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 10000.0}},
    ),
}


@pytest.fixture(scope="module", params=mostly_slow(FUSED, KINDS))
def model(request: pytest.FixtureRequest) -> TransformersModel:
    return random_language_model(request.param.split()[0], **FUSED[request.param])


def _expected(model: TransformersModel, *paths: list[int]) -> torch.Tensor:
    """The next logits of paths of one length: `[path, vocab]`, of a single one `[vocab]`."""
    with torch.inference_mode():
        logits: torch.Tensor = model.hf_model(input_ids=torch.tensor(paths)).logits
    return logits[:, -1] if len(paths) > 1 else logits[0, -1]


def test_two_hundred_fused_steps_give_transformers_logits(model: TransformersModel) -> None:
    assert model._fused is not None
    context = model.start(IDS[:2])
    for at, token in enumerate(IDS[2:], start=3):
        logits = context.extend([token])[0, -1]
        if at % 33 == 0:
            expected = _expected(model, IDS[:at])
            torch.testing.assert_close(logits, expected, rtol=0, atol=2e-5)


def test_a_fused_step_after_a_rollback_and_a_branch(model: TransformersModel) -> None:
    context = model.start(IDS[:6])
    context.extend([1])
    context.extend([2])
    context.rollback(2)
    branched = context.branch([0])
    for held in (context, branched):
        logits = held.extend([IDS[6]])[0, -1]
        torch.testing.assert_close(logits, _expected(model, IDS[:7]), rtol=0, atol=2e-5)


@pytest.mark.parametrize("rows", [2, 16])
def test_fused_steps_of_several_rows_give_transformers_logits(
    model: TransformersModel, rows: int
) -> None:
    context = model.start(IDS[:6]).branch([0] * rows)
    paths = [list(IDS[:6]) for _ in range(rows)]
    for at in range(8):
        new = [IDS[20 + 7 * row + at] for row in range(rows)]
        logits = context.extend([[token] for token in new])[:, 0]
        order = [(3 * row + at) % rows for row in range(rows)]
        paths = [[*path, token] for path, token in zip(paths, new, strict=True)]
        expected = _expected(model, paths[0], paths[-1])
        torch.testing.assert_close(logits[[0, -1]], expected, rtol=0, atol=2e-5)
        context.reorder(order)
        paths = [paths[row] for row in order]


@pytest.mark.parametrize(("added", "rows"), [(2, 3), (5, 1), (65, 3)])
def test_fused_steps_of_several_tokens_give_transformers_logits_at_every_position(
    model: TransformersModel, added: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = model.start(IDS[:6]).branch([0] * rows)
    new = [IDS[20 + 7 * row : 20 + 7 * row + added] for row in range(rows)]
    with monkeypatch.context() as patched:
        # Nothing goes through transformers.
        patched.setattr(model.hf_model, "forward", None)
        logits = context.extend(new)
        context.rollback(added - 1)
        again = context.extend([row[1:] for row in new])
    with torch.inference_mode():
        ids = torch.tensor([IDS[:6] + row for row in new])
        expected = model.hf_model(input_ids=ids).logits[:, 6:]
    torch.testing.assert_close(logits, expected, rtol=0, atol=2e-5)
    torch.testing.assert_close(again, expected[:, 1:], rtol=0, atol=2e-5)


@pytest.mark.parametrize("kind", ["mistral", "gemma3_text"])
def test_what_is_longer_than_a_sliding_window_goes_through_transformers(kind: str) -> None:
    model = random_language_model(kind)
    assert model._fused is not None and model._fused.body.most_length == SLIDING_WINDOW
    context = model.start(IDS[:2])
    for at, token in enumerate(IDS[2 : 2 * SLIDING_WINDOW], start=3):
        logits = context.extend([token])[0, -1]
        torch.testing.assert_close(logits, _expected(model, IDS[:at]), rtol=0, atol=2e-5)


def test_one_token_has_a_way_of_its_own_that_one_thread_takes_at_a_time() -> None:
    model = random_language_model("llama")
    assert model._fused is not None and model._fused.one_token is not None
    alone = model.start(IDS[:4]).extend([9])
    with model._fused.one_token.lock:
        meanwhile = model.start(IDS[:4]).extend([9])
    torch.testing.assert_close(alone, meanwhile, rtol=0, atol=2e-5)
    assert not model._fused.one_token.lock.locked()


@pytest.mark.parametrize("length", [1, 65])
def test_a_short_prompt_is_fused_and_gives_transformers_logits_at_every_position(
    model: TransformersModel, length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces: list[torch.Tensor] = []
    assert model.supports_cache  # Found out through transformers.
    with monkeypatch.context() as patched:
        patched.setattr(model.hf_model, "forward", None)
        context = model.start(IDS[:length], on_logits=lambda _, logits: pieces.append(logits))
        last = model.start(IDS[:length]).logits
    with torch.inference_mode():
        expected = model.hf_model(input_ids=torch.tensor([IDS[:length]])).logits[0]
    torch.testing.assert_close(torch.cat(pieces), expected, rtol=0, atol=2e-5)
    torch.testing.assert_close(last, expected[-1:], rtol=0, atol=2e-5)
    logits = context.extend([9])[0, -1]
    torch.testing.assert_close(logits, _expected(model, [*IDS[:length], 9]), rtol=0, atol=2e-5)


@pytest.mark.parametrize("why", NOT_FUSED)
def test_other_models_run_through_transformers(why: str) -> None:
    kind, changes = NOT_FUSED[why]
    model = random_language_model(kind, **changes)
    assert model._fused is None
    context = model.start(IDS[:4])
    torch.testing.assert_close(
        context.extend([9])[0, -1], _expected(model, [*IDS[:4], 9]), rtol=0, atol=2e-5
    )


_mixed, _rotation, _step = FusedStep._mixed, Body.rotation, FusedStep.__call__


@pytest.mark.parametrize(
    ("owner", "name", "wrong"),
    [
        (FusedStep, "_mixed", lambda self, q, k, v, _, scale: _mixed(self, q, k, v, None, scale)),
        (Body, "rotation", lambda self, kind, at, n, _=None: _rotation(self, kind, 2 * at, n)),
        (
            FusedStep,
            "__call__",
            lambda self, ids, cache: _step(self, ids[:1].expand_as(ids), cache),
        ),
    ],
    ids=["sees later positions", "turns wrongly", "differs with several rows"],
)
def test_a_step_that_would_differ_is_not_used(
    owner: type, name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(owner, name, wrong)
    assert fused_step(random_model("llama"), ["full_attention"] * 2) is None


def test_joining_the_weights_keeps_their_values() -> None:
    plain, joined = random_model("qwen2"), random_model("qwen2")
    assert fused_step(joined, ["full_attention"] * 2) is not None
    for (name, before), (_, after) in zip(
        plain.named_parameters(), joined.named_parameters(), strict=True
    ):
        assert torch.equal(before, after), name
