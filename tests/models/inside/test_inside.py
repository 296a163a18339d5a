"""The last layer's reading is the model's own; attention adds up to one."""

from __future__ import annotations

import pytest
import torch

from core import Greedy, collect, load_model
from core.cli.main import main
from core.decoding.errors import ModelError
from core.models.inside import TOLERANCE, attention, logit_lens
from core.models.transformers_model import TransformersModel
from tests.depth import mostly_slow
from tests.models.builders import KINDS, OFTEN, random_model, tiny_tokenizer


def loaded(kind: str) -> TransformersModel:
    return TransformersModel(random_model(kind), tiny_tokenizer(), model_id=kind)


@pytest.mark.parametrize("kind", mostly_slow(KINDS, OFTEN))
def test_the_last_reading_is_the_models_own(kind: str) -> None:
    model = loaded(kind)
    ids = model.encode("the fox had a hat")
    lens = logit_lens(model, ids)
    with torch.inference_mode():
        logits = model.hf_model(input_ids=torch.tensor([ids])).logits[0].float()
    probs = logits.softmax(dim=-1)
    assert lens.layers == ("embedding", "1", "2")
    for at, position in enumerate(lens.positions):
        last = position.cells[-1]
        assert position.token_id == ids[at]
        assert last.token_id == int(logits[at].argmax())
        assert last.prob == pytest.approx(float(probs[at].max()), abs=1e-4)
        assert last.rank == 1 + int((logits[at] > logits[at, position.next_id]).sum())
    assert [position.next_id for position in lens.positions[:-1]] == ids[1:]
    assert lens.deviation <= TOLERANCE * max(1.0, float(logits.abs().max()))


def test_a_token_is_decided_from_where_it_stays_the_likeliest() -> None:
    model = load_model("embedded:target")
    trace = collect(model, "Once upon a time", Greedy(max_new_tokens=8))
    ids = [*trace.prompt_ids, *trace.token_ids]
    generated = logit_lens(model, ids).positions[len(trace.prompt_ids) - 1 : -1]
    assert tuple(position.next_id for position in generated) == trace.token_ids
    for position, step in zip(generated, trace.token_steps, strict=True):
        assert position.cells[-1].rank == 1
        assert position.cells[-1].prob == pytest.approx(step.chosen.raw_prob, abs=1e-4)
        ranks = [cell.rank for cell in position.cells]
        assert set(ranks[position.decided :]) == {1} and ranks[position.decided - 1] > 1
    # One of them is the likeliest after an early layer already, and then isn't again.
    assert any(
        1 in [cell.rank for cell in position.cells[: position.decided]] for position in generated
    )


def test_a_model_without_such_a_reading_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    model = loaded("llama")
    monkeypatch.setattr(model.hf_model.config, "final_logit_softcapping", 0.01, raising=False)
    with pytest.raises(ModelError, match="can't be read layer by layer"):
        logit_lens(model, model.encode("the fox"))


@pytest.mark.parametrize("kind", mostly_slow(KINDS, OFTEN))
def test_attention_adds_up_to_one_and_the_model_is_as_it_was(kind: str) -> None:
    model = loaded(kind)
    before = model.hf_model.config._attn_implementation
    ids = model.encode("the fox had a hat")
    reading = attention(model, ids, 3)
    assert reading.texts == tuple(map(model.token_text, ids[:4]))
    assert [len(layer) for layer in reading.weights] == [4, 4]
    for row in (row for layer in reading.weights for row in layer):
        assert len(row) == 4
        assert sum(row) == pytest.approx(1.0, abs=1e-5)
        assert min(row) >= 0
    assert model.hf_model.config._attn_implementation == before


def test_the_command_prints_a_line_for_each_position(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lens", "--prompt", "The capital of France is", "--attention", "5"]) == 0
    table, _, heads = capsys.readouterr().out.partition("\n\n")
    header, *lines = table.splitlines()
    assert header.split()[:3] == ["at", "token", "embedding"]
    assert [line.split()[0] for line in lines] == ["1", "2", "3", "4", "5"]
    assert "' Paris'" in lines[-1]
    assert heads.startswith("Position 5 looks at")
    assert len(heads.splitlines()) == 1 + 6 * 4


def test_a_position_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lens", "--prompt", "The capital", "--attention", "9"]) == 2
    assert "from 1 to 2, got 9" in capsys.readouterr().err
