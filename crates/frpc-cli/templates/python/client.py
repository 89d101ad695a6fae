"""The client: `python client.py [ADDRESS]`."""

import sys

from frisbee_rpc import Client

with Client(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:8080") as client:
    print(client.greet("Ada"))
    for verse in client.recite("Ada"):
        print(verse)
