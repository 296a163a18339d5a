"""A forward's modules: shapes and sizes are arithmetic, and the logits are the model's own."""

from __future__ import annotations

import pytest
import torch

from core.models.inside import logit_lens
from core.models.running.modules import watch_forward
from tests.depth import mostly_slow
from tests.models.builders import KINDS, OFTEN
from tests.models.inside.test_inside import loaded


@pytest.mark.parametrize("kind", mostly_slow(KINDS, OFTEN))
def test_the_prompt_and_one_token_differ_in_rows_alone(kind: str) -> None:
    model = loaded(kind)
    ids = model.encode("the fox had a hat")
    prompt, _ = watch_forward(model, [], ids)
    single, logits = watch_forward(model, ids[:-1], ids[-1:])
    with torch.inference_mode():
        expected = model.hf_model(input_ids=torch.tensor([ids])).logits[0, -1].float()
    assert torch.allclose(logits, expected, atol=1e-4)
    assert (prompt.tokens, single.tokens) == (len(ids), 1)
    parts = [run.part for run in prompt.modules]
    assert parts.count("attention") == parts.count("mlp") == 2
    assert parts[0] == "embedding" and parts[-1] == "head"
    inside = [(run, one_run) for run, one_run in zip(prompt.modules, single.modules, strict=True)
              if run.part in ("attention", "mlp")]  # fmt: skip
    for run, one_run in inside:
        assert run.taken == run.given == (1, len(ids), run.taken[-1])
        assert one_run.taken == one_run.given == (1, 1, run.taken[-1])


def test_the_cache_grows_by_keys_and_values_of_each_token() -> None:
    model = loaded("llama")
    ids = model.encode("the fox had a hat")
    config = model.hf_model.config
    a_token = 2 * 4 * config.num_hidden_layers * config.num_key_value_heads * config.head_dim
    prompt, _ = watch_forward(model, [], ids)
    single, _ = watch_forward(model, ids, [1])
    assert prompt.before == (0, 0)
    assert prompt.after == single.before == (len(ids), a_token * len(ids))
    assert single.after == (len(ids) + 1, a_token * (len(ids) + 1))


def test_without_the_cache_all_tokens_go_through_again() -> None:
    model = loaded("llama")
    ids = model.encode("the fox had a hat")
    cached, logits = watch_forward(model, ids, [1])
    alone, again = watch_forward(model, ids, [1], use_cache=False)
    assert (cached.tokens, alone.tokens) == (1, len(ids) + 1)
    assert alone.after == (0, 0)
    assert next(run for run in alone.modules if run.part == "attention").taken[1] == len(ids) + 1
    assert torch.allclose(logits, again, atol=1e-4)


def test_parameters_are_the_modules_own_and_nothing_is_left_behind() -> None:
    model = loaded("llama")
    forward, _ = watch_forward(model, [], [1, 2])
    named = dict(model.hf_model.named_modules())
    for run in forward.modules:
        assert run.parameters == sum(w.numel() for w in named[run.name].parameters())
        assert not named[run.name]._forward_hooks and not named[run.name]._forward_pre_hooks
        assert run.seconds > 0
    assert model._fused is not None


def test_the_lens_reads_the_last_positions_alone_and_ranks_what_came_out() -> None:
    model = loaded("llama")
    ids = model.encode("the fox had a hat")
    whole, part = logit_lens(model, ids), logit_lens(model, ids, first=2, next_id=7)
    assert part.first == 2 and len(part.positions) == len(ids) - 2
    assert part.positions[0].token_id == ids[2] and part.positions[-1].next_id == 7
    for expected, read in zip(whole.positions[2:], part.positions, strict=True):
        assert [c.token_id for c in expected.cells] == [c.token_id for c in read.cells]
        assert [c.prob for c in expected.cells] == pytest.approx(
            [c.prob for c in read.cells], abs=1e-5
        )
    with torch.inference_mode():
        logits = model.hf_model(input_ids=torch.tensor([ids])).logits[0, -1]
    assert part.positions[-1].cells[-1].rank == 1 + int((logits > logits[7]).sum())


def test_attention_that_would_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from core.decoding.errors import ModelError
    from core.models import inside

    monkeypatch.setattr(inside, "MOST_BYTES", 100)
    with pytest.raises(ModelError, match="more memory"):
        inside.attention(loaded("llama"), [1, 2, 3], 2)
