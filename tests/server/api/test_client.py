"""OpenAI's own client against the running endpoint; every body and event by the package's types."""

from __future__ import annotations

import math
from typing import Any

import openai
import pytest
from openai.types import Completion
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response
from openai.types.responses.response_stream_event import ResponseStreamEvent
from pydantic import TypeAdapter

from core.decoding.checks.forwards import logit_tolerance
from core.decoding.record.trace import Trace
from tests.server.api.served import Served

MODEL = "embedded:target"
ASK: Any = [{"role": "user", "content": "What is the capital of France?"}]
THINK = "Mia has 12 apples. She picks 9 more. How many apples does she have now?"
INCLUDE: Any = ["message.output_text.logprobs"]
EVENT: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)


def last_trace(endpoint: Served) -> Trace:
    return endpoint.service.history.of("")[0].traces[-1]


def strictly(kind: type, body: Any) -> None:
    """The body by its type, which the client itself doesn't look at."""
    kind.model_validate(body.to_dict() if hasattr(body, "to_dict") else body)  # type: ignore[attr-defined]


def test_models_are_listed_and_found_by_name(client: openai.OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["embedded:target", "embedded:draft"]
    assert client.models.retrieve("embedded:draft").id == "embedded:draft"
    with pytest.raises(openai.NotFoundError, match="no model"):
        client.models.retrieve("gpt-4o")


def test_a_chat_is_answered_with_the_log_probabilities_of_its_trace(
    endpoint: Served, client: openai.OpenAI
) -> None:
    answer = client.chat.completions.create(
        model=MODEL, messages=ASK, temperature=0.7, seed=3, logprobs=True, top_logprobs=5
    )
    strictly(ChatCompletion, answer)
    trace, choice = last_trace(endpoint), answer.choices[0]
    assert choice.message.content == trace.text
    assert choice.finish_reason == "stop"
    entries = choice.logprobs.content  # type: ignore[union-attr]
    assert [entry.token_id for entry in entries] == list(trace.token_ids)  # type: ignore[attr-defined]
    for entry, step in zip(entries, trace.token_steps, strict=True):
        assert entry.logprob == pytest.approx(-step.surprisal, abs=1e-12)
        for top, candidate in zip(entry.top_logprobs, step.candidates, strict=False):
            assert top.token == candidate.text
            assert top.logprob == pytest.approx(math.log(candidate.raw_prob), abs=1e-9)
    assert answer.usage.completion_tokens == len(entries) == len(trace.token_ids)
    assert answer.usage.prompt_tokens == len(trace.prompt_ids)


def test_a_streamed_chat_says_what_the_whole_one_says(client: openai.OpenAI) -> None:
    body: Any = {"model": MODEL, "messages": ASK, "seed": 5, "logprobs": True, "top_logprobs": 2}
    whole = client.chat.completions.create(**body)
    text, entries, last = "", [], None
    for chunk in client.chat.completions.create(
        **body, stream=True, stream_options={"include_usage": True}
    ):
        strictly(ChatCompletionChunk, chunk)
        last = chunk
        for choice in chunk.choices:
            text += choice.delta.content or ""
            entries += (choice.logprobs.content or []) if choice.logprobs else []
    assert text == whole.choices[0].message.content
    assert [entry.to_dict() for entry in entries] == [
        entry.to_dict()
        for entry in whole.choices[0].logprobs.content  # type: ignore[union-attr]
    ]
    assert last.usage == whole.usage


def test_choices_differ_by_their_seeds_and_a_seed_repeats_them(client: openai.OpenAI) -> None:
    body: Any = {"model": MODEL, "prompt": "Once upon a time", "n": 3, "max_tokens": 8, "seed": 9}
    first, second = client.completions.create(**body), client.completions.create(**body)
    strictly(Completion, first)
    assert [c.text for c in first.choices] == [c.text for c in second.choices]
    assert len({c.text for c in first.choices}) > 1
    assert first.usage.completion_tokens == 24
    alone = client.completions.create(**{**body, "n": 1, "seed": 11})
    assert alone.choices[0].text == first.choices[2].text


def test_a_completion_takes_token_ids_and_several_prompts(
    models: dict[str, Any], client: openai.OpenAI
) -> None:
    ids, others = (models[MODEL].encode(prompt) for prompt in ("Once upon a time", "A list"))
    body: Any = {"model": MODEL, "temperature": 0, "max_tokens": 6}
    text = client.completions.create(prompt="Once upon a time", **body).choices[0].text
    assert client.completions.create(prompt=ids, **body).choices[0].text == text
    both = client.completions.create(prompt=[ids, others], **body)
    assert [choice.index for choice in both.choices] == [0, 1]
    assert both.choices[0].text == text
    assert both.usage and both.usage.prompt_tokens == len(ids) + len(others)


def test_echo_gives_the_prompt_with_its_log_probabilities(
    endpoint: Served, client: openai.OpenAI
) -> None:
    body: Any = {"model": MODEL, "prompt": "Once upon a time", "echo": True, "logprobs": 2}
    answer = client.completions.create(**body, max_tokens=2, temperature=0)
    lists = answer.choices[0].logprobs
    trace = last_trace(endpoint)
    positions = trace.prompt_step.positions  # type: ignore[union-attr]
    expected = [None] + [math.log(p.next_prob) for p in positions[:-1]]  # type: ignore[arg-type]
    assert lists.token_logprobs[: len(expected)] == pytest.approx(expected, abs=1e-6)
    assert answer.choices[0].text == "Once upon a time" + trace.text
    offsets = lists.text_offset or []
    joined = answer.choices[0].text
    assert all(joined.startswith(t, at) for t, at in zip(lists.tokens, offsets, strict=True))
    only = client.completions.create(**body, max_tokens=0)
    assert only.choices[0].text == "Once upon a time"
    assert only.usage is not None and only.usage.completion_tokens == 0
    # Offsets count characters: those before " the" have three bytes each.
    body |= {"prompt": "日本 the", "max_tokens": 0}
    assert client.completions.create(**body).choices[0].logprobs.text_offset[-1] == 2


@pytest.mark.parametrize("mode", ["raw", "final"])
def test_the_whole_vocabulary_is_given_and_sums_to_one(client: openai.OpenAI, mode: str) -> None:
    shaped = {"logprobs_mode": mode, "decoding": {"method": "sampling", "shaping": {"top_k": 7}}}
    answer = client.completions.create(
        model=MODEL, prompt="Once", max_tokens=2, logprobs=-1, seed=1, extra_body=shaped
    )
    lists = answer.choices[0].logprobs
    assert answer.model_extra is not None and answer.model_extra["logprobs_mode"] == mode
    for top in lists.top_logprobs or []:  # type: ignore[union-attr]
        assert len(top) == 7 if mode == "final" else len(top) > 4000
        assert math.fsum(map(math.exp, top.values())) == pytest.approx(1.0, abs=1e-5)


def test_final_log_probabilities_are_those_that_the_run_drew_from(
    endpoint: Served, client: openai.OpenAI
) -> None:
    answer = client.chat.completions.create(
        model=MODEL,
        messages=ASK,
        temperature=0.5,
        top_p=0.9,
        logit_bias={"300": 3},  # type: ignore[dict-item]
        seed=2,
        logprobs=True,
        top_logprobs=3,
        extra_body={"logprobs_mode": "final"},
    )
    entries = answer.choices[0].logprobs.content or []  # type: ignore[union-attr]
    for entry, step in zip(entries, last_trace(endpoint).token_steps, strict=True):
        assert entry.logprob == pytest.approx(math.log(step.chosen.prob), abs=1e-9)


def _final_entries(client: openai.OpenAI, decoding: dict[str, Any], **more: Any) -> list[Any]:
    answer = client.chat.completions.create(
        model=MODEL,
        messages=ASK,
        logprobs=True,
        top_logprobs=3,
        extra_body={"logprobs_mode": "final", "decoding": decoding},
        **more,
    )
    return [choice.logprobs.content for choice in answer.choices]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "settings",
    [
        {"num_beams": 3, "shaping": {"repetition_penalty": 1.2}},
        {"num_beams": 4, "num_beam_groups": 2, "diversity_penalty": 0.7},
        {"num_beams": 3, "do_sample": True, "seed": 1, "shaping": {"top_k": 20}},
    ],
)
def test_final_log_probabilities_of_a_search_add_up_to_its_paths_score(
    endpoint: Served, client: openai.OpenAI, settings: dict[str, Any]
) -> None:
    choices = _final_entries(client, {"method": "beam", **settings}, n=2, max_tokens=8)
    for entries, path in zip(choices, last_trace(endpoint).hypotheses[:2], strict=True):
        assert math.fsum(entry.logprob for entry in entries) == pytest.approx(
            path.sum_logprob, abs=1e-4
        )


