"""`python -m benchmarks.replicas`: three replicas behind deploy/haproxy.cfg, walked in a browser.

Each of three visitors makes a run and saves its trace file. Then the proxy is started again, and
later one replica is killed (-9). A visitor must stay on one replica while it lives; the visitor
whose replica died must go on after a reload, and open the saved trace there; the others must notice
nothing. Needs HAProxy (Debian: apt install haproxy).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import NamedTuple, Self

from playwright.sync_api import Browser, Response, WebSocket, expect, sync_playwright
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from benchmarks.app import ROOT, answers, free_port
from tests.browser.conftest import ARGUMENTS, VIEWPORT
from tests.browser.decode_page import DecodePage
from tests.browser.find_browser import installed_browser

HOST = "explorer.example.org"
KEYS = tuple(f"key-{number}-of-many-letters" for number in range(8))
OPERATOR = {
    "DECODING_EXPLORER_HOSTS": HOST,
    "DECODING_EXPLORER_API_KEYS": ",".join(KEYS),
    "DECODING_EXPLORER_METRICS": "1",
    "HF_HUB_OFFLINE": "1",
}
QUESTION = {"model": "embedded:target", "input": "What is 3 + 4?", "max_output_tokens": 8}
# Takes far longer than the walk waits for its end, unless the client's hang-up ends it.
LONG = {"model": "embedded:target", "prompt": "once", "max_tokens": 600, "n": 16, "temperature": 9}
HANG_UP_SECONDS = 5.0
PATIENCE = 120.0


def main() -> int:
    """Walk and print each check; one that fails raises. Return 1 where HAProxy is missing."""
    if not shutil.which("haproxy"):
        print("This needs HAProxy (Debian: apt install haproxy).", file=sys.stderr)
        return 1
    expect.set_options(timeout=PATIENCE * 1000)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        replicas = {name: stack.enter_context(replica(folder / name)) for name in "abc"}
        front = stack.enter_context(proxy(replicas))
        playwright = stack.enter_context(sync_playwright())
        mapped = f"--host-resolver-rules=MAP {HOST} 127.0.0.1"
        browser = playwright.chromium.launch(
            executable_path=installed_browser(), args=[*ARGUMENTS, mapped]
        )
        check_refusals(front)
        tabs = {tab.replica: tab for tab in [Tab(browser, front.port, at) for at in range(3)]}
        check("three visitors are on three replicas", sorted(tabs), list(replicas))
        files = {name: tab.run_and_save(folder) for name, tab in tabs.items()}
        check_visitors_stay(front, replicas, tabs)
        check_endpoint(front, replicas)
        check_class(browser, tabs)
        lost = check_a_death(front, replicas, tabs, files)
        replicas[lost].__enter__()
        wait_until(lambda: Tab(browser, front.port, 9).replica == lost, "new visitors reach it")
        print("a replica that starts again gets new visitors")
    print("passed")
    return 0


class Server:
    """A process that listens on a port of its own.

    Args:
        command: with `PORT` where the port belongs.
    """

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        self.port = free_port()
        self._command = [part.replace("PORT", str(self.port)) for part in command]
        own = {name: value.replace("PORT", str(self.port)) for name, value in variables.items()}
        self._variables = {**os.environ, **own}

    def __enter__(self) -> Self:
        """Start it and wait until it answers."""
        self.process = subprocess.Popen(self._command, cwd=ROOT, env=self._variables)
        wait_until(lambda: answers(f"http://127.0.0.1:{self.port}"), "the server answers")
        return self

    def __exit__(self, *_: object) -> None:
        """End it as `kill -9` does."""
        self.process.kill()
        self.process.wait()

    def ask(self, path: str, body: object = None, key: str = KEYS[0], **headers: str) -> Answer:
        """Return the answer to a GET, or to a POST of a body as JSON."""
        client = self.send(path, body, key, **headers)
        answer = client.getresponse()
        return Answer(answer.status, answer.read().decode())

    def send(self, path: str, body: object, key: str, **headers: str) -> HTTPConnection:
        """Send a request and return its connection."""
        sent = {"Host": HOST, "Content-Type": "application/json"}
        sent |= {"Authorization": f"Bearer {key}"} if key else {}
        client = HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        content = json.dumps(body) if body else None
        client.request("POST" if body else "GET", path, content, {**sent, **headers})
        return client

    def figure(self, path: str, name: str) -> int:
        """Return one of a replica's own figures."""
        lines = self.ask(path).text.splitlines()
        return int(sum(float(line.split()[-1]) for line in lines if line.startswith(name)))


class Answer(NamedTuple):
    """Status and text of an HTTP answer."""

    status: int
    text: str


def replica(cache: Path) -> Server:
    """Return a replica that shares nothing with the others."""
    options = ["--server.headless", "true", "--server.port", "PORT"]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    return Server(command, {**OPERATOR, "XDG_CACHE_HOME": str(cache)})


