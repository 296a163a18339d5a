"""litellm: chat, text, vLLM's names, and its own error for a prompt that is too long."""

import sys

import litellm

base, model = sys.argv[1:]
ask = [{"role": "user", "content": "What is 3 + 4?"}]
for kind in ("openai", "hosted_vllm"):
    options = {"model": f"{kind}/{model}", "api_base": base, "api_key": "none"}
    answer = litellm.completion(
        **options, messages=ask, temperature=0, frequency_penalty=0, extra_body={"top_k": -1}
    )
    message = answer.choices[0].message
    assert message.content == "The answer is 7.", message
    assert message.reasoning_content == "3 + 4 = 7.", message
    stream = litellm.completion(**options, messages=ask, temperature=0, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "The answer is 7."
    long = [{"role": "user", "content": "a b " * 700}]
    try:
        litellm.completion(**options, messages=long)
    except litellm.ContextWindowExceededError:
        continue
    raise AssertionError("a prompt that is too long is another error")
options = {"model": f"text-completion-openai/{model}", "api_base": base, "api_key": "none"}
assert litellm.text_completion(**options, prompt="Once", max_tokens=4).choices[0].text
