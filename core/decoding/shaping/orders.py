"""In which order other libraries apply temperature and the filters; torch-free.

An order is an argument of the lab's functions and of nothing else: runs follow transformers'.
The acts themselves are this project's (transformers' formulas) in every order, so that what differs
between two orders is the order alone.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """A library's sequence of acts on the logits.

    Args:
        key: what the address and the files hold.
        label: what the page shows.
        acts: fields of `Shaping` in the order in which they act; what is missing, the library
            doesn't have.
        source: file, and function or field, where the order was read.
        note: what else differs there, in one sentence.
    """

    key: str
    label: str
    acts: tuple[str, ...]
    source: str
    note: str

    def lacks(self, name: str) -> bool:
        """Whether the library has no such act."""
        return name not in self.acts


TRANSFORMERS = Order(
    key="transformers",
    label="transformers",
    acts=(
        "repetition_penalty",
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "typical_p",
        "epsilon_cutoff",
        "eta_cutoff",
    ),
    source="huggingface/transformers 5.23, src/transformers/generation/utils.py, "
    "GenerationMixin._get_logits_processor",
    note="Temperature comes first, so every filter sees the tempered distribution.",
)
VLLM = Order(
    key="vllm",
    label="vLLM",
    acts=("repetition_penalty", "temperature", "min_p", "top_k", "top_p"),
    source="vllm-project/vllm, vllm/v1/sample/sampler.py, Sampler.sample "
    "(steps 6 and 7 of the class's docstring)",
    note="Min-p is a logits processor that runs before top-k and top-p.",
)
MLX_LM = Order(
    key="mlx-lm",
    label="mlx-lm",
    acts=("repetition_penalty", "top_p", "min_p", "top_k", "temperature"),
    source="ml-explore/mlx-lm, mlx_lm/sample_utils.py, make_sampler and categorical_sampling; "
    "penalties: mlx_lm/generate.py, generate_step",
    note="Temperature comes last: it tempers what the filters left. Top-p 0 is off there, here it "
    "leaves one token. The penalty there looks back 20 tokens only, here at the whole text.",
)
LLAMA_CPP = Order(
    key="llama.cpp",
    label="llama.cpp",
    acts=("repetition_penalty", "top_k", "typical_p", "top_p", "min_p", "temperature"),
    source="ggml-org/llama.cpp, common/common.h, common_params_sampling::samplers (the default)",
    note="Temperature comes last: it tempers what the filters left. "
    "The penalty there looks back 64 tokens only, here at the whole text.",
)

ORDERS = {order.key: order for order in (TRANSFORMERS, VLLM, MLX_LM, LLAMA_CPP)}
