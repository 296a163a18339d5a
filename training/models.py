"""The two architectures, and how their weights are stored."""

from pathlib import Path

import torch
from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from training.corpus.tokens import END_OF_TEXT, END_OF_TURN
from training.tokenizer import LONGEST

SHAPES = {
    "target": {
        "hidden_size": 256,
        "num_hidden_layers": 6,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 704,
    },
    "draft": {
        "hidden_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 352,
    },
}


def build_model(tokenizer: PreTrainedTokenizerFast, role: str) -> LlamaForCausalLM:
    """Make the untrained model; text may end with the end of a document or of a chat turn."""
    end_of_text = tokenizer.eos_token_id
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        max_position_embeddings=LONGEST,
        tie_word_embeddings=True,
        bos_token_id=end_of_text,
        pad_token_id=end_of_text,
        eos_token_id=tokenizer.convert_tokens_to_ids([END_OF_TEXT, END_OF_TURN]),
        **SHAPES[role],
    )
    return LlamaForCausalLM(config)


def store(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """Store weights in float16 but declare float32, so that they load as float32 by default."""
    stored = LlamaForCausalLM(model.config)
    stored.load_state_dict(model.state_dict())
    stored.half().save_pretrained(out)
    config = stored.config
    config.dtype = torch.float32
    config.save_pretrained(out)
    GenerationConfig(
        bos_token_id=config.bos_token_id,
        eos_token_id=config.eos_token_id,
        pad_token_id=config.pad_token_id,
    ).save_pretrained(out)
    tokenizer.save_pretrained(out)
