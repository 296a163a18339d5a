"""The controls of a request that is sent from the page, and the body that they describe."""

from __future__ import annotations

import json
from typing import Any

from core.decoding.errors import ConfigError, ModelError
from core.decoding.record.trace import Trace
from core.language import N_, Message
from core.server.api.endpoints import ENDPOINTS
from core.server.settings import variable
from pages.ui.resources import models
from pages.ui.run import shared
from pages.ui.widgets.controls import control
from pages.ui.widgets.controls.control import Number, Text, declare, value
from pages.ui.widgets.controls.options import Menu, Segments

MAX_DECODING = 4_000
ROWS = declare(
    Segments("endpoint", N_("Endpoint"), "responses",
        {name: row.label for name, row in ENDPOINTS.items()}),
    Number("reply", N_("Tokens"), 60, 1, 2000, short=True),
    Number("heat", N_("Temperature"), 0.8, 0.0, 2.0, 0.05, short=True),
    Menu("effort", N_("Reasoning"), "none",
        {"none": N_("Effort not set"), "low": N_("Low effort"), "medium": N_("Medium effort"),
            "high": N_("High effort")},
        acts=lambda read: read("endpoint") != "completions"),
    Text("decoding", N_("Decoding (JSON)"), "", max_chars=MAX_DECODING,
        placeholder='{"method": "beam", "num_beams": 4}',
        help=N_("Any decoding method with its settings, as in a trace file; empty for "
            "sampling. What it says goes before the fields beside it.")),
)  # fmt: skip


def draw_call() -> None:
    """Draw the controls of a request in one row."""
    control.draw("endpoint", label_visibility="collapsed")
    control.draw("reply", "heat")
    control.draw("effort", label_visibility="collapsed", width=190)
    control.draw("decoding", width="stretch")


def load_controls(trace: Trace) -> None:
    """A file opens on the page of its method; its prompt is shared with this one."""
    control.load(shared.control_values(trace))


def body() -> tuple[Any, dict[str, Any]]:
    """The endpoint and the body that the controls and the sidebar describe.

    Raises:
        ConfigError: `decoding` is no JSON object.
        ModelError: the endpoint doesn't offer the picked model.
    """
    _require_offered(shared.model())
    endpoint, prompt = value("endpoint"), str(value("prompt"))
    system = str(value("system")) if shared.chat() else ""
    fields: dict[str, Any] = {"model": shared.model()}
    if endpoint == "responses":
        fields |= {"input": prompt, **({"instructions": system} if system.strip() else {})}
    elif endpoint == "chat":
        before = [{"role": "system", "content": system}] if system.strip() else []
        fields |= {"messages": [*before, {"role": "user", "content": prompt}]}
    else:
        fields |= {"prompt": prompt}
    decoding, limit = decoding_in(str(value("decoding"))), ENDPOINTS[endpoint].limits[0]
    # The endpoint refuses what is said twice.
    limits = {"max_new_tokens": (limit, "reply"), "seed": ("seed", "seed")}
    fields |= {
        name: int(value(key)) for setting, (name, key) in limits.items() if setting not in decoding
    }
    shaping = decoding.get("shaping")
    shaped = isinstance(shaping, dict) and "temperature" in shaping
    if decoding.get("method", "sampling") == "sampling" and not shaped:
        fields["temperature"] = float(value("heat"))
    if (effort := value("effort")) != "none" and endpoint != "completions":
        fields |= {"reasoning": {"effort": effort}} if endpoint == "responses" else {}
        fields |= {"reasoning_effort": effort} if endpoint == "chat" else {}
    return endpoint, fields | ({"decoding": decoding} if decoding else {})


def _require_offered(where: str) -> None:
    if where not in models.offered() and models.is_on_server(where):
        raise ModelError(
            Message(
                "The endpoint offers models by the operator's names: start the app with "
                "{variable}=large={where} and choose large, or choose another model.",
                variable=variable("models"),
                where=where,
            )
        )


def decoding_in(text: str) -> dict[str, Any]:
    """The settings in the field; none where it is empty.

    Raises:
        ConfigError: no JSON object.
    """
    if not text.strip():
        return {}
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise ConfigError(Message('decoding is a JSON object, such as {"method": "greedy"}.'))
    return settings
