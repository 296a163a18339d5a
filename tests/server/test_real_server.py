"""The running app, asked with raw requests and websockets as an attacker would."""

from __future__ import annotations

import asyncio
import http.client
import itertools
import json
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from threading import Thread
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2
import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from benchmarks.session_client import Visitor
from pages.ui.hosting.uploads import SESSION_BYTES, TOTAL_BYTES
from tests.app_server import WITHOUT_WARM_UP, running_app
from tests.depth import slow
from tests.server.api.served import eventually

XSRF = "5f63a2b1c4d5e6f7a8b9c0d1e2f3a4b5"
MEGABYTE = 2**20
EVIL = "evil.example"
KEY = "a-key-of-many-letters"


class Outside:
    """A proxy for all that a process asks of other machines: it counts and answers nothing."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                self.asked.append(connection.recv(200))


@pytest.fixture(scope="module")
def outside() -> Iterator[Outside]:
    server = Outside()
    with closing(server.socket):
        yield server


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory, outside: Outside) -> Iterator[str]:
    """An app as `make run` starts it; its address."""
    log = tmp_path_factory.mktemp("own") / "log.txt"
    proxies = {"http_proxy": outside.url, "https_proxy": outside.url}
    with running_app(log, **proxies) as url:
        yield urlsplit(url).netloc


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, outside: Outside) -> Iterator[str]:
    """An app that is shared on every address, with all that an operator may set.

    A session ends one second after its tab is closed.
    """
    environment = {
        "DECODING_EXPLORER_HOSTS": "explorer.example.org",
        "DECODING_EXPLORER_FRAMES": "https://blog.example.org",
        "DECODING_EXPLORER_METRICS": "1",
        "DECODING_EXPLORER_API_KEYS": KEY,
    }
    log = tmp_path_factory.mktemp("shared") / "log.txt"
    proxies = {"http_proxy": outside.url, "https_proxy": outside.url}
    options = ("--server.address", "0.0.0.0", "--server.disconnectedSessionTTL", "1")
    with running_app(log, *options, start=WITHOUT_WARM_UP, **environment, **proxies) as url:
        yield urlsplit(url).netloc


def ask(
    server: str, path: str = "/", method: str = "GET", body: bytes | None = None, **headers: str
) -> http.client.HTTPResponse:
    """Ask the server, with headers in place of the client's own; the answer's body was read."""
    client = http.client.HTTPConnection(server, timeout=20)
    client.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    sent = {"Host": server, **{name.replace("_", "-"): text for name, text in headers.items()}}
    for name, text in sent.items():
        client.putheader(name, text)
    if body is not None:
        client.putheader("Content-Length", str(len(body)))
    client.endheaders(body)
    answer = client.getresponse()
    answer.text = answer.read().decode("utf-8", "replace")  # type: ignore[attr-defined]
    client.close()
    return answer


def dial(server: str, host: str = "", origin: str | None = "") -> ClientConnection:
    """A websocket to the server that says it is addressed to another host."""
    host = host or server
    port = int(server.rpartition(":")[2])
    return connect(
        f"ws://{host}/_stcore/stream",
        sock=socket.create_connection(("127.0.0.1", port), timeout=20),
        subprotocols=["streamlit"],  # type: ignore[list-item]
        origin=f"http://{host}" if origin == "" else origin,  # type: ignore[arg-type]
        proxy=None,
    )


def messages_of(connection: ClientConnection, page: str = "") -> Iterator[ForwardMsg]:
    """Run a page; what the browser is told."""
    rerun(connection, page_name=page)
    while True:
        message = ForwardMsg()
        message.ParseFromString(bytes(connection.recv(20)))  # type: ignore[arg-type]
        yield message


def rerun(connection: ClientConnection, button: str = "", **asked: str) -> None:
    """Ask for a run, by the fields of Streamlit's message; a button may say that it rests."""
    message = BackMsg()
    message.rerun_script.MergeFrom(ClientState(**asked))
    if button:
        message.rerun_script.widget_states.widgets.add(id=button, trigger_value=False)
    connection.send(message.SerializeToString())


