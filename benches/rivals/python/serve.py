"""Serves the echo call by FastAPI or UCall on a free port of the loopback, until its parent ends.

`serve.py check` ends without an error if both can run; requirements.txt lists what they need.
"""

import ctypes
import signal
import socket
import sys


def end_with_parent():
    """Ends this process when its parent does. UCall runs no other thread, which could wait for that."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fastapi():
    import uvicorn
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Echo(BaseModel):
        message: str

    app = FastAPI()

    @app.post("/echo")
    async def echo(request: Echo) -> Echo:
        return request

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(4096)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="critical", access_log=False)
    print(f"listening 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


def ucall():
    from ucall.posix import Server

    port = free_port()
    server = Server(hostname="127.0.0.1", port=port)

    @server
    def echo(message: str):
        return {"message": message}

    # It listens already.
    print(f"listening 127.0.0.1:{port}", flush=True)
    server.run()


def check():
    import fastapi, httptools, ucall.posix, uvicorn, uvloop  # noqa: E401, F401


if __name__ == "__main__":
    role = sys.argv[1]
    if role != "check":
        end_with_parent()
    {"fastapi": fastapi, "ucall": ucall, "check": check}[role]()
