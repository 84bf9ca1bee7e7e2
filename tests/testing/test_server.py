"""The loopback server: whole, broken and silent responses, and what remains when it stops."""

import http.client
import threading
import time

import pytest

from selfgc.testing.server import Loopback, Response


@pytest.fixture
def serve():
    """Start a server that gives these responses in turn; yields the server and a way to ask it."""
    opened = []

    def start(*responses, failed=None):
        replies = iter(responses)
        server = Loopback(lambda _request: next(replies), failed or (lambda error: pytest.fail(repr(error))))
        server.start()
        opened.append(server)
        return server

    yield start
    for server in opened:
        server.stop()


def connect(server):
    return http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=5)


def asked(connection):
    connection.request("POST", "/x", b"body")
    return connection.getresponse()


def test_one_connection_serves_several_requests(serve):
    """It stays open after a whole response, chunked or not."""
    connection = connect(serve(Response(201, {"x-a": "b"}, b"one"), Response(body=[b"tw", b"o"])))
    first = asked(connection)
    assert (first.status, first.headers["x-a"], first.read()) == (201, "b", b"one")
    assert asked(connection).read() == b"two"
    connection.close()


@pytest.mark.parametrize("body", [b"abcdef", [b"abc", b"def"]])
def test_a_cut_response_breaks_in_the_middle(serve, body):
    """The client gets the first bytes and then the end of the connection, never a whole body."""
    connection = connect(serve(Response(body=body, cut=4)))
    with pytest.raises(http.client.IncompleteRead) as caught:
        asked(connection).read()
    assert caught.value.partial in {b"abcd", b"abc"}
    connection.close()


def test_a_cut_beyond_the_end_cuts_nothing(serve):
    """All bytes are allowed, so all come."""
    connection = connect(serve(Response(body=[b"abc", b"def"], cut=1_000)))
    assert asked(connection).read() == b"abcdef"
    connection.close()


def test_silence_ends_after_its_delay(serve):
    """No status line comes, only the end of the connection."""
    connection = connect(serve(Response(delay=0.05, is_silent=True)))
    with pytest.raises(http.client.RemoteDisconnected):
        asked(connection)
    connection.close()


def test_stopping_ends_whoever_waits():
    """A hanging response does not hold the server back, and the port is free again."""
    server = Loopback(lambda _request: Response(delay=600, is_silent=True), lambda _error: None)
    server.start()
    connection, ends = connect(server), []

    def ask():
        try:
            asked(connection)
        except http.client.RemoteDisconnected as error:
            ends.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not server.connections:
        time.sleep(0.005)
    server.stop()
    thread.join(5)
    assert len(ends) == 1
    with pytest.raises(ConnectionRefusedError):
        asked(connect(server))
    connection.close()


def test_what_respond_raises_is_answered_and_passed_on(serve):
    """The client gets a 400, the owner of the server gets the error."""
    errors, told = [], threading.Event()

    def failed(error):
        errors.append(error)
        told.set()

    connection = connect(serve(failed=failed))
    assert asked(connection).status == 400
    assert told.wait(5)
    assert [type(error) for error in errors] == [StopIteration]
    connection.close()


def test_a_client_that_goes_away_is_no_fault(serve):
    """Writing to it fails, and nobody is told."""
    server = serve(Response(body=(b"x" * 100_000 for _ in range(200)), delay=0.05))
    connection = connect(server)
    connection.request("POST", "/x", b"body")
    connection.close()
    while server.connections:
        time.sleep(0.005)
