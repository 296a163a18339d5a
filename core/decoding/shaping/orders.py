"""Orders in which libraries apply temperature and filters; torch-free.

Only the lab's functions take an order; runs follow transformers'. The functions in every order are
this project's (with transformers' formulas), so that two orders differ in nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...language import N_, Message
from ..counting import listed
from .config import ACTING, MIROSTAT_ALONE, RUN_ORDER, SEQUENCES, SETTINGS, TABLED, Shaping


@dataclass(frozen=True, slots=True)
class Order:
    """A library's sequence of logits processors; transformers' is that of runs.

    Args:
        key: key in addresses and files.
        label: label on the page.
        source: file, and function or field, from which the order was taken.
        note: another difference of the library, in one sentence.
        otherwise: how the library takes a sampler that it lacks.
    """

    key: str
    label: str
    source: str
    note: str
    otherwise: str

    @property
    def processors(self) -> tuple[str, ...]:
        """Settings of the shaping in the order in which they act."""
        return SEQUENCES[self.key]

    def acting(self, shaping: Shaping) -> tuple[str, ...]:
        """Return the settings that can act beside those that are on, in their order."""
        if self.key == "llama.cpp" and shaping.mirostat:
            return tuple(name for name in self.processors if name in MIROSTAT_ALONE)
        return self.processors

    def lacks(self, name: str) -> bool:
        """Return True if a step in this order leaves the setting out.

        Transformers' order leaves none out, as runs don't: its note names those that are not
        transformers' own.
        """
        return (SETTINGS[name].part_of or name) not in self.processors

    @property
    def own(self) -> tuple[str, ...]:
        """Settings that the library itself has, in its order."""
        if self.key != "transformers":
            return self.processors
        return tuple(name for name in RUN_ORDER if name in TABLED and SETTINGS[name].generate)


# Settings with a function here and no processor in transformers.
_OURS = [spec.label for spec in ACTING.values() if spec.slider and spec.generate is None]
*_ADDED, _LAST_ADDED = _OURS
TRANSFORMERS = Order(
    key="transformers",
    label="transformers",
    source="huggingface/transformers 5.23, src/transformers/generation/utils.py, "
    "GenerationMixin._get_logits_processor",
    note=Message(
        "Temperature comes first, so every filter sees the tempered distribution. {samplers} act "
        "as in a run of this app; transformers has none of them.",
        samplers=listed([listed(_ADDED), _LAST_ADDED], N_("{one} and {other}")),
    ),
    otherwise="a class in `logits_processor` of `generate`",
)
VLLM = Order(
    key="vllm",
    label="vLLM",
    source="vllm-project/vllm, vllm/v1/sample/sampler.py, Sampler.sample "
    "(steps 4 to 7 of the class's docstring)",
    note=N_(
        "Min-p is a logits processor that runs before top-k and top-p. A grammar masks the logits "
        "before the sampler."
    ),
    otherwise="a logits processor of one's own, `--logits-processors`",
)
MLX_LM = Order(
    key="mlx-lm",
    label="mlx-lm",
    source="ml-explore/mlx-lm, mlx_lm/sample_utils.py, make_sampler and categorical_sampling; "
    "penalties: mlx_lm/generate.py, generate_step",
    note=N_(
        "Temperature comes last: it tempers what the filters left. Top-p 0 is off there, here it "
        "leaves one token. The penalty there looks back 20 tokens only, here at the whole text."
    ),
    otherwise="a function in `logits_processors` of `generate_step`",
)
LLAMA_CPP = Order(
    key="llama.cpp",
    label="llama.cpp",
    source="ggml-org/llama.cpp, common/common.h, common_params_sampling::samplers (the default)",
    note=N_(
        "Temperature comes last: it tempers what the filters left; a dynamic temperature there "
        "takes its place. With mirostat only logit bias, temperature and the grammar act beside "
        "it. The grammar acts there only after it has refused a drawn token, which is then drawn "
        "again. The penalty there looks back 64 tokens only, here at the whole text."
    ),
    otherwise="a sampler in C, `llama_sampler_init`",
)

ORDERS = {order.key: order for order in (TRANSFORMERS, VLLM, MLX_LM, LLAMA_CPP)}
