"""A scripted server: vLLM's and llama.cpp's answers, computed by the embedded model.

It answers as told, also wrongly: a `Fault` is what a test makes of an answer.
"""

from __future__ import annotations

import json
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import torch

from core.models.registry import load_model

# Takes the handler and the answer; True where it has answered by itself.
Fault = Callable[["Handler", Any], bool]
FLOOR = -9999.0


@cache
def local() -> Any:
    """The model behind the server, and what it is compared with."""
    return load_model("embedded:target")


@dataclass
class Script:
    """Behaviour of the scripted server, and the requests that it received.

    Args:
        most: how many candidates it gives; None for all.
        key: that it asks for.
        processed: a bias shows in its numbers.
        speculation: what it says of it behind a run of its own.
        counters: the text of its /metrics.
        streamed: a stored stream, which it sends for a run in place of one of its own.
        logits: it gives them in place of log-probabilities.
        models: what it says in place of its list of models.
        fault: of the answers to completions from request number `fault_from` on.
        asked: path, headers and body of every request.
    """

    most: int | None = None
    key: str = ""
    processed: bool = False
    logits: bool = False
    models: dict[str, Any] | None = None
    speculation: dict[str, Any] | None = None
    counters: str = ""
    streamed: str = ""
    fault: Fault | None = None
    fault_from: int = 0
    fault_until: int = 10**9
    completions: int = 0
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)

    def fail(self, fault: Fault, *, after: int = 0, times: int = 10**9) -> None:
        """Fail with `fault` after `after` more completions, `times` times."""
        self.fault, self.fault_from = fault, self.completions + after
        self.fault_until = self.fault_from + times


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    script: Script
    protocol_version = "HTTP/1.1"
    # Head and body go in two pieces; the second would wait for the first one's receipt, 40 ms.
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer(None)

    def do_POST(self) -> None:
        size = int(self.headers["content-length"])
        self._answer(json.loads(self.rfile.read(size)))

    def _answer(self, body: Any) -> None:
        script = self.script
        script.asked.append((self.path, dict(self.headers), body))
        if script.key and self.headers.get("authorization") != f"Bearer {script.key}":
            self.send({"error": {"message": f"wrong key {self.headers.get('authorization')}"}}, 401)
            return
        answer = ROUTES.get(self.path, lambda *_: None)(script, body)
        if answer is None:
            self.send({"error": {"message": "no such page"}}, 404)
        elif isinstance(answer, str) and not isinstance(answer, Text):
            self.send({"error": {"message": answer}}, 400)
        else:
            completion = self.path in ("/v1/completions", "/completion")
            number, script.completions = script.completions, script.completions + completion
            wrong = completion and script.fault_from <= number < script.fault_until
            if not (wrong and script.fault and script.fault(self, answer)):
                self.send(answer)

    def send(self, answer: Any, status: int = 200, **headers: str) -> None:
        """An answer as JSON, unless it is none."""
        text = answer if isinstance(answer, Text) else json.dumps(answer)
        self.send_text(text.encode(), status, **headers)

    def send_text(self, content: bytes, status: int = 200, **headers: str) -> None:
        """An answer that is no JSON."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Text(str):
    """An answer that is no JSON: events, or counters."""

    __slots__ = ()


def _events(events: Iterator[Any]) -> Text:
    return Text("".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n\n")


def _written(
    script: Script, body: Any, ids: list[int], limit: int
) -> Iterator[tuple[int, torch.Tensor]]:
    """Yield the tokens of a whole run, each with its distribution; Python's generator draws."""
    dice, ids = random.Random(body["seed"]), list(ids)
    for _ in range(limit):
        row = _logits(tuple(ids)).log_softmax(-1)
        if script.processed and body["top_k"]:
            least = row.topk(body["top_k"]).values[-1]
            row = row.masked_fill(row < least, -torch.inf).log_softmax(-1)
        temperature = body["temperature"]
        shown = (row / temperature).softmax(-1) if temperature else None
        picked = int(row.argmax())
        if shown is not None:
            picked = dice.choices(range(len(row)), shown.tolist())[0]
        ids.append(picked)
        yield picked, row
        if picked in local().eos_ids:
            return


def _vllm_events(script: Script, body: Any) -> Iterator[Any]:
    for picked, row in _written(script, body, body["prompt"], body["max_tokens"]):
        tops = {f"token_id:{i}": v for i, v in _entries(row, body["logprobs"])}
        name = f"token_id:{picked}"
        logprobs = {
            "tokens": [name],
            "token_logprobs": [float(row[picked])],
            "top_logprobs": [{name: float(row[picked]), **tops}],
        }
        yield {"choices": [{"index": 0, "text": "", "logprobs": logprobs, "finish_reason": None}]}
    yield {"choices": [], "metrics": {"speculative_decoding": script.speculation}}


def _llamacpp_events(script: Script, body: Any) -> Iterator[Any]:
    for picked, row in _written(script, body, body["prompt"], body["n_predict"]):
        tops = [{"id": i, "logprob": v} for i, v in _entries(row, body["n_probs"])]
        entry = {"id": picked, "logprob": float(row[picked]), "top_logprobs": tops}
        yield {"content": "", "tokens": [picked], "completion_probabilities": [entry]}
    yield {"content": "", "stop": True, "stop_type": "limit"}


