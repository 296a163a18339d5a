"""Work on untrusted files runs in a child process that is bounded and can be ended."""

from __future__ import annotations

import copy
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread, Timer

import pytest

from core.decoding.counting import counted
from core.decoding.errors import LoadingStoppedError, PromptError
from core.language import Message, tr
from core.language.catalogue import use
from core.models.isolation import client
from core.models.isolation.client import LimitError, RequestLimits
from core.models.isolation.server import answer, receive_message
from core.models.stopping import current, never, stoppable
from core.models.transformers_model import TransformersModel
from tests.models.builders import random_model, tiny_tokenizer
from tests.models.isolation.asking import (
    CHATS_ALONE,
    DOUBLING,
    LIMITS,
    LOOP,
    chat,
    children,
    is_alive,
    wait_until,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module", autouse=True)
def own_server() -> Iterator[None]:
    """A process of these tests' own, which may be killed."""
    with pytest.MonkeyPatch.context() as patch:
        server = client._Server()
        patch.setattr(client, "_START", CHATS_ALONE)
        patch.setattr(client, "_SERVER", server)
        yield
        server.close()


def test_a_task_gives_its_value_or_its_refusal() -> None:
    assert chat("{{ messages[0].content }}") == "the fox"
    with pytest.raises(PromptError, match="never"):
        chat("{{ raise_exception('never') }}")


TOKENS = counted(2, "token")
REFUSALS = [
    Message("kept {tokens}", tokens=3),
    TOKENS,
    Message("{one}, {other:,}", one=TOKENS, other=1234),
    Message("no {braces"),
    Message("Tokens"),
]


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_can_be_translated_on_the_other_side(text: Message) -> None:
    def refusing() -> None:
        raise PromptError(text)

    reply = json.loads(json.dumps(answer(refusing, {})))
    with pytest.raises(PromptError) as refusal:
        client._value(reply)
    assert str(refusal.value) == text
    with use("ja"):
        assert refusal.value.shown == tr(text)


@pytest.mark.parametrize(
    "parts",
    [
        {"template": "{text.__class__}", "values": {"text": "a"}},
        {"template": "{text:>99999999}", "values": {"text": "a"}},
        {"template": "{text}", "values": {"other": "a"}},
        {"template": "{text:,}", "values": {"text": "a"}},
        {"template": "{text}", "values": []},
        {"values": {}},
    ],
)
def test_a_refusal_that_is_no_message_of_the_code_breaks_its_reader(parts: object) -> None:
    with pytest.raises(LimitError, match="breaks its reader"):
        client._value({"refused": parts, "kind": "PromptError"})


def test_where_there_is_no_fork_a_task_is_done_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "AVAILABLE", False)
    monkeypatch.setattr(client, "_SERVER", None)
    assert chat("{{ messages[0].content }}") == "the fox"
    with pytest.raises(PromptError, match="never"):
        chat("{{ raise_exception('never') }}")
    with pytest.raises(LimitError, match="breaks its reader"):
        client.ask("fetch", LIMITS, nobody="knows this argument")


def test_processor_time_clock_and_memory_are_bounded() -> None:
    for limits in (
        RequestLimits(cpu_seconds=1, seconds=60.0, memory_bytes=2**27),
        RequestLimits(cpu_seconds=60, seconds=0.5, memory_bytes=2**27),
    ):
        with pytest.raises(LimitError, match="too much time"):
            chat(LOOP, limits)
    with pytest.raises(LimitError, match="too much memory"):
        chat(DOUBLING)
    wait_until(lambda: not children())


def test_a_stop_ends_the_child() -> None:
    stopping, ended = Event(), []

    def run() -> None:
        with pytest.raises(LoadingStoppedError):
            chat(LOOP, should_stop=stopping.is_set)
        ended.append(True)

    thread = Thread(target=run)
    thread.start()
    wait_until(children)
    assert chat("{{ messages[0].content }}") == "the fox", "tasks run beside each other"
    stopping.set()
    thread.join(60)
    assert ended
    wait_until(lambda: not children())


def test_work_that_is_stopped_leaves_its_chat_template() -> None:
    """Though nobody hands `encode_chat` a way to stop."""
    tokenizer = copy.deepcopy(tiny_tokenizer())
    tokenizer.chat_template = LOOP
    model = TransformersModel(
        random_model("llama"), tokenizer, model_id="looping", isolate_templates=True
    )
    stopping = Event()
    Timer(0.3, stopping.set).start()
    # Unstopped it would end as well, in another error.
    with stoppable(stopping.is_set), pytest.raises(LoadingStoppedError):
        model.encode_chat([{"role": "user", "content": "the fox"}])
    assert current() is never


@pytest.mark.slow  # The process starts anew.
def test_a_process_that_was_killed_is_started_again() -> None:
    chat("x")
    process = client._SERVER._process
    assert process
    os.kill(process.pid, signal.SIGKILL)
    process.wait(60)
    assert chat("x") == "x"


@pytest.mark.slow
def test_children_end_with_whoever_asked_even_by_force() -> None:
    code = (
        "import sys, threading, time; from tests.models.isolation.asking import *;"
        "client._START = CHATS_ALONE;"
        "threading.Thread(target=chat, args=(LOOP,), daemon=True).start();"
        "wait_until(lambda: client._SERVER._process and children());"
        "print(client._SERVER._process.pid, *children(), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE) as asking:
        assert asking.stdout
        started = [int(pid) for pid in asking.stdout.readline().split()]
        assert len(started) == 2 and all(map(is_alive, started))
        asking.kill()
    wait_until(lambda: not any(map(is_alive, started)))


def test_a_message_of_too_many_bytes_is_not_read() -> None:
    with pytest.raises(ValueError, match="4294967295 bytes"):
        receive_message(lambda size: b"\xff" * size)