def finished(message: ForwardMsg) -> bool:
    """Return whether the message reports the end of a run that was not interrupted."""
    return message.script_finished in (
        ForwardMsg.FINISHED_SUCCESSFULLY,
        ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
    ) and message.HasField("script_finished")


def begun(told: Iterator[ForwardMsg]) -> NewSession:
    """Return the first message of the next run."""
    return next(message.new_session for message in told if message.HasField("new_session"))


def session_of(connection: ClientConnection) -> str:
    """Run the first page; the session's id."""
    return str(begun(messages_of(connection)).initialize.session_id)


def upload(server: str, session: str, size: int, name: str = "trace.json") -> int:
    """Upload a file as the browser does; the status of the answer."""
    head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = head.encode() + b" " * size + b"\r\n--b--\r\n"
    path = f"/_stcore/upload_file/{session}/{uuid.uuid4()}"
    return ask(
        server,
        path,
        "PUT",
        body,
        Content_Type="multipart/form-data; boundary=b",
        X_Xsrftoken=XSRF,
        Cookie=f"_streamlit_xsrf={XSRF}",
    ).status


def uploaded_bytes(server: str) -> int:
    """Return the memory that uploaded files take, by the server's own metrics."""
    text: str = ask(server, "/_stcore/metrics?families=cache_memory_bytes").text  # type: ignore[attr-defined]
    return sum(int(line.split()[-1]) for line in text.splitlines() if "UploadedFile" in line)


ROUTES = [
    *("/", "/beam", "/_stcore/health", "/_stcore/host-config", "/_stcore/metrics", "/media/x.json"),
    *("/static/js/index.js", "/component/x/y", "/_stcore/bidi-components/x/y", "/none"),
]
UPLOAD = "/_stcore/upload_file/a/b"


@pytest.mark.parametrize(
    ("method", "path"),
    [*(("GET", path) for path in ROUTES), ("PUT", UPLOAD), ("DELETE", UPLOAD), ("OPTIONS", UPLOAD)],
)
def test_no_route_answers_to_a_foreign_name(own: str, method: str, path: str) -> None:
    answer = ask(own, path, method, b"x", Host=EVIL)
    assert answer.status == 421
    assert "DECODING_EXPLORER_HOSTS" in answer.text  # type: ignore[attr-defined]


def test_a_websocket_under_a_foreign_name_or_of_another_page_is_refused(own: str) -> None:
    for host, origin in ((EVIL, ""), (EVIL, None), ("", f"http://{EVIL}"), ("", "null")):
        with pytest.raises(InvalidStatus) as refusal, dial(own, host, origin):
            pass
        assert refusal.value.response.status_code == 403
    with dial(own) as connection:
        assert session_of(connection)


@pytest.mark.slow  # A second server.
def test_a_shared_server_does_what_its_operator_set(shared: str, outside: Outside) -> None:
    assert ask(shared, "/_stcore/health", Host="explorer.example.org").status == 200
    with dial(shared, "explorer.example.org", "https://explorer.example.org") as connection:
        assert session_of(connection)
    assert ask(shared, "/_stcore/health", Host=EVIL).status == 421
    for host, origin in ((EVIL, ""), ("", f"http://{EVIL}"), ("", "http://203.0.113.5")):
        with pytest.raises(InvalidStatus), dial(shared, host, origin):
            pass
    assert "active_sessions" in ask(shared, "/_stcore/metrics").text  # type: ignore[attr-defined]
    for path in ("/v1/models", "/metrics"):
        assert ask(shared, path).status == 401
        assert ask(shared, path, Authorization=f"Bearer {KEY}").status == 200
    for path in ROUTES:
        framed = ask(shared, path).headers
        policy = framed["Content-Security-Policy"]
        assert policy.endswith("frame-ancestors https://blog.example.org")
        assert framed["X-Frame-Options"] is None
    assert outside.asked == []


