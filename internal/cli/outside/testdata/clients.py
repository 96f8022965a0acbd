# Two agents on a Python client of MCP: a hand-over with a constraint, a file, a question and a refusal.
# python clients.py CLIENT URL CODER_TOKEN REVIEWER_TOKEN; CLIENT is sdk (of the first major version), auto or legacy (of the second) or fastmcp.
import asyncio
import contextlib
import json
import re
import sys

which, url, *tokens = sys.argv[1:]


@contextlib.asynccontextmanager
async def connect(token):
    """Yields a function that calls a tool, and one that lists the tools."""
    headers = {"Authorization": "Bearer " + token}
    if which == "fastmcp":
        from fastmcp import Client
        from fastmcp.client.transports import StreamableHttpTransport

        async with Client(StreamableHttpTransport(url, headers=headers), timeout=90) as c:
            yield lambda tool, **args: c.call_tool(tool, args, raise_on_error=False), c.list_tools
    elif which == "sdk":
        from mcp import ClientSession
        from mcp.client.streamable_http import streamablehttp_client

        async with streamablehttp_client(url, headers=headers, timeout=90) as (read, write, _), ClientSession(read, write) as c:
            await c.initialize()
            yield lambda tool, **args: c.call_tool(tool, args), c.list_tools
    else:
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async with httpx2.AsyncClient(headers=headers, timeout=90) as http, Client(streamable_http_client(url, http_client=http), mode=which) as c:
            yield lambda tool, **args: c.call_tool(tool, args), c.list_tools


def of(result, *names):
    """The first attribute that the result has: the versions differ in their spelling."""
    return next((getattr(result, name) for name in names if getattr(result, name, None) is not None), None)


async def must(call, tool, **args):
    result = await call(tool, **args)
    text = "\n".join(block.text for block in result.content)
    if of(result, "isError", "is_error"):
        raise SystemExit(f"{tool}: {text}")
    return of(result, "structuredContent", "structured_content") or {"text": text}


async def main():
    async with connect(tokens[0]) as (coder, tools), connect(tokens[1]) as (reviewer, others):
        listed = await tools()
        listed = getattr(listed, "tools", listed)
        await others()
        await must(coder, "join")
        await must(reviewer, "join")
        waiting = asyncio.create_task(must(reviewer, "inbox", wait=45))  # before there is anything
        sent = await must(
            coder, "send", intent='Review the parser\nof "orders"', to=["reviewer"], constraints=["prohibition!:never push to main"],
            facts=["it is recursive"], attach=[{"name": "orders.csv", "text": 'order,amount\n7,"12.50"\n'}], result_schema=None, priority="",
        )
        (offer,) = (await waiting)["items"]
        context = (await must(reviewer, "accept", handoff=offer["id"]))["text"]
        task = sent["task"]
        file = await must(reviewer, "status", id=task, parts=[re.search(r"sha256:[0-9a-f]{64}", context)[0]])
        asked = await must(reviewer, "ask", task=task, question="Which order?", to="coder")
        (question,) = (await must(coder, "inbox", wait=45))["items"]
        await must(coder, "decide", id=asked["ticket"], verdict="answer", text="the first")
        (resumed,) = (await must(reviewer, "inbox", wait=45))["items"]
        refused = await coder("complete", task=task, text="not mine")
        await must(reviewer, "progress", task=task, note="read half of it")
        await must(reviewer, "complete", task=task, text='two "bugs"', data=None)
        ended = (await must(coder, "status", id=task, wait=45))["task"]
        print(json.dumps({
            "tools": len(listed), "context": context, "file": file["text"], "question": question["do"], "resumed": resumed["detail"],
            "refused": of(refused, "structuredContent", "structured_content")["code"], "state": ended["state"], "result": ended["result"]["text"],
        }))


asyncio.run(main())
