"""pydantic-ai: an agent that answers with text, over chat and over responses."""

import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

base, model = sys.argv[1:]
provider = OpenAIProvider(base_url=base, api_key="none")
for kind in (OpenAIChatModel, OpenAIResponsesModel):
    agent = Agent(kind(model, provider=provider), model_settings={"temperature": 0})
    assert agent.run_sync("What is 3 + 4?").output == "The answer is 7."