def proxy(replicas: Mapping[str, Server]) -> Server:
    """Return HAProxy with the configuration of `deploy/`."""
    places = {f"REPLICA_{name.upper()}": f"127.0.0.1:{replicas[name].port}" for name in replicas}
    command = ["haproxy", "-db", "-f", str(ROOT / "deploy/haproxy.cfg")]
    return Server(command, {**places, "PROXY": "127.0.0.1:PORT"})


class Saved(NamedTuple):
    """A trace file that a visitor saved, and its tokens as the page showed them."""

    file: Path
    words: list[str]


class Tab:
    """A visitor's only tab, in a browser profile of its own."""

    def __init__(self, browser: Browser, port: int, seed: int) -> None:
        self.page = browser.new_context(viewport=VIEWPORT, reduced_motion="reduce").new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.sockets: list[WebSocket] = []
        self.answers: list[Response] = []
        self.troubles: list[str] = []
        self.page.on("websocket", lambda socket: self.sockets.append(socket))
        self.page.on("response", lambda answer: self.answers.append(answer))
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.decode = DecodePage(self.page, f"http://{HOST}:{port}").open(seed=seed, tokens=20)

    @property
    def replica(self) -> str:
        """Name of the replica that the proxy sends this browser to."""
        cookies = self.page.context.cookies()
        return next(cookie["value"] for cookie in cookies if cookie["name"] == "replica")

    @property
    def words(self) -> list[str]:
        """Tokens that the page shows."""
        return self.decode.tokens.all_inner_texts()

    def answers_that_name_a_replica(self) -> list[int]:
        """Positions of the answers that set the proxy's cookie, counted from the first answer."""
        headers = [answer.header_values("set-cookie") for answer in self.answers]
        return [at for at, values in enumerate(headers) if "replica=" in str(values)]

    def run_and_save(self, folder: Path) -> Saved:
        """Make a run and save its trace file."""
        self.decode.run()
        self.page.locator(".st-key-save button").first.click()
        _, content = self.decode.download("Trace file (JSON)")
        self.page.keyboard.press("Escape")
        file = folder / f"{self.replica}.json"
        file.write_bytes(content)
        return Saved(file, self.words)

    def run_anew(self, seed: int) -> None:
        """Make a run with another seed and wait until it stands in place of the one before."""
        before = self.words
        self.decode.set_number("seed", seed)
        self.decode.run()
        expect(self.decode.tokens).not_to_have_text(before)
        expect(self.decode.status).to_contain_text("Your run")

    def wait_for_sockets(self, count: int) -> None:
        """Wait until the page has opened so many websockets, and its last one receives."""
        while len(self.sockets) < count:
            self.page.wait_for_event("websocket")
        expect(self.decode.run_button).to_be_enabled()


def check_refusals(front: Server) -> None:
    """Foreign names, origins and clients without a key are refused behind the proxy too."""
    check("a foreign host is refused", front.ask("/", Host="evil.example").status, 421)
    check("a client without a key is refused", front.ask("/v1/models", key="").status, 401)
    address = f"ws://127.0.0.1:{front.port}/_stcore/stream"
    try:
        connect(address, origin="http://evil.example", proxy=None).close()  # type: ignore[arg-type]
        status = 101
    except InvalidStatus as refusal:
        status = refusal.response.status_code
    check("another site's websocket is refused", status, 403)


def check_visitors_stay(
    front: Server, replicas: Mapping[str, Server], tabs: Mapping[str, Tab]
) -> None:
    """All requests of a visitor reach one replica, also when the proxy has started again."""
    words = {name: tab.words for name, tab in tabs.items()}
    named = [tab.answers_that_name_a_replica() for tab in tabs.values()]
    check("the first answer names the replica, no later one does", named, [[0]] * 3)
    check("each replica has one visitor", visitors(replicas), [1, 1, 1])
    front.__exit__()
    front.__enter__()
    for tab in tabs.values():
        tab.wait_for_sockets(2)
    check(
        "the proxy starts again: all keep their replica",
        [t.replica for t in tabs.values()],
        [*tabs],
    )
    check("each replica has one visitor again", visitors(replicas), [1, 1, 1])
    check("their runs are still shown", {name: tab.words for name, tab in tabs.items()}, words)


def check_class(browser: Browser, tabs: Mapping[str, Tab]) -> None:
    """The link of a class leads to the teacher's replica, whatever replica the pupil has had."""
    (name, teacher), (other, _), *_ = tabs.items()
    origin = teacher.decode.server
    page = teacher.page.context.new_page()
    page.goto(f"{origin}/class")
    page.get_by_role("button", name="Open a class").click()
    link = page.locator(".st-key-class-invitation code").inner_text().replace("\n", "")
    check("the link names the replica", link.endswith(f"&replica={name}"), True)
    context = browser.new_context(viewport=VIEWPORT, reduced_motion="reduce")
    context.add_cookies([{"name": "replica", "value": other, "url": origin}])
    pupil = context.new_page()
    pupil.goto(link)
    expect(pupil.locator(".st-key-class-line")).to_contain_text("You are in class")
    expect(page.get_by_text("1 pupil in the class")).to_be_visible()
    cookies = [each["value"] for each in context.cookies() if each["name"] == "replica"]
    check("a pupil of another replica joins on the teacher's", cookies, [name])
    pupil.goto(link.partition("&")[0].replace("?class=", "?seed=1&class="))
    expect(pupil.locator(".st-key-class-line")).to_contain_text("You are in class")
    context.close()
    page.close()


