"""The special tokens of the embedded models' tokenizer."""

END_OF_TEXT, SYSTEM, USER = "<|endoftext|>", "<|system|>", "<|user|>"
ASSISTANT, END_OF_TURN = "<|assistant|>", "<|end|>"
THINK, END_THINK = "<think>", "</think>"
CALL, RESULT, END_RESULT = "<call>", "<result>", "</result>"
CHAT_TOKENS = (SYSTEM, USER, ASSISTANT, END_OF_TURN)
MARK_TOKENS = (THINK, END_THINK, CALL, RESULT, END_RESULT)
SPECIAL_TOKENS = (END_OF_TEXT, *CHAT_TOKENS, *MARK_TOKENS)
