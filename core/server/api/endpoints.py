"""Table of the endpoints that decode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

# Path prefix of OpenAI's API.
V1 = "/v1"
Endpoint: TypeAlias = Literal["responses", "chat", "completions"]


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """Names of one endpoint.

    Args:
        label: display name.
        path: path below `V1`.
        prompt: the parameter with the text or the conversation.
        limits: the parameters that limit new tokens, OpenAI's newest name first.
        id_prefix: prefix of an answer's id.
    """

    label: str
    path: str
    prompt: str
    limits: tuple[str, ...]
    id_prefix: str

    @property
    def create(self) -> str:
        """The method of OpenAI's official client."""
        return f"client{self.path.replace('/', '.')}.create"


ENDPOINTS: Mapping[Endpoint, EndpointRow] = MappingProxyType(
    {
        "responses": EndpointRow(
            "Responses", "/responses", "input", ("max_output_tokens", "max_tokens"), "resp_"
        ),
        "chat": EndpointRow(
            "Chat",
            "/chat/completions",
            "messages",
            ("max_completion_tokens", "max_tokens"),
            "chatcmpl-",
        ),
        "completions": EndpointRow(
            "Completions", "/completions", "prompt", ("max_tokens",), "cmpl-"
        ),
    }
)
