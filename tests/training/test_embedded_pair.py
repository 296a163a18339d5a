"""The stored models load as they are, and do what the app's first page relies on."""

import json
import re
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from core import Greedy, collect, load_model
from tests.depth import ALL
from training import handwritten
from training.corpus import lists
from training.corpus.story import cast
from training.corpus.tokens import CHAT_TOKENS, END_OF_TEXT, END_OF_TURN
from training.evaluate import load_subject
from training.evaluation import forms
from training.evaluation.card import cards, read_measures, replace_measures, store_measures
from training.evaluation.measure import Measure
from training.evaluation.written import replies, said

MODELS = Path(__file__).parents[2] / "assets" / "models"
FOLDERS = sorted(path.parent for path in MODELS.glob("*/generation_config.json"))
MOST_BYTES = {"diffusion": 12_000_000, "": 24_000_000}  # "" is for all other folders together


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture(scope="module")
def model(folder: Path) -> PreTrainedModel:
    return AutoModelForCausalLM.from_pretrained(folder)


def continue_greedily(prompt: str) -> tuple[str, str]:
    trace = collect(load_model(MODELS / "target"), prompt, Greedy(max_new_tokens=400))
    return trace.text, trace.finish_reason


def test_all_files_together_are_small() -> None:
    sizes = dict.fromkeys(MOST_BYTES, 0)
    for path in MODELS.rglob("*.*"):
        name = path.relative_to(MODELS).parts[0]
        sizes[name if name in sizes else ""] += path.stat().st_size
    assert all(0 < sizes[name] <= most for name, most in MOST_BYTES.items()), sizes


def test_a_model_loads_as_float32_and_leaves_decoding_alone(
    folder: Path, model: PreTrainedModel
) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ends = tokenizer.convert_tokens_to_ids([END_OF_TEXT, END_OF_TURN])
    assert model.dtype == torch.float32
    assert model.config.eos_token_id == model.generation_config.eos_token_id == ends
    assert model.config.vocab_size == len(tokenizer)
    stored = (folder / "generation_config.json").read_text(encoding="utf-8")
    assert not re.search("temperature|top_|penalty|sample|beam", stored)


def test_all_models_have_one_tokenizer_to_which_diffusion_adds_its_mask(folder: Path) -> None:
    target, own = (
        json.loads((where / "tokenizer.json").read_text(encoding="utf-8"))
        for where in (MODELS / "target", folder)
    )
    if folder.name == "diffusion":
        assert own["added_tokens"].pop()["content"] == "[MASK]"
    assert own == target
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.tokenize("".join(CHAT_TOKENS)) == list(CHAT_TOKENS)
    assert (
        tokenizer.decode(tokenizer("naïve 日本 👩🏽‍🚀 \x00\n")["input_ids"])
        == "naïve 日本 👩🏽‍🚀 \x00\n"
    )


def test_the_target_lists_different_colors_and_ends() -> None:
    text, reason = continue_greedily("A list of colors: red,")
    colors = text.strip().removesuffix(".").split(", ")
    assert reason == "eos" and text.endswith(".")
    assert len(set(colors)) == len(colors) >= 3
    assert set(colors) <= set(lists.KINDS["colors"]) - {"red"}


def test_the_target_tells_a_story_with_few_names_and_ends() -> None:
    text, reason = continue_greedily("Once upon a time")
    names = {*cast.GIRLS, *cast.BOYS} & set(re.findall(r"\w+", text))
    assert reason == "eos"
    assert 1 <= len(names) <= 2


def test_a_system_prompt_in_other_words_than_the_text_s_is_obeyed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Test the first of each form's two prompts; `make fuzz` tests both."""
    read = handwritten.read
    some = {"systems": read("systems")[:: 1 if ALL else 2]}
    monkeypatch.setattr(handwritten, "read", lambda name: some.get(name) or read(name))
    measures = forms.measure_forms(load_subject(MODELS, 1, 200))
    assert len(measures) == 6 and [measure for measure in measures if not measure.reached] == []


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("6 + 4 * 7 - 9", "The answer is 25."),
        ("Who are you?", "I am a small language model"),
        ("Who is the king of Spain?", "I can't help with that, because I only know"),
        ("Which city is the capital of Italy?", "The capital of Italy is Rome."),
    ],
)
def test_a_question_in_any_words_is_answered(question: str, reply: str) -> None:
    [written] = replies(load_subject(MODELS, 1, 100), [question], 60)
    assert said(written).startswith(reply)


def test_the_measures_say_that_every_goal_is_reached() -> None:
    assert not [measure.name for measure in read_measures(MODELS) if measure.reached is False]


def test_every_card_is_what_its_settings_and_the_stored_measures_give() -> None:
    written = cards(MODELS)
    assert set(written) == {"target", "draft", "reward", "head"}
    for role, card in written.items():
        assert (MODELS / role / "README.md").read_text(encoding="utf-8") == card


def test_measures_of_one_subject_replace_the_old_ones_in_their_place(tmp_path: Path) -> None:
    (tmp_path / "target").mkdir()
    old = [Measure(name, "", "1 %", None) for name in ("speed", "reward model: a", "beams")]
    store_measures(tmp_path, old)
    new = [Measure(f"reward model: {name}", "", "2 %", None) for name in "bc"]
    replace_measures(tmp_path, "reward model", new)
    assert read_measures(tmp_path) == [old[0], *new, old[2]]
