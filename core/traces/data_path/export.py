"""Export a data path as JSON, as OpenTelemetry spans, or as a Chrome trace."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from .types import PHASES, DataPath, FunctionCall

SCHEMA, VERSION = "decoding-explorer-data-path", 1
_NAME = "decoding-explorer"
# Bytes in protobuf's JSON are base64; OTLP's JSON writes ids in hexadecimal instead.
_IDS = ("traceId", "spanId", "parentSpanId")


def as_json(path: DataPath) -> dict[str, Any]:
    """Return nested calls as plain values, ready for `json.dump`."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "began_unix_nano": path.began,
        "seconds": path.seconds,
        "left_out": path.left_out,
        "phases": PHASES,
        "calls": [_call(call) for call in path.calls],
    }


def _call(call: FunctionCall) -> dict[str, Any]:
    return {
        **{name: value for name, value in call._asdict().items() if name != "calls"},
        "arguments": dict(call.arguments),
        "calls": [_call(inner) for inner in call.calls],
    }


def as_chrome(path: DataPath) -> dict[str, Any]:
    """Return Trace Event Format for Perfetto and chrome://tracing; times in microseconds."""
    events = [
        {
            "name": call.function,
            "cat": call.phase,
            "ph": "X",
            "ts": 1e6 * call.start,
            "dur": 1e6 * call.seconds,
            "pid": 1,
            "tid": 1,
            "args": attributes(call),
        }
        for call in path.walk()
    ]
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def attributes(call: FunctionCall) -> dict[str, str | int]:
    """Return a call's attributes except its name and times, under OpenTelemetry's names."""
    values: dict[str, str | int] = {
        "code.function.name": call.function,
        "code.file.path": call.file,
        "code.line.number": call.line,
        "decoding.phase": call.phase,
        "decoding.out": call.result,
    }
    return values | {f"decoding.in.{name}": text for name, text in call.arguments}


def as_otlp(path: DataPath) -> dict[str, Any]:
    """Return OTLP/JSON spans of one trace, for Jaeger and OpenTelemetry collectors."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    data: dict[str, Any] = MessageToDict(
        encode_spans(list(_spans(path))), use_integers_for_enums=True
    )
    for resource in data.get("resourceSpans", []):
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                span.update(
                    {name: base64.b64decode(span[name]).hex() for name in _IDS if name in span}
                )
    return data


def _spans(path: DataPath) -> Iterator[Any]:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import INVALID_SPAN, set_span_in_context

    resource = Resource({"service.name": _NAME})
    tracer = TracerProvider(resource=resource, shutdown_on_exit=False).get_tracer(_NAME)

    def spans_of(call: FunctionCall, parent: Any) -> Iterator[Any]:
        span = tracer.start_span(
            call.function,
            set_span_in_context(parent),
            attributes=attributes(call),
            start_time=path.began + int(1e9 * call.start),
        )
        for inner in call.calls:
            yield from spans_of(inner, span)
        span.end(path.began + int(1e9 * (call.start + call.seconds)))
        yield span

    whole = tracer.start_span("recording", set_span_in_context(INVALID_SPAN), start_time=path.began)
    for call in path.calls:
        yield from spans_of(call, whole)
    whole.end(path.began + int(1e9 * path.seconds))
    yield whole