@pytest.mark.parametrize("heat", [0.0, 0.8])
def test_final_log_probabilities_of_speculation_are_those_of_the_target(
    endpoint: Served, client: openai.OpenAI, heat: float
) -> None:
    drawn = {"shaping": {"temperature": heat, "top_p": 0.9}, "draft": "embedded:draft", "seed": 3}
    (entries,) = _final_entries(client, {"method": "speculative", **drawn}, max_tokens=12)
    expected: list[float | None] = []
    for round_ in last_trace(endpoint).rounds:
        expected += [token.target_prob for token in round_.drafted[: len(round_.accepted)]]
        # The target's own token: its probability is not the law that it was drawn by.
        expected += [None] * (len(round_.token_ids) - len(round_.accepted))
    assert any(expected)
    for entry, target_prob in zip(entries, expected, strict=True):
        if target_prob is not None:
            assert math.exp(entry.logprob) == pytest.approx(target_prob, abs=1e-5)


def test_the_final_choice_of_contrastive_search_is_certain(client: openai.OpenAI) -> None:
    (entries,) = _final_entries(client, {"method": "contrastive"}, max_tokens=4)
    assert [(entry.logprob, len(entry.top_logprobs)) for entry in entries] == [(0.0, 1)] * len(
        entries
    )


def test_a_response_streams_every_event_by_its_type_and_its_number(client: openai.OpenAI) -> None:
    body: Any = {"model": MODEL, "input": THINK, "reasoning": {"effort": "medium"}}
    body |= {"include": INCLUDE, "top_logprobs": 3, "extra_body": {"seed": 1}}
    events = list(client.responses.create(**body, stream=True))
    for event in events:
        EVENT.validate_python(event.to_dict())
    assert [event.sequence_number for event in events] == list(range(len(events)))
    final = events[-1]
    assert final.type == "response.completed"
    reasoning, message = final.response.output
    assert reasoning.type == "reasoning" and message.type == "message"
    text = message.content[0]
    assert text.type == "output_text"
    deltas = [event for event in events if event.type == "response.output_text.delta"]
    assert "".join(event.delta for event in deltas) == text.text
    streamed = [entry.to_dict() for event in deltas for entry in event.logprobs]
    assert streamed == [entry.to_dict() for entry in text.logprobs or []]
    thought = "".join(e.delta for e in events if e.type == "response.reasoning_text.delta")
    assert thought == (reasoning.content or [])[0].text
    usage = final.response.usage
    assert usage is not None and usage.output_tokens_details.reasoning_tokens > 0
    whole = client.responses.create(**body)
    strictly(Response, whole)
    assert whole.output_text == text.text
    assert whole.usage == usage