def test_metrics_are_closed_unless_asked_for(own: str) -> None:
    for path in ("metrics", "metrics/", "%6detrics", "metrics?families=active_sessions"):
        answer = ask(own, f"/_stcore/{path}")
        assert answer.status == 404 or "active_sessions" not in answer.text  # type: ignore[attr-defined]


@pytest.mark.parametrize("path", ROUTES)
def test_every_answer_carries_the_headers(own: str, path: str) -> None:
    headers = ask(own, path).headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert f"ws://{own}" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"


def test_uploads_are_bounded(own: str) -> None:
    size = 4_900_000
    fitting = SESSION_BYTES // size
    assert TOTAL_BYTES >= 10 * SESSION_BYTES
    with dial(own) as connection:
        session = session_of(connection)
        statuses = [upload(own, session, size) for _ in range(fitting + 3)]
        assert statuses == [204] * fitting + [202] * 3
        # Another one isn't concerned.
        with dial(own) as second:
            other_session = session_of(second)
            assert upload(own, other_session, size) == 204
        assert upload(own, session, 1, "x" * MEGABYTE * 5) == 202
    assert upload(own, session, 1) == 400


@pytest.mark.slow  # Streamlit counts its caches anew every 5 s.
def test_files_are_forgotten_when_their_session_ends(shared: str) -> None:
    size = 4_900_000
    with dial(shared) as first, dial(shared) as second:
        for connection in (first, second):
            session = session_of(connection)
            assert [upload(shared, session, size) for _ in range(3)] == [204] * 3
        assert eventually(lambda: uploaded_bytes(shared) == 6 * size)
    assert eventually(lambda: uploaded_bytes(shared) == 0)


def test_an_upload_says_how_long_it_is(own: str) -> None:
    assert ask(own, UPLOAD, "PUT", Transfer_Encoding="chunked").status == 411


def test_the_app_never_looks_for_its_address_outside(own: str, outside: Outside) -> None:
    with pytest.raises(InvalidStatus), dial(own, "", "http://203.0.113.5"):
        pass
    assert outside.asked == []
    assert json.loads(ask(own, "/_stcore/host-config").text)["metricsUrl"] == ""  # type: ignore[attr-defined]


def test_the_endpoint_answers_beside_the_pages(own: str) -> None:
    answer = ask(own, "/v1/models")
    assert '"embedded:target"' in answer.text  # type: ignore[attr-defined]
    body = {"model": "embedded:target", "prompt": "Once upon a time", "max_tokens": 3}
    # The first request imports torch and loads the model.
    made = httpx2.post(f"http://{own}/v1/completions", json=body, timeout=120).json()
    assert made["usage"]["completion_tokens"] == 3
    metrics: str = ask(own, "/metrics").text  # type: ignore[attr-defined]
    assert "decoding_explorer_generation_tokens_total" in metrics


@pytest.mark.slow
def test_the_benchmarks_visitor_reads_a_page_and_runs_it(own: str) -> None:
    async def visit() -> list[str]:
        async with Visitor(urlsplit(f"//{own}").port or 0, "tokens=4") as visitor:
            await visitor.wait_until(lambda: visitor.charts > 3 and not visitor.running, 60)
            await visitor.press("Run")
            await visitor.wait_until(lambda: visitor.shows("Your run") and not visitor.running, 60)
            return visitor.errors

    assert asyncio.run(visit()) == []


@pytest.mark.parametrize(
    ("query", "to"),
    [
        ("prompt=a%26b%3Fc&method=greedy", "/decode?prompt=a%26b%3Fc&method=greedy"),
        ("run=1", "/decode?run=1"),
        ("step=4&unknown=1", "/decode?step=4&unknown=1"),
        ("min_p=0.1", "/decode?min_p=0.1"),
        ("", ""),
        ("home=1&prompt=a", ""),
        ("lesson=dice&class=ABC", ""),
        ("embed=true", ""),
    ],
)
def test_an_old_link_to_decode_leads_there_with_its_query(own: str, query: str, to: str) -> None:
    answer = ask(own, f"/?{query}")
    assert answer.status == (307 if to else 200)
    assert (answer.headers["location"] or "") == to


