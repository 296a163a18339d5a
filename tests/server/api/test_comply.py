"""`llm-comply`, which holds the endpoint to the published schemas of both APIs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.server.api.served import Served

# The models here look at no pictures, which the refusals' tests look at.
NOT_HERE = {"image-input", "chat-image-input"}
# What few servers have, which the tool passes with a warning.
ADVISORY = {"compact-response"}
# The tool runs these with OpenAI's own models only.
SKIPPED = {"reasoning-summary", "chat-reasoning-summary"}
LEFT_OUT = NOT_HERE | ADVISORY | SKIPPED
# OpenAI's client knows the events of a thinking by these names; the specification has others.
OPENAI_NAMES = {
    f"unknown SSE event type: response.reasoning_text.{end}" for end in ("delta", "done")
}


@pytest.mark.parametrize("style", ["open-responses", "openai-chat"])
def test_the_published_schemas_are_kept(endpoint: Served, style: str) -> None:
    options = ["-u", f"{endpoint.url}/v1", "-k", "any", "-m", "embedded:target", "--json"]
    command = [sys.executable, "-m", "llm_comply.cli", "--format", style, *options]
    done = subprocess.run(command, capture_output=True, text=True)
    results = {result["id"]: result for result in json.loads(done.stdout)["results"]}
    assert len(results) >= 9
    wrong = [
        result
        for name, result in results.items()
        if (result["status"] != "passed" or result.get("warnings"))
        and name not in LEFT_OUT
        and not (result.get("errors") and set(result["errors"]) <= OPENAI_NAMES)
    ]
    assert wrong == []
    for name in results.keys() & NOT_HERE:
        assert "HTTP 400" in results[name]["errors"][0]
