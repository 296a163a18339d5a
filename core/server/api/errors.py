"""Errors in OpenAI's format, with the name of the wrong parameter."""

from __future__ import annotations

from typing import Any

from ...decoding.errors import (
    ConfigError,
    ContextLengthError,
    DecodingError,
    LostModelError,
    is_of_memory,
)

UNEXPECTED = "Something went wrong in the server; its log has the details."


class ApiError(DecodingError):
    """A request whose answer is an error.

    Args:
        status: HTTP status code.
        param: the wrong parameter.
        code: error code for programs.
        retry_after: delay in seconds, if a retry can succeed.
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
        """Return the body of the HTTP answer."""
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
    """Return the error for the answer; the details of an unexpected error are not sent."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, ContextLengthError):
        # Clients check for these words and this code.
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
    """Return the error of a run that the operator, a page or the server's shutdown stopped."""
    return ApiError("The run was stopped on the server.", status=503, code="stopped")


def unsupported(name: str, why: str) -> ApiError:
    """Return the error for a parameter, or a value, that only OpenAI's server supports."""
    return ApiError(f"Unsupported: {name}. {why}", param=name, code="unsupported_parameter")
