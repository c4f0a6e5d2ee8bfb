"""The tools, resources and prompts that the suite of the protocol asks for, behind the endpoint of the read service.

``python -m tests.support.mcp_fixtures FD`` serves them on a listening socket. The names and answers are those that the
suite's scenarios describe.
"""

import base64
import json
import logging
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import anyio
import mcp_types as types
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from pydantic import Field

from deploy.commands.run.serve import run_app
from events.platform.settings import Settings
from events.platform.settings_sources import read
from retrieval.http.mcp_endpoint import McpEndpoint
from retrieval.http.read_api import create_app

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0@\x1f\0\0@\x1f\0\0\1\0\x08\0data\0\0\0\0"
).decode()
SOMETHING = types.TextResourceContents(
    uri="test://embedded-resource", mime_type="text/plain", text="A resource."
)
SCHEMA: dict[str, Any] = json.loads(Path(__file__).with_name("mcp_schema.json").read_text("utf-8"))
server = MCPServer("cardlog-conformance", log_level="WARNING")
tool, prompt = server.tool(description="For the suite."), server.prompt(description="For the suite.")
Answer = types.CallToolResult | types.InputRequiredResult


class Kept(EventStore):
    """The messages of streams, so that a client that comes back gets what it missed."""

    def __init__(self) -> None:
        self._events: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(self, last_event_id: str, send_callback: EventCallback) -> str | None:
        place = int(last_event_id)
        stream = self._events[place - 1][0]
        for number, (of, message) in enumerate(self._events[place:], place + 1):
            if of == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])


def image() -> types.ImageContent:
    return types.ImageContent(data=PIXEL, mime_type="image/png")


def embedded(resource: types.TextResourceContents = SOMETHING) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=resource)


@tool
def test_simple_text() -> str:
    return "This is a simple text response for testing."


@tool
def test_image_content() -> list[types.ImageContent]:
    return [image()]


@tool
def test_audio_content() -> list[types.AudioContent]:
    return [types.AudioContent(data=SILENCE, mime_type="audio/wav")]


@tool
def test_embedded_resource() -> list[types.EmbeddedResource]:
    return [embedded()]


@tool
def test_multiple_content_types() -> list[types.TextContent | types.ImageContent | types.EmbeddedResource]:
    return [types.TextContent(text="Multiple content types test:"), image(), embedded()]


@tool
async def test_tool_with_logging(context: Context) -> str:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await told(context, words)
    return "logged"


@tool
async def test_tool_with_progress(context: Context) -> str:
    for done in (0, 50, 100):
        await context.report_progress(done, 100, f"{done} of 100")
    return "done"


@tool
def test_error_handling() -> str:
    raise RuntimeError("This tool intentionally returns an error for testing")


@tool
async def test_sampling(prompt: str, context: Context) -> str:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=prompt))
    answer = await context.session.create_message(messages=[message], max_tokens=100)
    return f"LLM response: {answer.content}"


async def elicited(context: Context, message: str, properties: Mapping[str, Any], *required: str) -> str:
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    answer = await context.session.elicit_form(message, schema)
    return f"action={answer.action}, content={json.dumps(answer.content)}"


@tool
async def test_elicitation(message: str, context: Context) -> str:
    properties = {"username": {"type": "string"}, "email": {"type": "string"}}
    return f"User response: {await elicited(context, message, properties, 'username', 'email')}"


@tool
async def test_elicitation_sep1034_defaults(context: Context) -> str:
    properties = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return f"Elicitation completed: {await elicited(context, 'Who are you?', properties)}"


@tool
async def test_elicitation_sep1330_enums(context: Context) -> str:
    titled = [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]
    options = ["option1", "option2", "option3"]
    properties = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return f"Elicitation completed: {await elicited(context, 'Choose', properties)}"


async def told(context: Context, words: str) -> None:
    await context.session.send_log_message(level="info", data=words, related_request_id=context.request_id)


@tool
async def test_reconnection(context: Context) -> str:
    await context.close_sse_stream()
    await anyio.sleep(0.3)
    return "Reconnection test completed"


@tool
def test_missing_capability(context: Context) -> str:
    needed = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not context.session.check_client_capability(needed):
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling", {"requiredCapabilities": {"sampling": {}}}
        )
    return "sampling is declared"


def asks(message: str, name: str, kind: str = "string") -> types.ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def samples(question: str, tokens: int = 100) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=question))
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=tokens)
    )


def missing(context: Context, state: str | None = None, **wanted: Any) -> types.InputRequiredResult | None:
    """The result that asks for what the client has not answered yet, or None."""
    answers = context.input_responses or {}
    lacking = {
        name: request for name, request in wanted.items() if not answered(name, answers.get(name), request)
    }
    return types.InputRequiredResult(input_requests=lacking, request_state=state) if lacking else None


