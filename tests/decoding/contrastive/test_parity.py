"""Contrastive search against the same search over transformers' own hidden states, uncached."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch.nn import functional as F

from core import ContrastiveSearch, Greedy, Shaping, collect
from core.decoding.errors import DecodingError
from core.models.scripted import ScriptedContext, ScriptedModel
from tests.models.builders import forward_shapes, random_language_model

KINDS = ("llama", "gpt2", "qwen2")
PROMPT = [40, 7, 133, 52, 9]


@torch.inference_mode()
def _plain(model, prompt: list[int], count: int, alpha: float, k: int):
    """Ids, and for each step the candidates' ids, probabilities, penalties and scores."""
    ids, steps = list(prompt), []
    for _ in range(count):
        output = model(input_ids=torch.tensor([ids]), use_cache=False, output_hidden_states=True)
        probs, top = torch.softmax(output.logits[0, -1], -1).topk(k)
        before, rows = output.hidden_states[-1][0], []
        for prob, token_id in zip(probs, top.tolist(), strict=True):
            longer = torch.tensor([[*ids, token_id]])
            hidden = model(input_ids=longer, use_cache=False, output_hidden_states=True)
            new = hidden.hidden_states[-1][0, -1]
            penalty = F.cosine_similarity(before, new[None]).max()
            rows.append((token_id, *map(float, (prob, penalty))))
        steps.append([(*row, (1 - alpha) * row[1] - alpha * row[2]) for row in rows])
        ids.append(max(steps[-1], key=lambda row: row[3])[0])
        if ids[-1] == 0:
            break
    return ids[len(prompt) :], steps


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("alpha", "k"), [(0.6, 4), (0.2, 7), (1.0, 2)])
def test_tokens_and_scores_equal_a_plain_loop(kind, alpha, k) -> None:
    models = [random_language_model(kind, fuse_single_tokens=fused) for fused in (True, False)]
    ids, expected = _plain(models[0].hf_model, PROMPT, 12, alpha, k)
    for model, use_cache in product(models, (True, False)):
        config = ContrastiveSearch(
            max_new_tokens=12, penalty_alpha=alpha, contrastive_top_k=k, use_cache=use_cache
        )
        trace = collect(model, PROMPT, config)
        assert list(trace.token_ids) == ids
        for step, rows in zip(trace.token_steps, expected, strict=True):
            assert [token.token_id for token in step.compared] == [row[0] for row in rows]
            for token, row in zip(step.compared, rows, strict=True):
                assert (token.prob, token.penalty, token.score) == pytest.approx(row[1:], abs=2e-6)
            assert (step.origin, step.draw.method) == ("argmax", "argmax")


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_penalty_for_likeness_it_is_greedy(kind) -> None:
    model, shaping = random_language_model(kind), Shaping(repetition_penalty=1.2)
    shared = {"max_new_tokens": 15, "min_new_tokens": 3, "shaping": shaping}
    greedy = collect(model, PROMPT, Greedy(**shared))
    trace = collect(model, PROMPT, ContrastiveSearch(penalty_alpha=0.0, **shared))
    assert trace.token_ids == greedy.token_ids
    assert trace.text == greedy.text
    assert [s.stages[-3].kept for s in trace.token_steps] == [
        s.stages[-3].kept for s in greedy.token_steps
    ]


def test_a_step_runs_its_candidates_in_one_forward_and_keeps_the_chosen_ones() -> None:
    model = random_language_model("llama")
    shapes, model.eos_ids = forward_shapes(model), frozenset()
    collect(model, PROMPT, ContrastiveSearch(max_new_tokens=5))
    # The prompt runs twice: its hidden states are not those of its pieces.
    assert shapes == [(1, 5), (1, 5), *[(4, 1)] * 5]


def test_a_token_that_was_written_costs_as_much_as_alpha_in_the_scripted_model() -> None:
    """There a token's hidden state is its own one-hot vector, so its cosine is 1 or 0."""
    model = ScriptedModel({(): [0.0, 0.5, 0.3, 0.2]}, tokens=["<end>", "a", "b", "c"])
    config = ContrastiveSearch(max_new_tokens=3, contrastive_top_k=3, penalty_alpha=0.4)
    trace = collect(model, "a", config)
    assert trace.text == "bca"
    first = trace.token_steps[0].compared or ()
    assert [token.penalty for token in first] == [1.0, 0.0, 0.0]
    assert [token.score for token in first] == pytest.approx([0.3 - 0.4, 0.18, 0.12])


def test_banned_tokens_are_no_candidates() -> None:
    model = ScriptedModel({(): [0.7, 0.3, 0.0, 0.0]}, tokens=["<end>", "a", "b", "c"])
    trace = collect(model, "a", ContrastiveSearch(max_new_tokens=2, min_new_tokens=2))
    assert [[token.text for token in step.compared or ()] for step in trace.token_steps] == [
        ["a"]
    ] * 2


def test_a_model_without_hidden_states_is_refused(monkeypatch) -> None:
    monkeypatch.delattr(ScriptedContext, "extend_hidden")
    model = ScriptedModel({(): [0.0, 0.5, 0.5]}, tokens=["<end>", "a", "b"])
    with pytest.raises(DecodingError, match="scripted doesn't give its hidden states"):
        collect(model, "a", ContrastiveSearch())
