"""Whatever a server does, a client answers or says what kind of trouble it is, and tries again when that can help."""

import gzip
import json
import time
import tracemalloc

import pytest
from asking import APIS, ask, failure
from loopback import Answer, Cut, Drip, Drop, Garbage, Hang, Loopback, Packed, Say, Status, Wrong, in_turn

from blade.llm import ModelError, connect
from blade.llm.connect import Api

PASSING = [
    pytest.param(Status(429), "rate_limit", id="rate_limit"),
    pytest.param(Status(500), "server", id="server_error"),
    pytest.param(Status(503), "server", id="overloaded"),
    pytest.param(Status(408), "timeout", id="server_timeout"),
    pytest.param(Cut(), "connection", id="cut_mid_body"),
    pytest.param(Drop(), "connection", id="dropped"),
    pytest.param(Garbage(), "malformed", id="garbage"),
    pytest.param(Wrong({"unexpected": True}), "malformed", id="wrong_schema"),
    pytest.param(Wrong([1, 2]), "malformed", id="no_object"),
    pytest.param(Garbage(b""), "malformed", id="empty_body"),
    pytest.param(Garbage(b'{"id": "resp_1", "output": ['), "malformed", id="torn_json"),
    pytest.param(Garbage(b"\xff\xfe"), "malformed", id="no_text"),
    pytest.param(Packed(b"no gzip"), "malformed", id="not_packed"),
    pytest.param(Packed(b"(\xb5/\xfd", "zstd"), "malformed", id="packed_unasked"),
    pytest.param(
        Wrong({"output": [], "choices": [{"message": {}}], "content": [], "type": "message"}),
        "malformed",
        id="empty_without_a_reason",
    ),
    pytest.param(Garbage(b"[" * 100_000), "malformed", id="nested_without_end"),
]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("fault", "kind"), PASSING)
def test_trouble_that_passes_is_tried_again_until_the_answer_comes(api: Api, fault: Answer, kind: str) -> None:
    with Loopback(in_turn(fault, fault, Say("42"))) as server:
        reply = ask(server, api)

        assert (reply.text, len(server.calls)) == ("42", 3)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("fault", "kind"), PASSING)
def test_trouble_that_stays_ends_as_an_error_of_its_kind(api: Api, fault: Answer, kind: str) -> None:
    with Loopback(in_turn(fault)) as server:
        error = failure(server, api, attempts=2)

        assert (error.kind, len(server.calls)) == (kind, 2)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("fault", [Hang(), Drip(), Say("late", after=30)], ids=["hang", "drip", "slow"])
def test_a_server_that_keeps_us_waiting_is_timed_out(api: Api, fault: Answer) -> None:
    with Loopback(in_turn(fault, Say("42"))) as server:
        assert ask(server, api, timeout=0.8).text == "42"
        assert len(server.calls) == 2


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("code", "kind"), [(400, "rejected"), (404, "rejected"), (401, "auth"), (403, "auth")])
def test_what_will_not_pass_is_not_tried_again(api: Api, code: int, kind: str) -> None:
    with Loopback(in_turn(Status(code, "that is not right"))) as server:
        error = failure(server, api)

        assert (error.kind, len(server.calls)) == (kind, 1)
        assert f"the server answered {code}: that is not right" in str(error)


@pytest.mark.parametrize("half", [b"\\ud83d", b"\xf0\x9f"], ids=["escape", "bytes"])
def test_half_a_character_is_the_model_s_answer_and_no_fault_of_the_server_s(half: bytes) -> None:
    body = b'{"id": "1", "choices": [{"message": {"content": "a' + half + b'b"}}]}'
    with Loopback(in_turn(Garbage(body))) as server:
        text = ask(server, "chat").text

        assert (text[0], text[-1], len(server.calls)) == ("a", "b", 1)


@pytest.mark.parametrize("api", APIS)
def test_a_packed_answer_is_an_answer(api: Api) -> None:
    bodies = {
        "chat": {"choices": [{"message": {"content": "42"}}]},
        "responses": {"output": [{"type": "message", "content": "42"}]},
        "messages": {"type": "message", "content": [{"type": "text", "text": "42"}]},
    }
    with Loopback(in_turn(Packed(gzip.compress(json.dumps(bodies[api]).encode())))) as server:
        assert (ask(server, api).text, len(server.calls)) == ("42", 1)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("packed", [True, False], ids=["packed", "plain"])
def test_a_body_larger_than_any_answer_is_given_up_while_it_arrives(api: Api, packed: bool) -> None:
    fault = Packed(gzip.compress(b" " * (300 * 2**20), 1)) if packed else Garbage(b" " * (65 * 2**20))
    with Loopback(in_turn(fault, Say("42"))) as server:
        tracemalloc.start()
        error = failure(server, api, attempts=1, timeout=60.0)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert error.kind == "malformed" and "larger than 64 MiB" in str(error)
    assert most < 150 * 2**20 or not packed  # the server's own bytes, when they are not packed


def test_a_server_says_how_long_to_wait() -> None:
    with Loopback(in_turn(Status(429, retry_after="0.4"), Say("42"))) as server:
        start = time.monotonic()

        assert ask(server, "chat").text == "42"
        assert time.monotonic() - start >= 0.4


def test_a_server_that_asks_for_an_hour_is_not_waited_for() -> None:
    with Loopback(in_turn(Status(429, retry_after="3600"))) as server:
        error = failure(server, "chat")

        assert (error.kind, error.retry_after, len(server.calls)) == ("rate_limit", 3600.0, 1)


def test_a_date_to_come_back_at_is_understood() -> None:
    with Loopback(in_turn(Status(503, retry_after="Fri, 01 Jan 2100 00:00:00 GMT"))) as server:
        error = failure(server, "chat")

        assert error.retry_after is not None and error.retry_after > 1e9


def test_nobody_listening_is_a_failed_connection() -> None:
    with Loopback(in_turn(Say("42"))) as server:
        pass

    assert failure(server, "chat", attempts=2).kind == "connection"


@pytest.mark.parametrize(("api", "variable"), [("chat", "OPENAI_API_KEY"), ("messages", "ANTHROPIC_API_KEY")])
def test_a_server_that_repeats_the_key_does_not_make_us_print_it(
    api: Api, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "very.secret/value")
    with Loopback(in_turn(Status(401, "Bearer very.secret/value and sk-abcdefgh1234 are no keys"))) as server:
        error = failure(server, api)

        assert "very.secret/value" in str(server.calls[0].headers)
        assert "secret" not in str(error) and "abcdefgh" not in str(error)


@pytest.mark.parametrize("api", APIS)
def test_no_key_in_the_environment_is_sent_to_another_vendor(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY" if api != "messages" else "OPENAI_API_KEY", "of-somebody-else")
    with Loopback(in_turn(Say("42"))) as server:
        ask(server, api)

        assert "of-somebody-else" not in str(server.calls[0].headers)


def test_a_long_complaint_is_cut() -> None:
    with Loopback(in_turn(Status(400, "x" * 5000))) as server:
        assert len(str(failure(server, "chat"))) < 400


def test_the_error_is_one_that_the_command_line_knows() -> None:
    assert issubclass(ModelError, Exception)
    assert ModelError.exit_code == 3


def test_a_vendor_without_a_key_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(Exception, match="gpt-x needs a key: set OPENAI_API_KEY, or name a server"):
        connect("gpt-x")