def check_endpoint(front: Server, replicas: Mapping[str, Server]) -> None:
    """A key's requests reach one replica, and a client that hangs up ends its run."""
    made = {key: respond(front, key) for key in KEYS}
    found = [front.ask(f"/v1/responses/{id_}", key=key).status for key, id_ in made.items()]
    check("each key finds its response", found, [200] * len(KEYS))
    homes = {home(replicas, key, id_) for key, id_ in made.items()}
    check("eight keys are on more than one replica", len(homes) > 1, True)
    by_cookie = [home(replicas, KEYS[0], respond(front, Cookie=f"replica={n}")) for n in replicas]
    check("a visitor's cookie chooses the replica", by_cookie, list(replicas))
    client = front.send("/v1/completions", LONG, KEYS[0], Cookie="replica=b")
    wait_until(lambda: under_way(replicas["b"]) == 1, "the request is under way")
    client.close()
    wait_until(lambda: under_way(replicas["b"]) == 0, "its run ends", HANG_UP_SECONDS)
    print("a client that hangs up ends its run")


def check_a_death(
    front: Server,
    replicas: Mapping[str, Server],
    tabs: Mapping[str, Tab],
    files: Mapping[str, Saved],
) -> str:
    """Kill the replica of one visitor and of a key; return its name."""
    response = respond(front)
    lost = home(replicas, KEYS[0], response)
    tab, others = tabs[lost], [tabs[name] for name in tabs if name != lost]
    replicas[lost].__exit__()
    for other in others:
        other.run_anew(50)
    check("the others run on, and never reconnected", [len(o.sockets) for o in others], [2, 2])
    tab.page.reload()
    tab.decode.expect_open()
    check("after a reload the visitor is on another replica", tab.replica in replicas, True)
    check("which isn't the dead one", tab.replica != lost, True)
    expect(tab.decode.status).to_contain_text("Your run")
    expect(tab.decode.tokens).to_have_text(files[lost].words)
    print("the address makes the same run there")
    tab.run_anew(51)
    print("it runs on with another seed")
    tab.decode.open_trace(files[lost].file)
    expect(tab.decode.status).to_contain_text("From a file")
    expect(tab.decode.tokens).to_have_text(files[lost].words)
    print("the saved trace opens there")
    left = {name: server for name, server in replicas.items() if name != lost}
    check("two replicas have the three visitors", sum(visitors(left)), 3)
    check("no page failed", [trouble for t in tabs.values() for trouble in t.troubles], [])
    check("each key is answered", len([respond(front, key) for key in KEYS]), len(KEYS))
    gone = front.ask(f"/v1/responses/{response}").status
    check("the dead replica's stored responses are gone", gone, 404)
    return lost


def respond(front: Server, key: str = KEYS[0], **headers: str) -> str:
    """Ask the endpoint and return the id of its stored response."""
    answer = front.ask("/v1/responses", QUESTION, key, **headers)
    assert answer.status == 200, answer.text
    return str(json.loads(answer.text)["id"])


def home(replicas: Mapping[str, Server], key: str, response: str) -> str:
    """Return the name of the replica that holds a response."""
    path = f"/v1/responses/{response}"
    return next(n for n, server in replicas.items() if server.ask(path, key=key).status == 200)


def visitors(replicas: Mapping[str, Server]) -> list[int]:
    """Numbers of the visitors that are connected, by Streamlit's figures."""
    path = "/_stcore/metrics?families=active_sessions"
    return [server.figure(path, "active_sessions") for server in replicas.values()]


def under_way(server: Server) -> int:
    """Return the number of the endpoint's requests that wait or run."""
    return server.figure("/metrics", "decoding_explorer_requests_under_way")


def check(words: str, found: object, expected: object) -> None:
    """Print the check; raises RuntimeError where it fails."""
    if found != expected:
        raise RuntimeError(f"Failed: {words}. Found {found!r} in place of {expected!r}.")
    print(words, flush=True)


def wait_until(holds: Callable[[], bool], words: str, seconds: float = PATIENCE) -> None:
    """Wait for a condition; raises TimeoutError."""
    end = perf_counter() + seconds
    while not holds():
        if perf_counter() > end:
            raise TimeoutError(f"Not within {seconds:.0f} s: {words}.")
        sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
