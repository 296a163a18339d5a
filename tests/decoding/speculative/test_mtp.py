"""A model's own multi-token-prediction layers as a draft, against transformers' `use_mtp`."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, GenerationConfig
from transformers.generation.candidate_generator import MTPCandidateGenerator

from core import (
    ModelError,
    RecordGenerate,
    Sampling,
    Shaping,
    Speculative,
    Trace,
    TraceError,
    check,
    collect,
    from_generate,
    from_transformers,
    load_model,
    read_trace,
)
from core.cli.main import main
from core.decoding.speculative.analysis.rejections import rejections
from core.decoding.speculative.measurement.baseline import target_only
from core.figures.base.labels import percent
from core.figures.speculative.drafts.origins import origin_words
from core.models.transformers_model import TransformersModel
from tests.decoding.speculative.speculations import (
    drafting,
    random_config,
    random_prompt,
    scripted,
    target,
)
from tests.decoding.speculative.test_exact import TARGET_OF_TWO, distance, enumerate_runs
from tests.depth import mostly_slow, slow
from tests.models.builders import tiny_tokenizer
from tests.models.mtp_models import MTP_KINDS, mtp_folder

# The model's depth is that of the released files.
_DEEP = ("deepseek_v3", "glm4_moe")
KINDS = ["step3p7", "inkling_text", "mellum"]
KINDS += [pytest.param(name, marks=pytest.mark.slow) for name in _DEEP]
GREEDY = Shaping(temperature=0.0)
# Quick to run, with three layers, two, and one.
SMALL = ("step3p7", "inkling_text", "mellum")
NEW, PROMPT = 14, [20, 30, 40, 50, 60, 70, 80, 90]


@cache
def model_of(name: str) -> TransformersModel:
    folder = mtp_folder(name, Path(mkdtemp()))
    auto = AutoModelForImageTextToText if name == "step3p7" else AutoModelForCausalLM
    model = from_transformers(auto.from_pretrained(folder), tiny_tokenizer(), model_id=name)
    model.eos_ids = frozenset()
    return model


def generated(model: TransformersModel, prompt: list[int], **settings: object) -> list[int]:
    ids = torch.tensor([prompt])
    output = model.hf_model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=NEW,
        do_sample=False,
        eos_token_id=299,
        pad_token_id=299,
        **settings,
    )
    return output[0, len(prompt) :].tolist()


@pytest.fixture
def candidates(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[int, ...], list[int]]:
    """What transformers' own generator drafts after each text, from now on."""
    found: dict[tuple[int, ...], list[int]] = {}
    draft = MTPCandidateGenerator.get_candidates

    def recorded(generator, input_ids, *rest, **options):
        ids, logits = draft(generator, input_ids, *rest, **options)
        found[tuple(input_ids[0].tolist())] = ids[0, input_ids.shape[1] :].tolist()
        return ids, logits

    monkeypatch.setattr(MTPCandidateGenerator, "get_candidates", recorded)
    return found


def by_text(trace: Trace) -> dict[tuple[int, ...], list[int]]:
    """What was drafted after each text."""
    return {
        (*trace.prompt_ids, *trace.token_ids[: step.start]): [t.token_id for t in step.drafted]
        for step in trace.rounds
    }


@pytest.mark.parametrize("name", KINDS)
def test_each_round_drafts_and_emits_what_transformers_does(name: str, candidates) -> None:
    """The first token is transformers' too: it drafts from the second round on."""
    model, layers = model_of(name), MTP_KINDS[name].layers
    emitted = generated(model, PROMPT, use_mtp=True)
    assert emitted == generated(model, PROMPT)
    config = Speculative(drafter="mtp", draft_length=layers, max_new_tokens=NEW - 1, shaping=GREEDY)
    trace = collect(model, [*PROMPT, emitted[0]], config)
    assert [emitted[0], *trace.token_ids] == emitted
    drafted = by_text(trace)
    # The same texts are those of the same rounds, so that each accepted as many.
    assert [*drafted] == [text for text in candidates if len(text) > len(PROMPT)]
    for text, token_ids in drafted.items():
        # Transformers drafts beyond the last token too.
        assert token_ids == candidates[text][: len(token_ids)]
        assert len(token_ids) == min(layers, len(PROMPT) + NEW - len(text) - 1)
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


