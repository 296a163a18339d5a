"""Table of common APIs: the stage of their log-probabilities, each with its source."""

from __future__ import annotations

import streamlit as st

from core.language import N_, tr
from pages.ui import platform

_GITHUB = "https://github.com"
_VLLM = f"{_GITHUB}/vllm-project/vllm/blob/main/vllm"
_INTRO = N_(
    "An API's `logprobs` are one of the stages above. Two APIs that serve the same model under the "
    "same settings may return different ones:"
)
# What, which stage, as documented where.
_ROWS = (
    (
        N_("vLLM, `logprobs_mode=raw_logprobs` (the default)"),
        N_("**raw**: before penalties, temperature and filters"),
        f"[`ModelConfig.logprobs_mode`]({_VLLM}/config/model.py), "
        f"[`Sampler.forward`]({_VLLM}/v1/sample/sampler.py)",
    ),
    (
        "vLLM, `logprobs_mode=processed_logprobs`",
        N_("**final**: after penalties, temperature, min-p, top-k and top-p"),
        N_("the same two"),
    ),
    (
        N_("llama.cpp server, `n_probs`"),
        N_("**raw**: a softmax of the logits, whatever the samplers do"),
        f"[server README]({_GITHUB}/ggml-org/llama.cpp/blob/master/tools/server/README.md), "
        f"[`populate_token_probs`]({_GITHUB}/ggml-org/llama.cpp/blob/master/tools/server/"
        "server-context.cpp)",
    ),
    (
        N_("llama.cpp server, `post_sampling_probs`"),
        N_("**final**: after the whole chain of samplers, as `prob`"),
        N_("the same two"),
    ),
    (
        "transformers, `output_logits`",
        N_('**raw**: "unprocessed prediction scores", logits'),
        f"[`GenerateDecoderOnlyOutput`]({_GITHUB}/huggingface/transformers/blob/v5.23.0/src/"
        "transformers/generation/utils.py)",
    ),
    (
        "transformers, `output_scores`",
        N_('**final**: "processed prediction scores", logits after every processor'),
        N_("the same"),
    ),
    (
        "mlx-lm, `GenerationResponse.logprobs`",
        N_("**after the penalties**, before temperature and filters"),
        f"[`generate_step`]({_GITHUB}/ml-explore/mlx-lm/blob/main/mlx_lm/generate.py)",
    ),
    (
        "OpenAI, `logprobs`",
        N_('not documented: "log probabilities of the output tokens", no stage is named'),
        f"[`completion_create_params`]({_GITHUB}/openai/openai-python/blob/main/src/openai/types/"
        "chat/completion_create_params.py)",
    ),
)


def draw() -> None:
    """The table; every word of it is the project's own."""
    lines = [
        tr(_INTRO),
        "",
        tr("| what one asks for | which stage comes back | as documented in |"),
        "|---|---|---|",
    ]
    lines += [f"| {' | '.join(map(tr, row))} |" for row in _ROWS]
    with st.container(key=platform.key("api-table")):
        st.markdown("\n".join(lines))
