"""What the parts of the trace file's layout share: bounded numbers and texts, strict records."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from core.decoding.validation import brief

MAX_TEXT = 2_000_000
MAX_COUNT = 100_000_000

TokenId = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Index = Annotated[int, Field(ge=0, le=MAX_COUNT)]
Rank = Annotated[int, Field(ge=1, le=MAX_COUNT)]
# What float32 holds, so that sums and other units of it stay finite.
Number = Annotated[float, Field(ge=-3.5e38, le=3.5e38)]
Nats = Annotated[float, Field(ge=0, le=3.5e38)]
Prob = Annotated[float, Field(ge=0, le=1.001)]
Seconds = Annotated[float, Field(ge=0, le=1e9)]
ShortText = Annotated[str, Field(max_length=2_000)]
LongText = Annotated[str, Field(max_length=MAX_TEXT)]


class Strict(BaseModel):
    """Refuses unknown fields, other types, and numbers that are none."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _known_fields_only(cls, data: object) -> object:
        # Pydantic would gather a fault for each unknown field, however many there are.
        if isinstance(data, dict):
            known = {field.alias or name for name, field in cls.model_fields.items()}
            unknown = next((name for name in data if name not in known), None)
            if unknown is not None:
                raise ValueError(f"{brief(unknown)} is no field of it")
        return data