@pytest.mark.slow
def test_a_model_with_a_recurrent_state_drafts_what_the_generator_does(candidates) -> None:
    """Transformers' `generate` refuses such models; its generator is called for each text."""
    model = model_of("bailing_hybrid")
    with pytest.raises(ValueError, match="not supported with stateful models"):
        generated(model, PROMPT, use_mtp=True)
    config = Speculative(drafter="mtp", max_new_tokens=6, shaping=GREEDY)
    trace = collect(model, PROMPT, config)
    for text, token_ids in by_text(trace).items():
        ids = torch.tensor([text])
        generator = MTPCandidateGenerator(model.hf_model, GenerationConfig(do_sample=False), {})
        with torch.inference_mode():
            outputs = model.hf_model(ids[:, :-1], output_hidden_states=True)
            positions = {"position_ids": torch.arange(len(text))[None]}
            generator.get_candidates(ids, positions, outputs, False, 0)
        assert token_ids == candidates[text][: len(token_ids)]
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


def test_the_models_accept_some_drafts_and_reject_others() -> None:
    """Else the comparisons above would hardly test what follows a round."""
    counts = set()
    for name in SMALL:
        for first in range(9, 13):
            config = Speculative(drafter="mtp", max_new_tokens=30, shaping=GREEDY)
            for step in collect(model_of(name), [first, *PROMPT], config).rounds:
                counts.add((name, len(step.accepted), len(step.drafted)))
    expected = {(name, n, MTP_KINDS[name].layers) for name in SMALL for n in (0, 1)}
    assert expected | {("step3p7", 3, 3)} <= counts


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("case", [0, slow(1), slow(2), slow(3)])
def test_every_run_is_proved_and_greedy_is_greedy(name: str, case: int) -> None:
    model, dice = model_of(name), random.Random(f"mtp {name} {case}")
    config = drafting(random_config(dice, greedy=case % 2 == 0), "mtp")
    prompt = random_prompt(dice)
    trace = collect(model, prompt, config)
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []
    if config.shaping.temperature == 0:
        assert trace.token_ids == collect(model, prompt, target_only(config)).token_ids


TREES = {
    "static": {"tree_widths": "2,2,1"},
    "deeper than the layers": {"tree_widths": "2,1,1,1"},
    "drawn": {"tree_widths": "2,2", "tree_picks": "without_replacement"},
    "dynamic": {"tree_nodes": 5},
}


@pytest.mark.parametrize("shape", mostly_slow(TREES, ["drawn", "dynamic"]))
@pytest.mark.parametrize("scoring", ["multi_query", slow("batch_expansion")])
def test_trees_are_proved(shape: str, scoring) -> None:
    model = model_of("step3p7")
    config = Speculative(drafter="mtp", max_new_tokens=12, scoring=scoring, **TREES[shape])
    trace = collect(model, PROMPT, config)
    assert "tree_nodes" in TREES[shape] or any(step.depth > 1 for step in trace.rounds)
    assert max(step.depth for step in trace.rounds) <= 3
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []


def test_each_node_of_a_tree_has_the_logits_of_its_path() -> None:
    context = model_of("step3p7").mtp_head().start(PROMPT).branch([0])
    context.rollback(1)
    context.extend(PROMPT[-1:])
    first = context.extend_tree([5, 6], [-1, -1])
    second = context.extend_tree([7, 9], [0, 1])
    assert context.length == len(PROMPT) + 4
    context.keep([])
    for path, row in (([5], first[0]), ([6], first[1]), ([5, 7], second[0]), ([6, 9], second[1])):
        ahead = context.branch([0])
        torch.testing.assert_close(ahead.extend(path)[0, -1], row, rtol=0, atol=2e-5)
    assert not torch.allclose(second[0], second[1], atol=1e-3)
    with pytest.raises(ValueError, match="keeps no node"):
        context.keep([0])


