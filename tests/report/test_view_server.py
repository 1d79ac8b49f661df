"""The server behind `blade view`: who is let in, what is served, and how a label gets in."""

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from page_files import data_of
from small_workspaces import ROWS, diagnose

from blade.errors import UsageError
from blade.report.page.server import ViewServer
from blade.report.page.viewer import Viewer, Views
from blade.report.workspace import open_workspace

LABEL = {
    "task": "sqrt",
    "cause": "KG",
    "confidence": "high",
    "reason": "does not know roots",
    "evidence": [{"citation": "sqrt:1#1", "quote": "Perhaps 3."}],
}


class Client:
    """A browser of few words."""

    def __init__(self, server: ViewServer) -> None:
        self.server = server
        self.origin = f"http://127.0.0.1:{server.server_port}"
        self.cookie = ""

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.server_port, timeout=10)
        sent = {"Cookie": self.cookie} | {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, None if body is None else json.dumps(body), sent)
        response = connection.getresponse()
        self.cookie = response.getheader("Set-Cookie", "").partition(";")[0] or self.cookie
        text = response.read().decode()
        connection.close()
        return response.status, text

    def enter(self) -> None:
        assert self.ask("/?" + self.server.url.partition("?")[2])[0] == 303

    def send(self, label: dict[str, Any], **headers: str) -> tuple[int, str]:
        sent = {"Origin": self.origin, "X_Blade_Token": "page", "Content_Type": "application/json", **headers}
        return self.ask("/label", "POST", label, **sent)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewServer]:
    """A server on a free port of loopback."""
    yield from serve(Views({"": diagnose(tmp_path).folder}, {}, author="human:ada", token="page"))


def serve(views: Views) -> Iterator[ViewServer]:
    made = ViewServer(views)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def the_viewer(server: ViewServer) -> Viewer:
    viewer = server.views.viewer("")
    assert viewer is not None
    return viewer


@pytest.fixture
def client(server: ViewServer) -> Client:
    """A browser that was let in."""
    made = Client(server)
    made.enter()
    return made


def test_the_printed_address_works_once_and_nothing_is_served_without_it(server: ViewServer) -> None:
    first, second = Client(server), Client(server)
    address = "/?" + server.url.partition("?")[2]

    assert [first.ask(path)[0] for path in ("/", "/rollout?row=0", "/search?q=a", "/?token=guess")] == [403] * 4
    assert first.ask(address)[0] == 303
    assert first.ask("/")[0] == 200
    assert second.ask(address)[0] == 403


def test_the_server_serves_its_page_its_trajectories_and_a_search_and_nothing_else(client: Client) -> None:
    page = client.ask("/")[1]
    rollout = json.loads(client.ask("/rollout?row=3")[1])
    found = json.loads(client.ask("/search?q=MAKES%205")[1])

    assert data_of(page)["source"] == "server"
    assert [item["text"] for item in rollout["items"]] == ["What is 7*8?", "That makes 54, I think."]
    assert [(hit["row"], hit["item"]) for hit in found["hits"]] == [(2, 1), (3, 1)]
    assert json.loads(client.ask("/search?q=what%20is&given=0")[1]) == {"hits": [], "more": False}
    assert len(json.loads(client.ask("/search?q=what%20is&given=1")[1])["hits"]) == len(ROWS)
    paths = ("/labels.jsonl", "/../math.jsonl", "/rollout?row=-1", "/rollout", "/search", "/analysis.json")
    assert [client.ask(path)[0] for path in paths] == [404] * len(paths)
    assert client.ask("/rollout?row=99")[0] == 400


def test_another_host_name_or_another_site_is_refused(client: Client) -> None:
    assert client.ask("/", Host="evil.example")[0] == 403
    assert client.ask("/", Sec_Fetch_Site="cross-site")[0] == 403
    assert client.ask("/", Host=f"localhost:{client.server.server_port}")[0] == 200


def test_a_label_is_checked_as_the_command_does_and_kept_and_shown(client: Client, tmp_path: Path) -> None:
    status, said = client.send({**LABEL, "evidence": [{"citation": "sqrt:1#1", "quote": "Perhaps 4."}]})
    assert (status, "does not occur there verbatim" in said) == (400, True)
    assert client.send({**LABEL, "cause": "XX"})[0] == 400
    assert client.send({**LABEL, "author": "rule:me"})[0] == 400

    status, said = client.send(LABEL)

    assert (status, json.loads(said)["author"]) == (200, "human:ada")
    assert open_workspace(tmp_path / "out").labels["sqrt"].reason == "does not know roots"
    task = next(task for task in data_of(client.ask("/")[1])["tasks"] if task["task"] == "sqrt")
    assert (task["cause"], task["author"]) == ("KG", "human:ada")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Origin": "http://evil.example"}, 403, id="another_origin"),
        pytest.param({"Origin": "null"}, 403, id="no_origin"),
        pytest.param({"X_Blade_Token": "guess"}, 403, id="wrong_token"),
        pytest.param({"Content_Type": "text/plain"}, 415, id="a_form_could_send_it"),
        pytest.param({"Cookie": "none"}, 403, id="not_let_in"),
    ],
)
def test_a_label_from_anywhere_but_the_page_is_refused(client: Client, headers: dict[str, str], status: int) -> None:
    assert client.send(LABEL, **headers)[0] == status
    assert not any(label.author == "human:ada" for label in the_viewer(client.server).workspace.labels.values())


def test_a_label_that_is_too_long_is_not_read(client: Client) -> None:
    assert client.send({**LABEL, "reason": "a" * 300_000})[0] == 413


def test_a_row_that_is_not_there_is_the_askers_mistake(server: ViewServer) -> None:
    with pytest.raises(UsageError, match="no row 6"):
        the_viewer(server).rollout(6)


def test_several_runs_are_served_each_below_its_name(tmp_path: Path) -> None:
    runs = {name: diagnose(tmp_path / name).folder for name in ("a b", "c")}
    (tmp_path / "report.html").write_text("the table")
    pages = {"": tmp_path / "report.html", "comparison.html": tmp_path / "gone.html"}
    for server in serve(Views(runs, pages, author="human:ada", token="page")):
        client = Client(server)
        client.enter()

        assert client.ask("/") == (200, "the table")
        assert data_of(client.ask("/a%20b/report.html")[1])["run"] == "math"
        assert json.loads(client.ask("/c/rollout?row=3")[1])["row"] == 3
        refused = ("/report.html", "/rollout?row=0", "/x/", "/../", "/c/labels.jsonl", "/a b/x/")
        assert [client.ask(quote(path, safe="/?="))[0] for path in refused] == [404] * len(refused)
        assert "cannot be read" in client.ask("/comparison.html")[1]
        sent = {"Origin": client.origin, "X_Blade_Token": "page", "Content_Type": "application/json"}
        assert client.ask("/c/label", "POST", LABEL, **sent)[0] == 200
        assert open_workspace(runs["c"]).labels["sqrt"].author == "human:ada"
        assert open_workspace(runs["a b"]).labels["sqrt"].author.startswith("rule:")
