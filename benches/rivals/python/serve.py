"""Serves the echo call by FastAPI, grpcio or UCall on a free port of the loopback, until its parent ends.

`serve.py check NAME` ends without an error if it can run; requirements.txt lists the packages.
"""

import ctypes
import importlib
import signal
import socket
import sys


def end_with_parent():
    """Ends this process when its parent ends. UCall runs no other Python thread, which could wait for that."""
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fastapi():
    import uvicorn
    from fastapi import FastAPI, WebSocket
    from pydantic import BaseModel

    class Echo(BaseModel):
        message: str

    app = FastAPI()

    @app.post("/echo")
    async def echo(request: Echo) -> Echo:
        return request

    @app.websocket("/")
    async def echoes(web_socket: WebSocket) -> None:
        await web_socket.accept(subprotocol="jsonrpc")
        async for request in web_socket.iter_json():
            await web_socket.send_json({"id": request["id"], "message": request["params"]["message"]})

    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(4096)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="critical", access_log=False)
    print(f"listening 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listener])


def ucall(module="posix"):
    Server = importlib.import_module(f"ucall.{module}").Server
    port = free_port()
    server = Server(hostname="127.0.0.1", port=port)

    @server
    def echo(message: str):
        return {"message": message}

    # The server is listening at this point.
    print(f"listening 127.0.0.1:{port}", flush=True)
    server.run()


def grpcio():
    from concurrent.futures import ThreadPoolExecutor

    import grpc

    class Echo(grpc.GenericRpcHandler):
        """The request and the response have the same encoding."""

        def service(self, details):
            return grpc.unary_unary_rpc_method_handler(lambda request, context: request)

    unlimited = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    server = grpc.server(ThreadPoolExecutor(8), handlers=[Echo()], options=unlimited)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(f"listening 127.0.0.1:{port}", flush=True)
    server.wait_for_termination()


def check(name):
    if name.startswith("fastapi"):
        import fastapi, httptools, uvicorn, uvloop, websockets  # noqa: E401, F401
    elif name == "grpcio":
        import grpc  # noqa: F401
    else:
        import ucall.posix  # noqa: F401


if __name__ == "__main__":
    role = sys.argv[1]
    if role == "check":
        check(sys.argv[2])
    else:
        end_with_parent()
        {
            "fastapi": fastapi,
            "fastapi-ws": fastapi,
            "grpcio": grpcio,
            "ucall": ucall,
            "ucall-uring": lambda: ucall("uring"),
        }[role]()