@pytest.mark.parametrize("name", SMALL)
def test_tokens_rolled_back_leave_nothing_behind(name: str) -> None:
    """Against a context that never drafted; also far back, where a sliding window has closed."""
    head, text = model_of(name).mtp_head(), [*PROMPT, *range(100, 112)]
    context = head.start(text).branch([0])
    context.rollback(1)
    for n in (1, MTP_KINDS[name].layers):
        context.extend([*text[context.length :], 5, 6, 7][:n])
        context.rollback(context.length - len(text) + 1)
        assert context.length == len(text) - 1
    context.extend(text[-1:])
    torch.testing.assert_close(context.logits, head.start(text).logits, rtol=0, atol=2e-5)
    context.rollback(9)
    torch.testing.assert_close(
        context.extend(text[-9:])[0, -1], head.start(text).logits[0], rtol=0, atol=2e-5
    )


def test_nothing_is_drafted_after_a_text_of_one_token() -> None:
    model = model_of("step3p7")
    config = Speculative(drafter="mtp", draft_length=3, max_new_tokens=8, shaping=GREEDY)
    trace = collect(model, [20], config)
    first, second = trace.rounds[:2]
    assert (first.drafted, first.draft_end) == ((), "room")
    assert len(second.drafted) == 3
    assert [outcome for outcome in check(trace, model) if not outcome.passed] == []
    # Transformers fails here after a rejection: it repairs the cache of three tokens.
    with pytest.raises(RuntimeError, match="Sizes of tensors must match"):
        generated(model, [20], use_mtp=True)


def test_a_draft_has_as_many_tokens_as_the_model_has_layers() -> None:
    config = Speculative(drafter="mtp", draft_length=4, max_new_tokens=9, shaping=GREEDY)
    trace = collect(model_of("step3p7"), PROMPT, config)
    first = trace.rounds[0]
    assert (first.draft_length, len(first.drafted), first.draft_end) == (4, 3, "room")
    # A file that says otherwise is refused.
    forged = replace(first, drafted=first.drafted[:2], draft_end="length")
    found = check(replace(trace, steps=(trace.steps[0], forged, *trace.steps[2:])))
    assert not all(outcome.passed for outcome in found)


def test_a_rejection_names_the_layer_and_its_probability() -> None:
    places = set()
    for first in range(9, 13):
        config = Speculative(drafter="mtp", max_new_tokens=20)
        trace = collect(model_of("step3p7"), [first, *PROMPT], config)
        for found in rejections(trace):
            places.add(found.place)
            words = origin_words(trace, found)
            assert f"layer {found.place + 1} of the target's own MTP layers" in words
            assert words.endswith(f"{percent(found.token.draft_prob)}.")
    assert places >= {0, 1}


