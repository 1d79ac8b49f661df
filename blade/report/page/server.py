"""The server behind `blade view`: pages, their trajectories and their labels, for one browser on this machine.

It listens on loopback only. The address it prints carries a token that works once and buys a cookie; without that
cookie nothing is served. Requests must name this server as their host, so that no other name can be pointed at it, and
what changes something must come from this page: right origin, and the page's own token. Nothing else is served.
"""

import hmac
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from blade.errors import BladeError, UsageError
from blade.report.page.render import asset, policy, script
from blade.report.page.viewer import Viewer, Views

ADDRESS = "127.0.0.1"
MOST_BYTES = 200_000
"""Length of a label, at most."""
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Refused(Exception):
    """A request that is not answered, and why."""

    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


class ViewServer(ThreadingHTTPServer):
    """Serves to whoever opens its address first."""

    daemon_threads = True

    def __init__(self, views: Views, port: int = 0) -> None:
        super().__init__((ADDRESS, port), Handler)
        self.views = views
        self.once: str | None = secrets.token_urlsafe(24)
        self.session = secrets.token_urlsafe(24)
        self.cookie = f"blade-{self.server_port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """How this server may be called."""
        return (f"{ADDRESS}:{self.server_port}", f"localhost:{self.server_port}")

    @property
    def url(self) -> str:
        """The address to open; it works once."""
        return f"http://{ADDRESS}:{self.server_port}/?token={self.once}"

    def take(self, token: str) -> bool:
        """Whether a token is the one that was printed; from then on it is not."""
        right = self.once is not None and same(token, self.once)
        if right:
            self.once = None
        return right


def finished_policy() -> str:
    """What a page that was written earlier may do."""
    style, codes = asset("style.css"), (script("theme.js"), script("comparison.js"))
    return f"{policy(style, *codes, source='none')}; {HEADERS['Content-Security-Policy']}"


def same(said: str, secret: str) -> bool:
    return hmac.compare_digest(said.encode("utf-8", "replace"), secret.encode())


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: ViewServer
    server_version = "blade"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        """The page, a trajectory, or a search."""
        self.guarded(self.get)

    def do_POST(self) -> None:
        """A label."""
        self.guarded(self.post)

    def guarded(self, answer: Callable[[], None]) -> None:
        """Answers, or says in one line why not."""
        try:
            self.check_host()
            answer()
        except Refused as refused:
            self.reply(refused.why.encode(), "text/plain; charset=utf-8", status=refused.status)
        except BladeError as error:
            status = HTTPStatus.BAD_REQUEST if isinstance(error, UsageError) else HTTPStatus.INTERNAL_SERVER_ERROR
            self.reply(str(error).encode("utf-8", "replace"), "text/plain; charset=utf-8", status=status)

    def get(self) -> None:
        parts = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        if parts.path == "/" and "token" in asked and self.server.take(asked["token"]):
            self.let_in()
            return
        self.check_cookie()
        finished = self.server.views.finished_page(parts.path[1:])
        if finished is not None:
            # Nobody knows who wrote it: whatever it holds, scripts of ours run there and no others.
            policy_of = {"Content-Security-Policy": finished_policy()}
            self.reply(finished, "text/html; charset=utf-8", status=HTTPStatus.OK, **policy_of)
            return
        viewer, below, what = self.find_viewer(parts.path)
        if what in ("", "report.html") if below else what == "":
            self.reply(viewer.page(up="/" if below else ""), "text/html; charset=utf-8")
        elif what == "rollout" and asked.get("row", "").isdecimal():
            self.reply(viewer.rollout(int(asked["row"])), "application/json")
        elif what == "search" and asked.get("q"):
            found = viewer.search(asked["q"], given=asked.get("given") == "1")
            self.reply(msgspec.json.encode(found), "application/json")
        else:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")

    def post(self) -> None:
        self.check_cookie()
        viewer, _, what = self.find_viewer(self.path)
        if what != "label":
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")
        origins = {f"http://{host}" for host in self.server.hosts}
        if self.headers.get("Origin") not in origins or not same(self.headers.get("X-Blade-Token", ""), viewer.token):
            raise Refused(HTTPStatus.FORBIDDEN, "A label must come from the page itself.")
        if self.headers.get("Content-Type") != "application/json":
            raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "A label is JSON.")
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"A label has at most {MOST_BYTES:,} bytes.")
        label = viewer.label(self.rfile.read(int(length)))
        self.reply(msgspec.json.encode(label), "application/json")

    def find_viewer(self, path: str) -> tuple[Viewer, str, str]:
        """The run that an address is below, its name there, and what is asked of it."""
        below, _, what = path[1:].rpartition("/")
        viewer = self.server.views.viewer(unquote(below))
        if viewer is None:
            raise Refused(HTTPStatus.NOT_FOUND, "There is nothing here.")
        return viewer, below, what

    def check_host(self) -> None:
        """Refuses a request that was meant for somebody else, or that another site made."""
        if self.headers.get("Host") not in self.server.hosts:
            raise Refused(HTTPStatus.FORBIDDEN, "This server answers to its own address only.")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(HTTPStatus.FORBIDDEN, "This server does not answer other sites.")

    def check_cookie(self) -> None:
        try:
            found = SimpleCookie(self.headers.get("Cookie", "")).get(self.server.cookie)
        except CookieError:
            found = None
        if found is None or not same(found.value, self.server.session):
            raise Refused(HTTPStatus.FORBIDDEN, "Open the address that blade view printed; it works once.")

    def let_in(self) -> None:
        """Trades the token for a cookie and leads to the page, whose address holds no secret."""
        cookie = f"{self.server.cookie}={self.server.session}; HttpOnly; SameSite=Strict; Path=/"
        self.reply(
            b"", "text/plain; charset=utf-8", status=HTTPStatus.SEE_OTHER, Location="/", **{"Set-Cookie": cookie}
        )

    def reply(self, body: bytes, kind: str, *, status: HTTPStatus = HTTPStatus.OK, **headers: str) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **headers, "Content-Type": kind, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keeps quiet: addresses hold what somebody searched for."""
