"""A request as one would write it elsewhere: with the official client, with curl, as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from core.server.api.endpoints import ENDPOINTS, Endpoint
from core.server.api.request import vllm_fields

# What the official client takes through `extra_body` only.
_OURS = {"decoding", "logprobs_mode", "return_tokens_as_token_ids", *vllm_fields.NAMES}
_OURS_IN_RESPONSES = _OURS | {"seed", "stop", "logit_bias"}


def as_json(body: Mapping[str, Any]) -> str:
    """The body itself."""
    return json.dumps(body, indent=2, ensure_ascii=False)


def as_curl(base: str, endpoint: Endpoint, body: Mapping[str, Any], *, key: bool) -> str:
    """A line for a shell.

    Args:
        base: the address up to `/v1`.
        key: whether the server asks for one.
    """
    authorization = ' \\\n  -H "Authorization: Bearer $OPENAI_API_KEY"' if key else ""
    return (
        f"curl {shlex.quote(base + ENDPOINTS[endpoint].path)}{authorization} \\\n"
        '  -H "Content-Type: application/json" \\\n'
        f"  -d {shlex.quote(as_json(body))}"
    )


def as_python(base: str, endpoint: Endpoint, body: Mapping[str, Any], *, key: bool) -> str:
    """The call with the official client."""
    extra = _OURS_IN_RESPONSES if endpoint == "responses" else _OURS
    standard = {name: held for name, held in body.items() if name not in extra}
    ours = {name: held for name, held in body.items() if name in extra}
    arguments = [f"    {name}={held!r}," for name, held in standard.items()]
    arguments += [f"    extra_body={ours!r},"] if ours else []
    secret = "" if key else ', api_key="none"'
    lines = [
        "from openai import OpenAI",
        "",
        f"client = OpenAI(base_url={base!r}{secret})",
        f"answer = {ENDPOINTS[endpoint].create}(",
        *arguments,
        ")",
        "print(answer.to_json())",
    ]
    return "\n".join(lines)
