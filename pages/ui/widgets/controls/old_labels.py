"""Labels and names that addresses held before, so that old links open."""

from __future__ import annotations

from typing import Any

OLD_LABELS: dict[str, dict[str, Any]] = {
    "figure_journal": {"None": "none", "Nature": "nature", "ICML": "icml", "NeurIPS": "neurips",
        "ACL": "acl"},
    "figure_theme": {"Light": "light", "Dark": "dark", "Grey": "grey"},
    "draw": {"Inverse CDF": "inverse_cdf", "Gumbel": "gumbel", "Multinomial": "multinomial"},
    "method": {"Sampling": "sampling", "Greedy": "greedy", "Contrastive": "contrastive",
        "By the engine": "engine"},
    "color": {"Probability": "probability", "Entropy": "entropy", "Rank": "rank",
        "Surprisal": "surprisal"},
    "dice": {"Inverse CDF": "inverse_cdf", "Gumbel": "gumbel", "Multinomial": "multinomial"},
    "at": {"A step of the run": "run", "The prompt's next token": "prompt"},
    "order": {"vLLM": "vllm"},
    "early": {"Off": False, "On": True, "Never": "never"},
    "paths": {"All": 0, "Best": 1, "2 best": 2, "3 best": 3, "5 best": 5},
    "tree_beams": {"All": 0},
    "draft": {"prompt lookup": "prompt_lookup"},
    "rule": {"Speculative": "speculative", "Exact match": "exact", "Typical": "typical"},
    "scoring": {"Multi-query": "multi_query", "Batch expansion": "batch_expansion"},
    "problem": {"Chain of steps": "chain", "Hard sum": "sum", "My own": "own"},
    "bound": {"Closes the thinking": "close", "Cuts the run off": "cut"},
    "flame": {"This step": "step", "Its forward, by module": "modules", "The whole run": "run"},
    "cells": {"Token": "token", "Rank": "rank"},
    "evaluation": {"The template that leaked": "leak", "The hot draft": "hot-draft",
        "Beam is not better": "beam", "My plan": "own"},
    "endpoint": {"Responses": "responses", "Chat": "chat", "Completions": "completions"},
    "effort": {"Effort not set": "none", "Low effort": "low", "Medium effort": "medium",
        "High effort": "high"},
    "lab_look": {"1,000 rolls": "rolls", "Temperature": "sweep", "Continuations": "tree",
        "What logprobs mean": "logprobs"},
    "reason_look": {"Many problems": "sweep", "Same bound, other ways": "rivals",
        "Best of N": "best", "What a level is": "level", "A calculator": "tools"},
    "inside_look": {"Calls over time": "calls", "Modules": "modules", "Logit lens": "lens",
        "Attention": "attention"},
    "evaluate_look": {"Answers": "answers", "Paired differences": "pairs", "Best of N": "best",
        "Costs": "costs"},
    "spec-look": {"Where the time goes": "time", "Acceptance and metrics": "metrics",
        "What is fed to the target": "feed", "Losslessness": "lossless",
        "The server's speculation": "server"},
}  # fmt: skip
# Names of controls by the paths of their pages, with the names of today.
OLD_KEYS = {"evaluate": {"lesson": "evaluation"}}
