"""Routes of the endpoint."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from ...decoding.version import VERSION
from .answer.parts import Failed
from .endpoints import ENDPOINTS, V1, Endpoint
from .errors import ApiError, as_api_error
from .http import Reply, error_response, hang_up, json_object, read_body
from .job import RequestJob
from .metrics import CONTENT_TYPE
from .service import Feed, Service

if TYPE_CHECKING:
    from .models import TokenizerQuestion
    from .submit import Submission

Handler: TypeAlias = Callable[[Request], Awaitable[Any]]
# Longer bodies are read in a thread, since the event loop serves the pages; for a shorter body, the
# thread's start takes longer than reading.
_LONG = 2**14
# A grammar of this length takes up to 0.2 s to compile. An escape may spell each of the names.
_WITH_GRAMMAR = (b"_schema", b"structured_outputs", b"tools", b"constraint", b"\\u")
_EVERY = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")


def routes(service: Service, origins: Sequence[str] = ()) -> list[BaseRoute]:
    """Return the routes of the endpoint: `/v1/...`, and vLLM's routes beside it.

    Args:
        origins: origins whose pages may call the routes below `/v1` from a browser (CORS).
    """
    api = Routes(service)

    def route(path: str, handler: Handler, *methods: str) -> Route:
        return Route(path, api.guarded(handler), methods=methods)

    below = [
        route("/models", api.list_models, "GET"),
        route("/models/{name:path}", api.one_model, "GET"),
        route("/responses/{id}", api.stored, "GET", "DELETE"),
        *(route(row.path, partial(api.generate, kind), "POST") for kind, row in ENDPOINTS.items()),
        route("/{path:path}", api.nothing, *_EVERY),
    ]
    allowed: Any = {"allow_methods": ["GET", "POST", "DELETE"], "allow_headers": ["*"]}
    allowed |= {"allow_origins": origins, "expose_headers": ["x-request-id"]}
    cors = [Middleware(CORSMiddleware, **allowed)] if origins else []
    return [
        Mount(V1, routes=below, middleware=cors),
        route(V1, api.nothing, *_EVERY),
        *(Route(path, healthy, methods=["GET", "POST"]) for path in _KEYLESS),
        *(
            route(path, partial(handler, api), method)
            for path, (method, handler) in _BESIDE.items()
        ),
    ]


def takes_long(body: bytes) -> bool:
    """Return True if a body is long, or may hold a grammar."""
    return len(body) > _LONG or any(word in body for word in _WITH_GRAMMAR)


async def healthy(_: Request) -> Response:
    """Answer that the server is up."""
    return Response()


class Routes:
    """Handlers of the routes; `request.state.owner` is the owner of the key."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._imported = False

    async def _import(self) -> None:
        """Import the request readers in a thread, since the first import takes seconds."""
        if not self._imported:
            await asyncio.to_thread(import_module, ".submit", __package__)
            self._imported = True

    def guarded(self, handler: Handler) -> Handler:
        """Return the handler with a check of the key, and with errors in OpenAI's format."""

        async def guarded(request: Request) -> Any:
            try:
                if self._service.closed:
                    raise ApiError(self._service.closed, status=403, code="endpoint_closed")
                scheme, _, key = request.headers.get("authorization", "").partition(" ")
                bearer = key.strip() if scheme.lower() == "bearer" else ""
                request.state.owner = self._service.owner_of(bearer)
                return await handler(request)
            except Exception as error:
                refusal = as_api_error(error)
                if refusal.status == 500 and refusal is not error:
                    traceback.print_exc(file=sys.stderr)
                self._service.metrics.refused.labels(str(refusal.status)).inc()
                return error_response(refusal)

        return guarded

    async def nothing(self, request: Request) -> Response:
        """Refuse any other path below /v1."""
        raise ApiError(
            f"There is no {request.method} {request.url.path[:100]} here.",
            status=404,
            code="unknown_url",
        )

    async def list_models(self, _: Request) -> Response:
        await self._import()
        from .models import model_body

        models = [model_body(name, self._service.created) for name in self._service.offered()]
        return JSONResponse({"object": "list", "data": models})

    async def one_model(self, request: Request) -> Response:
        await self._import()
        from .models import model_body, require_offered

        name = request.path_params["name"]
        require_offered(name, self._service.offered())
        return JSONResponse(model_body(name, self._service.created))

    async def stored(self, request: Request) -> Response:
        """Return or delete a stored response."""
        owner, response_id = request.state.owner, request.path_params["id"]
        if request.method == "DELETE":
            self._service.responses.remove(owner, response_id)
            return JSONResponse({"id": response_id, "object": "response", "deleted": True})
        return JSONResponse(dict(self._service.responses.find(owner, response_id).body))

    async def metrics(self, _: Request) -> Response:
        text = await asyncio.to_thread(self._service.metrics.text)
        return Response(text, media_type=CONTENT_TYPE)

    async def version(self, _: Request) -> Response:
        return JSONResponse({"version": VERSION})

    async def tokenize(self, request: Request) -> Response:
        await self._import()
        from .models import read_tokenize

        body = await read_body(request)
        return await self._answered(request, lambda: read_tokenize(json_object(body)))

    async def detokenize(self, request: Request) -> Response:
        await self._import()
        from .models import read_detokenize

        body = await read_body(request)
        return await self._answered(request, lambda: read_detokenize(json_object(body)))

    async def tokenizer_info(self, request: Request) -> Response:
        """Return special tokens and chat template of the first model, or of `?model=`."""
        await self._import()
        from .models import TokenizerQuestion, tokenizer_info

        name = request.query_params.get("model", "")
        return await self._answered(request, lambda: TokenizerQuestion(name, tokenizer_info))

    async def _answered(
        self, request: Request, question: Callable[[], TokenizerQuestion]
    ) -> Response:
        """Answer in a job, since the model may take long to load."""
        from .models import require_offered

        service, job, feed = self._service, RequestJob(), Feed()
        slot = service.enter(request.state.owner)

        def work(_: RequestJob) -> dict[str, Any]:
            (name, answer), offered = question(), service.offered()
            name = name or offered[0]
            require_offered(name, offered)
            return answer(service.load(name, job.should_stop))

        def then() -> None:
            slot.leave()
            feed.put(job.last_part)

        try:
            job.start(work, then)
        except Exception:
            slot.leave()
            slot.leave()
            raise
        ended = asyncio.create_task(feed.get())
        left = asyncio.create_task(hang_up(request.receive))
        try:
            await asyncio.wait({ended, left}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            job.stop()
            left.cancel()
            slot.leave()
        if isinstance(last := await ended, Failed):
            raise last.error
        return JSONResponse(job.result)

    async def generate(self, kind: Endpoint, request: Request) -> ASGIApp:
        """Start a run and return the reply that sends its parts as they arrive."""
        await self._import()
        from .submit import recorded

        body, owner = await read_body(request), request.state.owner
        read = partial(recorded, self._service, owner, partial(self.read, kind, body, owner))
        beside = takes_long(body) or self._service.watches(owner)
        submission = await asyncio.to_thread(read) if beside else read()
        feed = Feed()
        submission.record.request_id = request.scope["request_id"]
        slot = submission.start(self._service, feed.put)
        return Reply(submission, feed, slot, partial(submission.keep, self._service))

    def read(self, kind: Endpoint, body: bytes, owner: str) -> Submission:
        """Return the submission for a body; the data path of a request starts here."""
        from .submit import submit

        return submit(self._service, kind, json_object(body), owner)


# Load balancers and monitors have no key.
_KEYLESS = ("/health", "/ping")
# vLLM's routes beside `V1`: method and handler of each path.
_BESIDE: Mapping[str, tuple[str, Callable[[Routes, Request], Awaitable[Any]]]] = {
    "/version": ("GET", Routes.version),
    "/tokenize": ("POST", Routes.tokenize),
    "/detokenize": ("POST", Routes.detokenize),
    "/tokenizer_info": ("GET", Routes.tokenizer_info),
    "/metrics": ("GET", Routes.metrics),
}
# Paths of the endpoint, including all paths below them.
PATHS = (V1, *_KEYLESS, *_BESIDE)