def test_real_layers_lose_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every path of a run of three tokens over a vocabulary of three."""
    folder = mtp_folder("mellum", tmp_path, vocab=3)
    hf_model = AutoModelForCausalLM.from_pretrained(folder)
    model = TransformersModel(hf_model, tiny_tokenizer(), model_id="three tokens")
    model.eos_ids = frozenset()
    config = Speculative(drafter="mtp", draft_length=1, max_new_tokens=3)
    emitted = enumerate_runs(monkeypatch, model, None, config, prompt_ids=[1, 2])
    exact: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(3):
        exact = {
            (*ids, candidate.token_id): prob * candidate.prob
            for ids, prob in exact.items()
            for candidate in collect(model, [1, 2, *ids], Sampling(max_new_tokens=1))
            .token_steps[0]
            .candidates
        }
    assert len(exact) == 27
    assert distance(emitted, exact) < 1e-5


def test_a_model_without_such_layers_is_refused_in_a_sentence(tmp_path: Path) -> None:
    config = Speculative(drafter="mtp", max_new_tokens=4)
    with pytest.raises(ModelError, match="random llama has no multi-token-prediction layers: take"):
        collect(target("llama"), [1, 2], config)
    with pytest.raises(ModelError, match="layers that can be run here"):
        collect(scripted(*TARGET_OF_TWO), [0], config)
    unsaved = AutoModelForCausalLM.from_config(deepcopy(model_of("mellum").hf_model.config))
    unsaved.config._name_or_path = ""
    model = from_transformers(unsaved, tiny_tokenizer(), model_id="unsaved")
    with pytest.raises(ModelError, match="read from the folder that it was loaded from"):
        collect(model, [1, 2], config)
    # Named by config.json, missing in the files.
    folder = mtp_folder("mellum", tmp_path)
    weights = load_file(folder / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if "mtp" not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    hf_model = AutoModelForCausalLM.from_pretrained(folder)
    model = from_transformers(hf_model, tiny_tokenizer(), model_id="incomplete")
    with pytest.raises(ModelError, match="files of incomplete hold no multi-token-prediction"):
        collect(model, [1, 2], config)


def test_a_copy_in_another_number_type_has_layers_of_its_own() -> None:
    model = model_of("mellum")
    half = model.in_dtype("bfloat16")
    weight = half.mtp_head()._mtp.layers[0].eh_proj.weight
    assert weight.dtype is torch.bfloat16
    assert half.mtp_head() is half.mtp_head() is not model.mtp_head()
    assert model.mtp_head()._mtp.layers[0].eh_proj.weight.dtype is torch.float32
    config = Speculative(drafter="mtp", max_new_tokens=6, shaping=GREEDY)
    half.eos_ids = frozenset()
    trace = collect(half, PROMPT, config)
    assert [outcome for outcome in check(trace, half) if not outcome.passed] == []


def test_a_folder_drafts_with_its_own_layers(tmp_path: Path, capsys) -> None:
    """By the library and by the command line; a folder that has changed is refused."""
    folder = mtp_folder("mellum", tmp_path / "mellum")
    file, options = tmp_path / "run.json", ["--drafter", "mtp", "--temperature", "0"]
    where = ["--model", str(folder)]
    run = ["decode", *where, "--method", "speculative", *options, "--max-new-tokens", "9"]
    assert main([*run, "--prompt", "Once upon", "--json", str(file)]) == 0
    trace = read_trace(file)
    assert (trace.config.drafter, trace.draft_id) == ("mtp", "")
    assert sum(len(step.drafted) for step in trace.rounds) > 2
    capsys.readouterr()
    assert main(["check", str(file), *where]) == 0
    assert "give every target_prob and draft_prob" in capsys.readouterr().out
    model = load_model(folder)
    with (folder / "model.safetensors").open("ab") as changed:
        changed.write(b"x")
    with pytest.raises(ModelError, match="are no longer those that it was loaded from"):
        model.mtp_head()


def test_a_run_of_generate_that_drafts_has_no_trace() -> None:
    """Neither by a recorder nor from its output, which names no round and no draft."""
    model = model_of("mellum")
    recorder = RecordGenerate(model.tokenizer)
    refused = r"drafts \(use_mtp = True\), .* make the trace with Speculative\(drafter='mtp'\)"
    with pytest.raises(TraceError, match=refused):
        generated(model, PROMPT, use_mtp=True, custom_generate=recorder)
    recorded = {"return_dict_in_generate": True, "output_logits": True}
    ids = torch.tensor([PROMPT])
    output = model.hf_model.generate(ids, use_mtp=True, max_new_tokens=4, **recorded)
    with pytest.raises(TraceError, match=refused):
        from_generate(
            model.hf_model, model.tokenizer, output, {"use_mtp": True, "max_new_tokens": 4}
        )