def test_a_browser_knows_its_page_before_anything_may_rerun_it(own: str) -> None:
    """A rerun before that is one of the first page, whatever the address says."""
    with dial(own) as connection:
        kinds = [
            message.delta.new_element.WhichOneof("type") or message.WhichOneof("type")
            for message, _ in zip(messages_of(connection, "sampling"), range(20), strict=False)
        ]
    assert "navigation" in kinds[: kinds.index("bidi_component")]


class FirstPage(NamedTuple):
    """Report of a page's first run: its hash, and the other pages' by their path."""

    hash: str
    others: dict[str, str]
    fragments: list[str]
    buttons: list[str]


def first_page(told: Iterator[ForwardMsg]) -> FirstPage:
    """Take in the first run."""
    page = FirstPage("", {}, [], [])
    for message in itertools.takewhile(lambda message: not finished(message), told):
        page.fragments.extend(filter(None, [message.delta.fragment_id]))
        page.buttons.extend(filter(None, [message.delta.new_element.button.id]))
        if message.HasField("navigation"):
            told_pages = message.navigation
            others = {
                app_page.url_pathname: app_page.page_script_hash
                for app_page in told_pages.app_pages
            }
            page = page._replace(hash=told_pages.page_script_hash, others=others)
    return page


def test_a_page_that_was_left_gets_no_answer_under_the_next_one(own: str) -> None:
    """The browser empties the page where a part of another one is answered."""
    with dial(own) as connection:
        messages = messages_of(connection, "decode")
        page, others, fragments, buttons = first_page(messages)
        rerun(connection, buttons[0], page_script_hash=others["beam"])
        rerun(connection, page_script_hash=page, fragment_id=fragments[-1])
        assert begun(messages).page_script_hash == others["beam"]
        next(message for message in messages if finished(message))
        time.sleep(0.3)
        rerun(connection, page_script_hash=others["inside"])
        assert begun(messages).page_script_hash != page
        # Going back to it is answered.
        rerun(connection, page_script_hash=page)
        assert begun(messages).page_script_hash == page


def test_a_menu_that_closes_on_the_way_to_another_page_brings_nobody_back(own: str) -> None:
    """Example: the export menu, when the next click is on the navigation."""
    with dial(own) as connection:
        messages = messages_of(connection)
        page, others, _, buttons = first_page(messages)
        rerun(connection, buttons[-1], page_script_hash=page)
        assert begun(messages).page_script_hash == page
        rerun(connection, page_script_hash=others["beam"])
        rerun(connection, buttons[-1], page_script_hash=page)
        assert begun(messages).page_script_hash == others["beam"]
        left = itertools.takewhile(lambda message: not finished(message), messages)
        assert not [message for message in left if message.HasField("new_session")]
        rerun(connection, page_script_hash=page)
        assert begun(messages).page_script_hash == page


@pytest.mark.parametrize(
    ("message", "as_text", "words"),
    [
        ("text", None, "unreadable message"),
        slow(b"\xff\xff\xff", None, "unreadable message"),
        slow(b"\xff\xfe", True, "Invalid UTF-8"),
    ],
)
def test_a_message_that_is_none_of_the_apps_is_logged_in_one_line(
    own: str,
    message: str | bytes,
    as_text: bool | None,
    words: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with dial(own) as connection:
        connection.send(message, text=as_text)
        with pytest.raises(ConnectionClosed):
            connection.recv(20)
    log = next(tmp_path_factory.getbasetemp().glob("own*/log.txt")).read_text()
    assert words in log and "Traceback" not in log