def test_a_limit_leaves_a_response_incomplete_and_a_chat_at_length(client: openai.OpenAI) -> None:
    cut = client.responses.create(model=MODEL, input="Tell me a story.", max_output_tokens=4)
    assert cut.status == "incomplete"
    assert cut.incomplete_details.reason == "max_output_tokens"
    assert cut.usage is not None and cut.usage.output_tokens == 4
    events = list(
        client.responses.create(
            model=MODEL, input="Tell me a story.", max_output_tokens=4, stream=True
        )
    )
    assert events[-1].type == "response.incomplete"
    chat = client.chat.completions.create(model=MODEL, messages=ASK, max_completion_tokens=2)
    assert chat.choices[0].finish_reason == "length"


def test_thinking_that_was_cut_off_is_the_only_item(client: openai.OpenAI) -> None:
    cut = client.responses.create(
        model=MODEL, input=THINK, reasoning={"effort": "high"}, max_output_tokens=4, temperature=0
    )
    assert [item.type for item in cut.output] == ["reasoning"]
    assert cut.status == cut.output[0].status == "incomplete"  # type: ignore[union-attr]


@pytest.mark.parametrize(("effort", "most"), [("low", 32), ("medium", 64), ("high", 128)])
def test_an_effort_is_a_named_budget(client: openai.OpenAI, effort: Any, most: int) -> None:
    answer = client.chat.completions.create(model=MODEL, messages=ASK, reasoning_effort=effort)
    assert answer.model_extra["decoding"]["max_thinking_tokens"] == most
    details = answer.usage.completion_tokens_details  # type: ignore[union-attr]
    assert details is not None and (details.reasoning_tokens or 0) <= most


