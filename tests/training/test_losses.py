"""Documents of a row don't see each other, and the losses are what their formulas say."""

import math

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from training.losses import distillation_loss, lay_out, logits_of, next_token_loss
from training.rows import IGNORED

END = 0
ROW = torch.tensor([[3, 4, 5, END, 6, 7, END, 8]])


@pytest.fixture(scope="module")
def model() -> LlamaForCausalLM:
    torch.manual_seed(0)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=12, intermediate_size=32, **sizes)).eval()


def test_positions_begin_anew_only_where_documents_are_apart() -> None:
    positions, mask = lay_out(ROW, END, apart=True)
    assert positions.tolist() == [[0, 1, 2, 3, 0, 1, 2, 0]]
    assert (mask[0, 0, 5] == 0).tolist() == [False] * 4 + [True] * 2 + [False] * 2
    positions, mask = lay_out(ROW, END, apart=False)
    assert positions.tolist() == [list(range(8))]
    assert (mask[0, 0, 5] == 0).tolist() == [True] * 6 + [False] * 2


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_a_document_apart_has_the_logits_that_it_has_alone(
    model: LlamaForCausalLM, attention: str
) -> None:
    model.set_attn_implementation(attention)
    with torch.no_grad():
        together = logits_of(model, ROW, lay_out(ROW, END, apart=True))
        alone = model(ROW[:, 4:7]).logits
        one_text = logits_of(model, ROW, lay_out(ROW, END, apart=False))
        assert torch.allclose(together[:, 4:7], alone, atol=1e-6)
        assert torch.allclose(one_text, model(ROW).logits, atol=1e-6)


def test_only_learned_tokens_count() -> None:
    logits = torch.zeros(1, 4, 5)
    logits[0, 1, 2] = 9.0
    labels = torch.tensor([[1, IGNORED, 2, IGNORED]])
    expected = -math.log(math.exp(9) / (math.exp(9) + 4))
    assert next_token_loss(logits, labels).item() == pytest.approx(expected, rel=1e-3)


def test_a_draft_equal_to_its_teacher_has_no_divergence() -> None:
    torch.manual_seed(1)
    logits, labels = torch.randn(1, 6, 5), torch.tensor([[1, 2, IGNORED, 3, 4, 0]])
    assert distillation_loss(logits, logits, labels, 0.0).item() == pytest.approx(0, abs=1e-6)
    truth = next_token_loss(logits, labels).item()
    assert distillation_loss(logits, logits, labels, 0.5).item() == pytest.approx(truth / 2)


def test_the_divergence_is_of_the_teacher_from_the_draft() -> None:
    ours, theirs = torch.tensor([[[0.5, 0.5]] * 2]).log(), torch.tensor([[[0.9, 0.1]] * 2]).log()
    labels = torch.tensor([[0, 1]])
    expected = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    assert distillation_loss(ours, theirs, labels, 0.0).item() == pytest.approx(expected, rel=1e-5)
