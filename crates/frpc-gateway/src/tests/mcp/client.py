"""Runs the Python client of MCP against the server of `examples/mcp_suite.rs`. It uses both generations of the protocol
over HTTP, and over standard input and output through the command `frpc mcp`.

usage: client.py URL [FRPC]
"""

import asyncio
import sys
from urllib.parse import urlsplit

from mcp import Client, MCPError, StdioServerParameters


async def check(server, mode):
    async with Client(server, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"test_simple_text", "tools_Tools_Echo"} <= tools.keys(), tools.keys()
        assert tools["tools_Tools_Echo"].annotations.read_only_hint
        assert not tools["tools_Tools_Put"].annotations.read_only_hint

        node = {"children": [{"text": "a", "kind": "KIND_LEAF"}], "number": "7"}
        result = await client.call_tool("tools_Tools_Echo", node)
        assert not result.is_error and result.structured_content == node, result
        text = await client.call_tool("test_simple_text", {})
        assert text.content[0].text == text.structured_content["value"], text

        seen = []

        async def progress(count, total, message):
            seen.append(count)

        counted = await client.call_tool("tools_Tools_Count", {"number": 5}, progress_callback=progress)
        assert [item["number"] for item in counted.structured_content["items"]] == [1, 2, 3, 4, 5], counted
        assert seen == [1, 2, 3, 4, 5], seen

        failed = await client.call_tool("test_error_handling", {"name": "Ada"})
        assert failed.is_error and failed.content[0].text.startswith("FAILED_PRECONDITION"), failed
        wrong = await client.call_tool("tools_Tools_Put", {"name": 7})
        assert wrong.is_error and wrong.content[0].text.startswith("INVALID_ARGUMENT"), wrong
        try:
            await client.call_tool("none", {})
            raise AssertionError("an unknown tool was called")
        except MCPError as error:
            assert error.error.code == -32602, error

        # The call times out, and the connection still serves calls.
        try:
            await client.call_tool("tools_Tools_Wait", {"name": "Ada"}, read_timeout_seconds=0.2)
            raise AssertionError("a call that waits has ended")
        except (MCPError, TimeoutError):
            pass
        assert not (await client.call_tool("test_simple_text", {})).is_error
        print(f"{mode}: {client.protocol_version}, {len(tools)} tools")


async def main():
    url, *command = sys.argv[1:]
    servers = [url]
    if command:
        servers.append(StdioServerParameters(command=command[0], args=["mcp", "--to", urlsplit(url).netloc]))
    for server in servers:
        for mode in ("legacy", "auto"):
            await check(server, mode)


asyncio.run(main())
