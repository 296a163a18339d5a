"""Counters of the endpoint, in Prometheus' format.

Metrics that vLLM also has use vLLM's names: inter-token latency, speculative decoding.
"""

from __future__ import annotations

from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from .history import Record

CONTENT_TYPE = CONTENT_TYPE_LATEST
_FIRST = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_BETWEEN = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)


class Metrics:
    """Counters of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        prefixed: dict[str, Any] = {"namespace": "decoding_explorer", "registry": self._registry}
        self.requests = Counter(
            "requests", "Requests that have ended.", ["endpoint", "model", "outcome"], **prefixed
        )
        self.refused = Counter("refused", "Requests that were refused.", ["status"], **prefixed)
        self.prompt_tokens = Counter("prompt_tokens", "Tokens of prompts.", ["model"], **prefixed)
        self.tokens = Counter("generation_tokens", "Generated tokens.", ["model"], **prefixed)
        self.first = Histogram(
            "time_to_first_token_seconds",
            "From a request's arrival to its first token.",
            ["model"],
            buckets=_FIRST,
            **prefixed,
        )
        self.between = Histogram(
            "vllm:inter_token_latency_seconds",
            "From each emission of a run to its next; a round of speculative decoding is one.",
            ["model_name"],
            buckets=_BETWEEN,
            registry=self._registry,
        )
        self.running = Gauge("requests_under_way", "Requests waiting or at work.", **prefixed)
        self.waiting = Gauge(
            "queue_length",
            "Jobs of pages and requests in line, the one at work included.",
            **prefixed,
        )
        self._drafts = self._vllm("num_drafts", "Rounds of speculative decoding.")
        self._drafted = self._vllm("num_draft_tokens", "Drafted tokens.")
        self._accepted = self._vllm("num_accepted_tokens", "Drafted tokens that were accepted.")
        self._per_position = self._vllm(
            "num_accepted_tokens_per_pos", "Accepted tokens by place in the draft.", "position"
        )

    def _vllm(self, name: str, text: str, *labels: str) -> Counter:
        labelnames = ("model_name", *labels)
        return Counter(f"vllm:spec_decode_{name}", text, labelnames, registry=self._registry)

    def ended(self, record: Record) -> None:
        """Count a finished request, with any outcome."""
        model = record.model
        self.requests.labels(record.endpoint, model, record.state).inc()
        self.prompt_tokens.labels(model).inc(record.prompt_tokens)
        self.tokens.labels(model).inc(record.tokens)
        if (first := record.seconds_to_first_token) is not None:
            self.first.labels(model).observe(first)
        for gap in record.gaps:
            self.between.labels(model).observe(gap)
        for trace in record.traces:
            for draft_round in trace.rounds:
                accepted = len(draft_round.accepted)
                self._drafts.labels(model).inc()
                self._drafted.labels(model).inc(len(draft_round.drafted))
                self._accepted.labels(model).inc(accepted)
                for position in range(accepted):
                    self._per_position.labels(model, str(position)).inc()

    def text(self) -> bytes:
        """Return all counters in Prometheus' format."""
        return generate_latest(self._registry)
