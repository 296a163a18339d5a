"""The routes of the endpoint."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from functools import partial
from importlib import import_module
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from core.decoding.version import VERSION
from core.server.api.endpoints import ENDPOINTS, Endpoint
from core.server.api.errors import ApiError, as_api_error
from core.server.api.http import Reply, error_response, hang_up, json_object, read_body
from core.server.api.metrics import CONTENT_TYPE
from core.server.api.service import Feed, Service

if TYPE_CHECKING:
    from core.server.api.models import TokenizerQuestion
    from core.server.api.submit import Submission

Handler = Callable[[Request, str], Awaitable[Any]]
# Longer bodies are read beside the loop, which serves the pages; a thread's start takes longer than
# to read a shorter one.
_LONG = 2**14


def routes(service: Service, origins: Sequence[str] = ()) -> list[BaseRoute]:
    """Routes of the endpoint: `/v1/...`, and those that vLLM has beside it.

    Args:
        origins: whose pages may ask what lies below `/v1` from a browser.
    """
    api = Routes(service)
    models = [
        Route("/models", api.guarded(api.list_models), methods=["GET"]),
        Route("/models/{name:path}", api.guarded(api.one_model), methods=["GET"]),
    ]
    made = [
        Route("/responses/{id}", api.guarded(api.stored), methods=["GET", "DELETE"]),
        *(
            Route(row.path, api.guarded(api.generator(kind)), methods=["POST"])
            for kind, row in ENDPOINTS.items()
        ),
    ]
    every = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]
    nothing = api.guarded(api.nothing)
    rest = Route("/{path:path}", nothing, methods=every)
    methods = ["GET", "POST", "DELETE"]
    allowed: Any = {"allow_origins": origins, "allow_methods": methods, "allow_headers": ["*"]}
    allowed["expose_headers"] = ["x-request-id"]
    cors = [Middleware(CORSMiddleware, **allowed)] if origins else []
    beside = [
        # Load balancers and monitors have no key.
        *(Route(path, healthy, methods=["GET", "POST"]) for path in ("/health", "/ping")),
        Route("/version", api.guarded(api.version), methods=["GET"]),
        Route("/tokenize", api.guarded(api.tokenize), methods=["POST"]),
        Route("/detokenize", api.guarded(api.detokenize), methods=["POST"]),
        Route("/tokenizer_info", api.guarded(api.tokenizer_info), methods=["GET"]),
        Route("/metrics", api.guarded(api.metrics), methods=["GET"]),
    ]
    return [
        Mount("/v1", routes=[*models, *made, rest], middleware=cors),
        Route("/v1", nothing, methods=every),
        *beside,
    ]


async def healthy(request: Request) -> Response:
    """Answer that the server is up."""
    del request
    return Response()


class Routes:
    """What each route does; every handler gets the request and who made it."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._imported = False

    async def _import(self) -> None:
        """Beside the loop: the first import of what reads requests takes seconds."""
        if not self._imported:
            await asyncio.to_thread(import_module, "core.server.api.submit")
            self._imported = True

    def guarded(self, handler: Handler) -> Callable[[Request], Awaitable[Any]]:
        """A handler behind the key; its errors in OpenAI's shape."""

        async def guarded(request: Request) -> Any:
            try:
                if self._service.closed:
                    raise ApiError(self._service.closed, status=403, code="endpoint_closed")
                scheme, _, key = request.headers.get("authorization", "").partition(" ")
                bearer = key.strip() if scheme.lower() == "bearer" else ""
                return await handler(request, self._service.owner_of(bearer))
            except Exception as error:
                refusal = as_api_error(error)
                if refusal.status == 500:
                    traceback.print_exc(file=sys.stderr)
                self._service.metrics.refused.labels(str(refusal.status)).inc()
                return error_response(refusal)

        return guarded

    async def nothing(self, request: Request, owner: str) -> Response:
        """Any other path below /v1."""
        del owner
        raise ApiError(
            f"There is no {request.method} {request.url.path[:100]} here.",
            status=404,
            code="unknown_url",
        )

    async def list_models(self, request: Request, owner: str) -> Response:
        del request, owner
        await self._import()
        from core.server.api.models import model_body

        created = self._service.created
        found = [model_body(name, created) for name in self._service.offered()]
        return JSONResponse({"object": "list", "data": found})

    async def one_model(self, request: Request, owner: str) -> Response:
        del owner
        await self._import()
        from core.server.api.models import model_body, require_offered

        name = request.path_params["name"]
        require_offered(name, self._service.offered())
        return JSONResponse(model_body(name, self._service.created))

    async def metrics(self, request: Request, owner: str) -> Response:
        del request, owner
        text = await asyncio.to_thread(self._service.metrics.text)
        return Response(text, media_type=CONTENT_TYPE)

    async def stored(self, request: Request, owner: str) -> Response:
        """A response that was made before."""
        response_id = request.path_params["id"]
        if request.method == "DELETE":
            self._service.responses.remove(owner, response_id)
            return JSONResponse({"id": response_id, "object": "response", "deleted": True})
        return JSONResponse(dict(self._service.responses.find(owner, response_id).body))

    async def tokenize(self, request: Request, owner: str) -> Response:
        await self._import()
        from core.server.api.models import read_tokenize

        return await self._ask_model(request, owner, read_tokenize)

    async def version(self, request: Request, owner: str) -> Response:
        del request, owner
        return JSONResponse({"version": VERSION})

    async def tokenizer_info(self, request: Request, owner: str) -> Response:
        """The special tokens and the chat template of the first model, or of `?model=`."""
        await self._import()
        from core.server.api.models import TokenizerQuestion, tokenizer_info

        name = request.query_params.get("model", "")
        return await self._answered(request, owner, lambda: TokenizerQuestion(name, tokenizer_info))

    async def detokenize(self, request: Request, owner: str) -> Response:
        await self._import()
        from core.server.api.models import read_detokenize

        return await self._ask_model(request, owner, read_detokenize)

    async def _ask_model(
        self, request: Request, owner: str, read: Callable[[dict[str, Any]], TokenizerQuestion]
    ) -> Response:
        raw = await read_body(request)
        return await self._answered(request, owner, lambda: read(json_object(raw)))

    async def _answered(
        self, request: Request, owner: str, question: Callable[[], TokenizerQuestion]
    ) -> Response:
        """In a thread of its own, which a model that takes long to load may hold."""
        from core.models.stopping import stoppable
        from core.server.api.models import require_offered

        slot, gone, said = self._service.enter(owner), Event(), Future[dict[str, Any]]()

        def ask() -> None:
            said.set_running_or_notify_cancel()
            try:
                with stoppable(gone.is_set):
                    (name, answer), offered = question(), self._service.offered()
                    name = name or offered[0]
                    require_offered(name, offered)
                    said.set_result(answer(self._service.load(name, gone.is_set)))
            except Exception as error:
                said.set_exception(error)
            finally:
                slot.leave()

        try:
            Thread(target=ask, daemon=True, name="tokens").start()
        except Exception:
            slot.leave()
            slot.leave()
            raise
        asked, left = asyncio.wrap_future(said), asyncio.ensure_future(hang_up(request.receive))
        ends: set[asyncio.Future[Any]] = {asked, left}
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.set()
            left.cancel()
            slot.leave()
        return JSONResponse(await asked)

    def generator(self, kind: Endpoint) -> Handler:
        """The handler of what decodes."""

        async def generate(request: Request, owner: str) -> ASGIApp:
            await self._import()
            from core.server.api.submit import recorded

            raw = await read_body(request)
            read = partial(recorded, self._service, owner, partial(self.read, kind, raw, owner))
            beside = len(raw) > _LONG or self._service.watches(owner)
            found = await asyncio.to_thread(read) if beside else read()
            feed, plan = Feed(), found.plan
            found.record.request_id = request.scope["request_id"]
            slot = found.start(self._service, feed.put)
            return Reply(
                found.answer,
                found.record,
                feed,
                slot,
                stream=plan.stream,
                top=plan.logprobs.top if plan.logprobs else 0,
                keep=found.keep,
            )

        return generate

    def read(self, kind: Endpoint, raw: bytes, owner: str) -> Submission:
        """Read what a body asks for; the data path of a request begins here."""
        from core.server.api.submit import submit

        return submit(self._service, kind, json_object(raw), owner)
