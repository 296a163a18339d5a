"""What decodes: each endpoint is a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

Endpoint: TypeAlias = Literal["responses", "chat", "completions"]


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint.

    Args:
        label: as people say it.
        path: below `/v1`.
        prompt: the parameter that holds the text or the conversation.
        limits: the parameters that bound the new tokens, OpenAI's newest name first.
    """

    label: str
    path: str
    prompt: str
    limits: tuple[str, ...]

    @property
    def create(self) -> str:
        """The official client's call."""
        return f"client{self.path.replace('/', '.')}.create"


ENDPOINTS: Mapping[Endpoint, EndpointRow] = MappingProxyType(
    {
        "responses": EndpointRow(
            "Responses", "/responses", "input", ("max_output_tokens", "max_tokens")
        ),
        "chat": EndpointRow(
            "Chat", "/chat/completions", "messages", ("max_completion_tokens", "max_tokens")
        ),
        "completions": EndpointRow("Completions", "/completions", "prompt", ("max_tokens",)),
    }
)
