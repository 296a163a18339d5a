"""pydantic-ai: agents that answer with text and objects, and one with a tool; over both APIs."""

import sys

from pydantic import BaseModel, Field
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

base, model = sys.argv[1:]


class Sum(BaseModel):
    total: int = Field(ge=0, le=99)


def calculator(expression: str) -> str:
    left, right = map(int, expression.split("*"))
    return str(left * right)


provider = OpenAIProvider(base_url=base, api_key="none")
for kind in (OpenAIChatModel, OpenAIResponsesModel):
    agent = Agent(kind(model, provider=provider), model_settings={"temperature": 0})
    assert agent.run_sync("What is 3 + 4?").output == "The answer is 7."
    for output in (Sum, NativeOutput(Sum)):
        agent = Agent(kind(model, provider=provider), output_type=output)
        assert isinstance(agent.run_sync("What is 3 + 4?").output, Sum)
    options = {"model_settings": {"temperature": 0}, "tools": [calculator]}
    agent = Agent(kind(model, provider=provider), **options)
    assert agent.run_sync("What is 4821 * 377?").output == "The answer is 1817517."