def answered(name: str, answer: Any, request: Any) -> bool:
    """True when an answer is there, and is of the form that was asked for."""
    if not isinstance(request, types.ElicitRequest) or answer is None:
        return answer is not None
    properties = request.params.requested_schema["properties"]  # type: ignore[union-attr]
    of = {"string": str, "boolean": bool}
    given = getattr(answer, "content", None) or {}
    return all(isinstance(given.get(key), of[what["type"]]) for key, what in properties.items())


@tool
def test_input_required_result_elicitation(context: Context) -> Answer:
    if (more := missing(context, user_name=asks("What is your name?", "name"))) is not None:
        return more
    answer = cast(types.ElicitResult, (context.input_responses or {})["user_name"])
    return said(f"Hello, {(answer.content or {})['name']}!")


@tool
def test_input_required_result_sampling(context: Context) -> Answer:
    more = missing(context, capital_question=samples("What is the capital of France?"))
    return more or said(str(context.input_responses))


@tool
def test_input_required_result_list_roots(context: Context) -> Answer:
    return missing(context, client_roots=types.ListRootsRequest()) or said(str(context.input_responses))


@tool
def test_input_required_result_request_state(context: Context) -> Answer:
    more = missing(context, "waiting", confirm=asks("Please confirm", "ok", "boolean"))
    return more or said("state-ok" if context.request_state == "waiting" else "the state is lost")


@tool
def test_input_required_result_multiple_inputs(context: Context) -> Answer:
    return missing(
        context, "waiting", user_name=asks("What is your name?", "name"),
        greeting=samples("Generate a greeting", 50), client_roots=types.ListRootsRequest(),
    ) or said("all is here")  # fmt: skip


@tool
def test_input_required_result_multi_round(context: Context) -> Answer:
    if context.request_state is None:
        return missing(context, "1", step1=asks("Step 1: What is your name?", "name")) or said("no state")
    if context.request_state == "1":
        step2 = asks("Step 2: What is your favorite color?", "color")
        return types.InputRequiredResult(input_requests={"step2": step2}, request_state="2")
    return said("both steps are done")


@tool
def test_input_required_result_tampered_state(context: Context) -> Answer:
    return missing(context, "sealed", confirm=asks("Please confirm", "ok", "boolean")) or said("state-ok")


@tool
def test_input_required_result_capabilities(context: Context) -> Answer:
    declared = context.session.check_client_capability
    wanted: dict[str, Any] = {}
    if declared(types.ClientCapabilities(elicitation=types.ElicitationCapability())):
        wanted["user_name"] = asks("What is your name?", "name")
    if declared(types.ClientCapabilities(sampling=types.SamplingCapability())):
        wanted["greeting"] = samples("Generate a greeting", 50)
    return missing(context, **wanted) or said("nothing can be asked")


@tool
def test_custom_headers(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})],
) -> str:
    return region


@server.tool(name="json_schema_2020_12_tool", description="For the suite.")
def with_schema(name: str = "") -> str:
    return name


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    return "Watched resource content"


def words(text: str) -> UserMessage:
    return UserMessage(content=types.TextContent(text=text))


@prompt
def test_simple_prompt() -> list[UserMessage]:
    return [words("This is a simple prompt for testing.")]


@prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> list[UserMessage]:
    return [words(f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")]


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:
    resource = types.TextResourceContents(
        uri=resourceUri, mime_type="text/plain", text="Embedded for testing."
    )
    return [UserMessage(content=embedded(resource)), words("Please process the embedded resource above.")]


@prompt
def test_prompt_with_image() -> list[UserMessage]:
    return [UserMessage(content=image()), words("Please analyze the image above.")]


@prompt
def test_input_required_result_prompt(context: Context) -> Any:
    more = missing(context, user_context=asks("What context should the prompt use?", "context"))
    return more or [words(str(context.input_responses))]


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(*_: Any) -> types.Completion:
    return types.Completion(values=["paris", "park"], total=2, has_more=False)


async def taken(*_: Any) -> types.EmptyResult:
    return types.EmptyResult()


class Fixtures(McpEndpoint):
    """Serves the server of the suite, which keeps sessions."""

    methods = ("POST", "GET", "DELETE")

    def manager(self) -> StreamableHTTPSessionManager:
        logging.getLogger("mcp").setLevel(logging.ERROR)
        server._tool_manager._tools["json_schema_2020_12_tool"].parameters = SCHEMA
        inner = server._lowlevel_server
        inner.add_request_handler("logging/setLevel", types.SetLevelRequestParams, taken)
        inner.add_request_handler("resources/subscribe", types.SubscribeRequestParams, taken)
        inner.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, taken)
        return StreamableHTTPSessionManager(inner, event_store=Kept(), retry_interval=100)


if __name__ == "__main__":
    settings = Settings(**read(os.environ, []))
    run_app(create_app(settings, Fixtures), settings, "127.0.0.1", 0, socket.socket(fileno=int(sys.argv[1])))