def test_a_response_goes_on_from_another_one(endpoint: Served, client: openai.OpenAI) -> None:
    first = client.responses.create(
        model=MODEL, input="My name is Alice.", instructions="Be brief.", temperature=0
    )
    again = client.responses.create(
        model=MODEL, input="And now?", previous_response_id=first.id, temperature=0
    )
    assert last_trace(endpoint).rendered_prompt == (
        f"<|user|>My name is Alice.<|end|><|assistant|>{first.output_text}<|end|>"
        "<|user|>And now?<|end|><|assistant|>"
    )
    assert again.previous_response_id == first.id
    assert client.responses.retrieve(first.id).output_text == first.output_text
    client.responses.delete(first.id)
    with pytest.raises(openai.NotFoundError, match="no response"):
        client.responses.create(model=MODEL, input="x", previous_response_id=first.id)


def test_a_stop_string_is_left_out_of_whole_and_streamed_text(
    endpoint: Served, client: openai.OpenAI
) -> None:
    body: Any = {"model": MODEL, "messages": ASK, "temperature": 0, "stop": ["ce is"]}
    whole = client.chat.completions.create(**body)
    assert whole.choices[0].message.content == "The capital of Fran"
    assert whole.choices[0].finish_reason == "stop"
    chunks = client.chat.completions.create(**body, stream=True)
    assert "".join(c.choices[0].delta.content or "" for c in chunks) == "The capital of Fran"
    assert "ce is" in last_trace(endpoint).text


@pytest.mark.parametrize(
    "decoding",
    [
        {"method": "beam", "num_beams": 3},
        {"method": "speculative", "draft": "embedded:draft", "draft_length": 3},
        {"method": "speculative", "drafter": "prompt_lookup"},
        {"method": "contrastive"},
        {"method": "greedy"},
        {"method": "sampling", "shaping": {"min_p": 0.05}, "draw": "gumbel"},
    ],
)
def test_any_method_can_be_asked_for(
    endpoint: Served, client: openai.OpenAI, models: dict[str, Any], decoding: dict[str, Any]
) -> None:
    from core.server.api.request.plan import LogprobsOptions
    from core.server.api.run.reading import reader_of
    from core.server.api.run.scoring import Scorer

    answer = client.completions.create(
        model=MODEL,
        prompt="Once upon a time",
        max_tokens=10,
        logprobs=1,
        extra_body={"decoding": decoding},
    )
    trace = last_trace(endpoint)
    assert answer.choices[0].text == trace.text
    assert answer.model_extra["decoding"]["method"] == decoding["method"]
    model = models[MODEL]
    reader = reader_of(model, trace.config, LogprobsOptions())
    scored = Scorer(model, trace.prompt_ids, reader).read(trace.token_ids)
    logprobs = answer.choices[0].logprobs.token_logprobs  # type: ignore[union-attr]
    # The server reads a round's tokens at once, this forward all of them: sums of another shape.
    logits = model.start(trace.prompt_ids).extend(list(trace.token_ids))
    bound = logit_tolerance(trace, model, float(logits.abs().max()))
    assert logprobs == pytest.approx([entry.logprob for entry in scored], abs=bound)


def test_a_beam_gives_its_best_hypotheses_as_choices(
    endpoint: Served, client: openai.OpenAI
) -> None:
    answer = client.completions.create(
        model=MODEL,
        prompt="Once upon a time",
        n=3,
        max_tokens=6,
        logprobs=0,
        extra_body={"decoding": {"method": "beam", "num_beams": 4}},
    )
    trace = last_trace(endpoint)
    assert [c.text for c in answer.choices] == [h.text for h in trace.hypotheses[:3]]
    for choice, hypothesis in zip(answer.choices, trace.hypotheses, strict=False):
        total = math.fsum(choice.logprobs.token_logprobs or [])  # type: ignore[union-attr]
        assert total == pytest.approx(hypothesis.sum_logprob, abs=1e-4)


def test_tokenize_and_detokenize_as_vllm_has_them(endpoint: Served, models: dict[str, Any]) -> None:
    body = {"model": MODEL, "prompt": "Once upon", "return_token_strs": True}
    answer = endpoint.post("/tokenize", body).json()
    assert answer["tokens"] == models[MODEL].encode("Once upon")
    assert answer["count"] == len(answer["tokens"]) and answer["max_model_len"] == 1024
    assert "".join(answer["token_strs"]) == "Once upon"
    back = endpoint.post("/detokenize", {"model": MODEL, "tokens": answer["tokens"]}).json()
    assert back == {"prompt": "Once upon"}
    chat = endpoint.post("/tokenize", {"model": MODEL, "messages": ASK}).json()
    assert chat["tokens"] == models[MODEL].encode_chat(ASK)