@lru_cache(maxsize=512)
def _logits(ids: tuple[int, ...]) -> torch.Tensor:
    logits: torch.Tensor = local().start(ids).logits[0]
    return logits


def _numbers(script: Script, ids: list[int], bias: dict[int, float]) -> tuple[torch.Tensor, int]:
    """Return the scores of the next token `[vocab]`, and the picked token."""
    logits = _logits(tuple(ids))
    biased = logits.clone()
    for token_id, value in bias.items():
        biased[token_id] += value
    shown = biased if script.processed else logits
    return (shown if script.logits else shown.log_softmax(-1)), int(biased.argmax())


def _entries(row: torch.Tensor, count: int) -> list[tuple[int, float]]:
    values, ids = row.sort(descending=True, stable=True)
    pairs = zip(ids.tolist(), values.tolist(), strict=True)
    return [(token, max(value, FLOOR)) for token, value in list(pairs)[:count]]


def _bytes(token_id: int) -> bytes:
    return bytes(local().token_bytes(token_id))


def _vllm(script: Script, body: Any) -> Any:
    if body.get("stream"):
        return Text(script.streamed) if script.streamed else _events(_vllm_events(script, body))
    model, count = local(), body.get("logprobs") or 0
    most = model.vocab_size if script.most is None else script.most
    requested = model.vocab_size if count == -1 else count
    if requested > most:
        return f"Requested logprobs of {count}, which is greater than max allowed: {most}"
    bias = {int(key): value for key, value in (body.get("logit_bias") or {}).items()}
    choices = []
    for index, ids in enumerate(body["prompt"]):
        row, picked = _numbers(script, ids, bias)
        ended = picked in model.eos_ids
        choices.append(
            {
                "index": index,
                "text": _bytes(picked).decode("utf-8", "ignore"),
                "finish_reason": "stop" if ended else "length",
                "logprobs": {
                    "top_logprobs": [{f"token_id:{i}": v for i, v in _entries(row, requested)}]
                },
                "prompt_logprobs": _prompt_logprobs() if "prompt_logprobs" in body else None,
            }
        )
    return {"choices": choices[::-1]}  # The order is the index's.


def _prompt_logprobs() -> list[Any]:
    model = local()
    texts = (model.tokenizer.decode([i]).replace("�", "") for i in range(model.vocab_size))
    return [None, {str(i): {"decoded_token": text} for i, text in enumerate(texts)}]


def _llamacpp(script: Script, body: Any) -> Any:
    if body.get("stream"):
        return Text(script.streamed) if script.streamed else _events(_llamacpp_events(script, body))
    model, answers = local(), []
    bias = dict(map(tuple, body.get("logit_bias", [])))
    for index, ids in enumerate(body["prompt"]):
        row, picked = _numbers(script, ids, bias)
        tops = [
            {"id": i, "bytes": list(_bytes(i)), "logprob": -3.4e38 if v == FLOOR else v}
            for i, v in _entries(row, body["n_probs"])
        ]
        answers.append(
            {
                "index": index,
                "content": _bytes(picked).decode("utf-8", "ignore"),
                "stop_type": "eos" if picked in model.eos_ids else "limit",
                "completion_probabilities": [{"id": picked, "top_logprobs": tops}],
            }
        )
    return answers if len(answers) > 1 else answers[0]


def _models(script: Script, _: Any) -> Any:
    if script.models is not None:
        return script.models
    size = local().vocab_size
    row = {"id": "target", "max_model_len": 1024, "meta": {"n_vocab": size, "n_ctx": 1024}}
    return {"data": [row]}


def _tokenize(_: Script, body: Any) -> Any:
    if "messages" in body:
        return {"tokens": local().encode_chat(body["messages"], body["add_generation_prompt"])}
    if "content" not in body:
        return {"tokens": local().encode(body["prompt"])}
    options = {"add_special_tokens": body["add_special"]}
    options["split_special_tokens"] = not body["parse_special"]
    return {"tokens": local().tokenizer(body["content"], **options)["input_ids"]}


def _detokenize(_: Script, body: Any) -> Any:
    text = local().tokenizer.decode(body["tokens"])
    return {"prompt": text, "content": text}


ROUTES: dict[str, Callable[[Script, Any], Any]] = {
    "/v1/models": _models,
    "/metrics": lambda script, _: Text(script.counters),
    "/version": lambda *_: {"version": "0.0"},
    "/props": lambda *_: {"build_info": "b1", "default_generation_settings": {"n_ctx": 1024}},
    "/v1/completions": _vllm,
    "/completion": _llamacpp,
    "/tokenize": _tokenize,
    "/detokenize": _detokenize,
    "/apply-template": lambda _, body: {"prompt": local().render_chat(body["messages"])},
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error, unless a client left, as one whose run was stopped does."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(script: Script | None = None) -> Iterator[tuple[str, Script]]:
    """The server for a while; its URL, and its script."""
    script = script or Script()
    server = _Server(("127.0.0.1", 0), type("Own", (Handler,), {"script": script}))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
