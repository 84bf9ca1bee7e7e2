"""HTTP on the loopback: a free port, a thread a connection, and responses written as they are told, broken ones too."""

import contextlib
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import NamedTuple

from selfgc.testing.request import Request


class Response(NamedTuple):
    """What is to be written. A body of several parts is sent chunked, each part as soon as it is there."""

    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes | Iterable[bytes] = b""
    delay: float = 0.0
    """Seconds before the first byte."""
    is_silent: bool = False
    """Whether the connection ends after the delay, without a byte."""
    cut: int | None = None
    """Bytes of the body after which the connection breaks."""


class Loopback(socketserver.ThreadingTCPServer):
    """Serves from `start` to `stop`. What `respond` raises is answered with 400 and given to `failed`."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, respond: Callable[[Request], Response], failed: Callable[[BaseException], None]) -> None:
        self.respond, self.failed = respond, failed
        self.closing = threading.Event()
        """Set when the server stops; whoever waits goes on."""
        self.connections: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """The root of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> None:
        """Serve in a thread."""
        threading.Thread(target=self.serve_forever, args=(0.005,), daemon=True).start()

    def stop(self) -> None:
        """End every connection and free the port."""
        self.closing.set()
        self.shutdown()
        for connection in tuple(self.connections):
            with contextlib.suppress(OSError):  # it may have ended by itself just now
                connection.shutdown(socket.SHUT_RDWR)
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - the standard library's signature
        """Pass on what went wrong in a connection's thread; a client that went away is no fault."""
        error = sys.exception()
        if error is not None and not isinstance(error, ConnectionError):
            self.failed(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Loopback

    def setup(self) -> None:
        """Open, and be known to the server."""
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        """Close."""
        self.server.connections.discard(self.connection)
        super().finish()

    def do_POST(self) -> None:
        """Read the request and write what the server's owner says to it."""
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = Response(400, {"content-type": "text/plain"}, b"the script of this provider has a fault")
        try:
            response = self.server.respond(Request(self.path, headers, body))
        finally:
            self._write(response)

    def _write(self, response: Response) -> None:
        is_over = response.delay > 0 and self.server.closing.wait(response.delay)
        if is_over or response.is_silent:
            self.close_connection = True
            return
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if isinstance(response.body, bytes):
            self.send_header("content-length", str(len(response.body)))
            self.end_headers()
            self._write_parts([response.body], response.cut, is_chunked=False)
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        if self._write_parts(response.body, response.cut, is_chunked=True):
            self.wfile.write(b"0\r\n\r\n")

    def _write_parts(self, parts: Iterable[bytes], cut: int | None, *, is_chunked: bool) -> bool:
        """Write the parts, or as many bytes of them as are allowed; return whether all were written."""
        left = cut
        for part in parts:
            head, tail = (b"%x\r\n" % len(part), b"\r\n") if is_chunked else (b"", b"")
            if left is not None and len(part) > left:
                self.wfile.write(head + part[:left])
                self.close_connection = True
                return False
            self.wfile.write(head + part + tail)
            left = None if left is None else left - len(part)
        return True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's signature
        """Say nothing: the requests are kept, and a test prints what it wants."""
