"""A model server on 127.0.0.1 for tests: speaks the real protocols over real sockets, and misbehaves on demand.

    with Loopback(lambda call: Say("42")) as server:
        connect("m", base_url=server.base_url, api="chat")

A script is called once per request and returns what to do: `Say` an answer in whatever protocol was asked, or one of
the faults. `in_turn(a, b, c)` plays a list and repeats its last entry. `server.calls` holds every request in order.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

Json = dict[str, Any]


class Call(NamedTuple):
    """One request as it arrived."""

    number: int
    """How many came before it."""
    path: str
    body: Json
    headers: dict[str, str]
    """By lower-case name."""

    @property
    def words(self) -> str:
        """All that was asked, as one text to look for words in."""
        return json.dumps(self.body, ensure_ascii=False)


class Tool(NamedTuple):
    """A tool call the model makes."""

    name: str
    arguments: Json | str
    """A text is sent as it is, also when it is not JSON."""


class Say(NamedTuple):
    """A good answer."""

    text: str = ""
    tools: tuple[Tool, ...] = ()
    thought: str = ""
    is_cut: bool = False
    """Whether it ends at the limit of output tokens."""
    tokens: tuple[int, int] = (10, 5)
    """In and out."""
    after: float = 0.0
    """Seconds of waiting before the first byte."""


class Status(NamedTuple):
    """An error of the server's own."""

    code: int
    message: str = "no luck"
    retry_after: str | None = None


class Hang(NamedTuple):
    """Nothing at all, for longer than anybody waits."""

    seconds: float = 30.0


class Drip(NamedTuple):
    """A body that comes byte by byte, so that no single read ever takes long."""

    pause: float = 0.05


class Cut(NamedTuple):
    """Half a body, then the connection is gone."""


class Drop(NamedTuple):
    """The connection is gone before a byte was sent."""


class Garbage(NamedTuple):
    """A good status with a body that is not JSON."""

    body: bytes = b"<html>502 in disguise</html>"


class Packed(NamedTuple):
    """A body in an encoding, as a server may choose."""

    body: bytes
    encoding: str = "gzip"


class Wrong(NamedTuple):
    """JSON that follows no protocol."""

    body: Any = "unexpected"


class Give(NamedTuple):
    """JSON as it is, for protocols that a script speaks itself."""

    body: Any


Answer = Give | Packed | Say | Status | Hang | Drip | Cut | Drop | Garbage | Wrong
Script = Callable[[Call], Answer]


def in_turn(*answers: Answer) -> Script:
    """The first answer to the first request and so on; the last one for good."""
    return lambda call: answers[min(call.number, len(answers) - 1)]


class Loopback:
    """The server, running in a thread while the `with` lasts."""

    def __init__(self, script: Script, *, port: int = 0, keeps: bool = True) -> None:
        """`keeps=False` remembers no requests, for more of them than memory should hold."""
        self._script = script
        self._keeps = keeps
        self._count = 0
        self._port = port
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._open: set[asyncio.StreamWriter] = set()
        self.calls: list[Call] = []
        self.most_at_once = 0
        """Requests that were being answered at the same time."""
        self._now = 0

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> "Loopback":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        me = asyncio.current_task()
        tasks = [task for task in asyncio.all_tasks() if task is not me]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # an aborted transport is closed by the loop's next turn

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (call := await self._read(reader)) is not None:
                self._now += 1
                self.most_at_once = max(self.most_at_once, self._now)
                try:
                    stays = await perform(self._script(call), call, writer)
                finally:
                    self._now -= 1
                if not stays:
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> Call | None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = dict(split_header(line) for line in head[1:] if line)
        data = await reader.readexactly(int(headers.get("content-length", "0")))
        call = Call(self._count, head[0].split()[1], json.loads(data or b"{}"), headers)
        self._count += 1
        if self._keeps:
            self.calls.append(call)
        return call


def split_header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()


