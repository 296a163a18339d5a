"""instructor: objects by tools and by a JSON schema."""

import sys

import instructor
from openai import OpenAI
from pydantic import BaseModel, ConfigDict, Field

base, model = sys.argv[1:]


class Sum(BaseModel):
    # instructor's schema would allow more properties, which a small model never stops writing.
    model_config = ConfigDict(extra="forbid")

    total: int = Field(ge=0, le=99)


ask = [{"role": "user", "content": "What is 3 + 4?"}]
for mode in (instructor.Mode.TOOLS, instructor.Mode.JSON_SCHEMA):
    client = instructor.from_openai(OpenAI(base_url=base, api_key="none"), mode=mode)
    answer = client.chat.completions.create(
        model=model, messages=ask, response_model=Sum, max_retries=0
    )
    assert isinstance(answer, Sum)
