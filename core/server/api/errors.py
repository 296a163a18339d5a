"""Errors in OpenAI's shape, each naming the parameter that it is about."""

from __future__ import annotations

from typing import Any

from core.decoding.errors import (
    ConfigError,
    ContextLengthError,
    DecodingError,
    LostModelError,
    is_of_memory,
)

UNEXPECTED = "Something went wrong in the server; its log has the details."


class ApiError(DecodingError):
    """A request that gets an error for an answer.

    Args:
        status: of HTTP.
        param: the parameter that it is about.
        code: a word for programs.
        retry_after: seconds, where trying again later helps.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        param: str | None = None,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.param, self.code = status, param, code
        self.retry_after = retry_after

    def body(self) -> dict[str, Any]:
        """Return the answer's body."""
        types = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
        fault = "server_error" if self.status >= 500 else "invalid_request_error"
        return {
            "error": {
                "message": str(self),
                "type": types.get(self.status, fault),
                "param": self.param,
                "code": self.code,
            }
        }


def as_api_error(error: Exception, param: str | None = None) -> ApiError:
    """Return the error that an answer tells; one that nobody expected keeps its details."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ContextLengthError):
        # Clients look for these words and this code.
        return ApiError(
            f"This model's maximum context length is {error.window} tokens. {error}",
            param=param,
            code="context_length_exceeded",
        )
    if isinstance(error, ConfigError):
        return ApiError(error.plain, param=param, code="invalid_value")
    if isinstance(error, LostModelError):
        return ApiError(str(error), status=502, code="model_lost")
    if isinstance(error, DecodingError):
        return ApiError(str(error), param=param)
    if is_of_memory(error):
        return ApiError(
            "The server has too little memory for this; ask for fewer tokens, or try again later.",
            status=503,
            code="out_of_memory",
        )
    return ApiError(UNEXPECTED, status=500, code="server_error")


def stopped() -> ApiError:
    """Return the error of a run that its operator, a page or the end of the server stopped."""
    return ApiError("The run was stopped on the server.", status=503, code="stopped")


def unsupported(name: str, why: str) -> ApiError:
    """Return the error for a parameter, or a value of one, that only OpenAI's server has."""
    return ApiError(f"Unsupported: {name}. {why}", param=name, code="unsupported_parameter")
