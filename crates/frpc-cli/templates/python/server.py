"""The server: `python server.py [ADDRESS]`."""

import sys

from greeter import server

if __name__ == "__main__":
    server.run(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8080")
