"""The tokens that end a run of a GGUF file's model, as llama.cpp finds them.

llama.cpp (`llama-vocab.cpp`, end-of-generation tokens) takes those that the file names, and those
whose text is a known end: the files of many models name one end only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_TEXTS = (
    *("<|eot_id|>", "<|im_end|>", "<|end|>", "<|return|>", "<|call|>", "<|flush|>", "<|calls|>"),
    *("<end_of_turn>", "<|endoftext|>", "</s>", "<|eom_id|>", "<EOT>", "_<EOT>", "[EOT]", "[EOS]"),
    *("<|end_of_text|>", "<end_of_utterance>", "<eos>", "<turn|>", "<|tool_response>"),
)
# A text that ends no run where all of the others are tokens too: one of them ends it.
_NOT_BESIDE = (
    ("<|end|>", ("<|return|>", "<|call|>")),
    ("<|end|>", ("<|return|>", "<|calls|>")),
    ("<|end|>", ("<|call|>", "<|flush|>")),
    ("<|end|>", ("<|calls|>", "<|flush|>")),
    ("</s>", ("<|tool_response>",)),
)


def end_ids(named: Iterable[int], vocabulary: Mapping[str, int]) -> list[int]:
    """The ids that end a run, in order.

    Args:
        named: by the file's metadata.
        vocabulary: the id of each token.
    """
    ends = {text: vocabulary[text] for text in _TEXTS if text in vocabulary}
    no_ends = {ends.get(text) for text, others in _NOT_BESIDE if ends.keys() >= set(others)}
    return sorted({*named, *ends.values()} - no_ends)