async def perform(answer: Answer, call: Call, writer: asyncio.StreamWriter) -> bool:
    """Plays one answer; whether the connection may be used again."""
    match answer:
        case Say():
            await asyncio.sleep(answer.after)
            await send(writer, 200, speak(answer, call))
        case Status():
            extra = "" if answer.retry_after is None else f"retry-after: {answer.retry_after}\r\n"
            await send(writer, answer.code, {"error": {"message": answer.message, "type": "made_up"}}, extra=extra)
        case Wrong() | Give():
            await send(writer, 200, answer.body)
        case Garbage():
            await send(writer, 200, answer.body)
        case Packed():
            await send(writer, 200, answer.body, extra=f"content-encoding: {answer.encoding}\r\n")
        case Hang():
            await asyncio.sleep(answer.seconds)
            return False
        case Drip():
            await drip(writer, pause=answer.pause)
            return False
        case Cut():
            body = json.dumps(speak(Say("an answer that never arrives in full"), call)).encode()
            writer.write(head_of(200, len(body)) + body[: len(body) // 2])
            await writer.drain()
            return False
        case Drop():
            return False
    return True


async def send(writer: asyncio.StreamWriter, status: int, body: Any, *, extra: str = "") -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    writer.write(head_of(status, len(data), extra=extra) + data)
    await writer.drain()


def head_of(status: int, length: int, *, extra: str = "") -> bytes:
    text = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{extra}\r\n"
    return text.encode("latin-1")


async def drip(writer: asyncio.StreamWriter, *, pause: float) -> None:
    writer.write(head_of(200, 100_000))
    for byte in endless_spaces():
        writer.write(byte)
        await writer.drain()
        await asyncio.sleep(pause)


def endless_spaces() -> Iterator[bytes]:
    while True:
        yield b" "


def speak(say: Say, call: Call) -> Json:
    """A good answer in the protocol of the path it was asked on."""
    if call.path.endswith("/responses"):
        return as_response(say, call)
    if call.path.endswith("/messages"):
        return as_message(say, call)
    return as_chat(say, call)


def arguments_of(tool: Tool) -> str:
    return tool.arguments if isinstance(tool.arguments, str) else json.dumps(tool.arguments)


def as_response(say: Say, call: Call) -> Json:
    output: list[Json] = []
    if say.thought:
        thought = {"type": "summary_text", "text": say.thought}
        output.append({"type": "reasoning", "id": f"rs_{call.number}", "summary": [thought]})
    if say.text:
        part = {"type": "output_text", "text": say.text, "annotations": []}
        said = {"type": "message", "id": f"msg_{call.number}", "role": "assistant", "status": "completed"}
        output.append({**said, "content": [part]})
    for place, tool in enumerate(say.tools):
        made = {"type": "function_call", "name": tool.name, "arguments": arguments_of(tool)}
        output.append({**made, "call_id": f"call_{call.number}_{place}", "id": f"fc_{call.number}_{place}"})
    taken, made_tokens = say.tokens
    return {
        "id": f"resp_{call.number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": call.body.get("model"),
        "status": "incomplete" if say.is_cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if say.is_cut else None,
        "error": None,
        "output": output,
        "usage": {
            "input_tokens": taken,
            "input_tokens_details": {"cached_tokens": 1},
            "output_tokens": made_tokens,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": taken + made_tokens,
        },
    }


def as_chat(say: Say, call: Call) -> Json:
    said: Json = {"role": "assistant", "content": say.text or None}
    if say.thought:
        said["reasoning_content"] = say.thought
    if say.tools:
        said["tool_calls"] = [
            {
                "id": f"call_{call.number}_{place}",
                "type": "function",
                "function": {"name": tool.name, "arguments": arguments_of(tool)},
            }
            for place, tool in enumerate(say.tools)
        ]
    reason = "length" if say.is_cut else "tool_calls" if say.tools else "stop"
    taken, made = say.tokens
    return {
        "id": f"chatcmpl-{call.number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": call.body.get("model"),
        "choices": [{"index": 0, "message": said, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": taken,
            "completion_tokens": made,
            "total_tokens": taken + made,
            "prompt_tokens_details": {"cached_tokens": 1},
        },
    }


def as_message(say: Say, call: Call) -> Json:
    blocks: list[Json] = []
    if say.thought:
        blocks.append({"type": "thinking", "thinking": say.thought, "signature": "sealed"})
    if say.text:
        blocks.append({"type": "text", "text": say.text})
    for place, tool in enumerate(say.tools):
        given = tool.arguments if isinstance(tool.arguments, dict) else {"arguments": tool.arguments}
        blocks.append({"type": "tool_use", "id": f"toolu_{call.number}_{place}", "name": tool.name, "input": given})
    taken, made = say.tokens
    return {
        "id": f"msg_{call.number}",
        "type": "message",
        "role": "assistant",
        "model": call.body.get("model"),
        "content": blocks,
        "stop_reason": "max_tokens" if say.is_cut else "tool_use" if say.tools else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": taken - 1, "cache_read_input_tokens": 1, "output_tokens": made},
    }
