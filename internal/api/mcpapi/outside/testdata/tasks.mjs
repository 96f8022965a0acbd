// The official requester of the Tasks extension: a delegation is a call whose result comes later, and a question on the way.
// node tasks.mjs URL CODER_TOKEN REVIEWER_TOKEN
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';

const [url, coderToken, reviewerToken] = process.argv.slice(2);
const version = '2026-07-28';
const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

async function connect(name, token) {
  const client = new Client({ name, version: '1.0.0' }, { capabilities: tasks, versionNegotiation: { mode: { pin: version } } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  return client;
}

// The requester makes its requests itself: the client does not know what a result of type "task" is.
async function rawDispatch(request, options) {
  const headers = {
    Authorization: `Bearer ${coderToken}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
    'Mcp-Protocol-Version': version, 'Mcp-Method': request.method, 'Mcp-Name': request.params.name ?? request.params.taskId ?? '',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, ...request });
  const text = await (await fetch(url, { method: 'POST', headers, body, signal: options?.signal })).text();
  return JSON.parse(text.match(/^(data: )?(\{.*\})$/m)[2]);
}

const reviewer = await connect('reviewer', reviewerToken);
const call = async (tool, args) => (await reviewer.callTool({ name: tool, arguments: args })).structuredContent;
await call('join', {});

const coder = await connect('coder', coderToken);
const session = createTaskSessionFromClient(coder, {
  endpointId: 'trapeze',
  rawDispatch,
  v2RequestFraming: { protocolVersion: version, clientInfo: { name: 'coder', version: '1.0.0' }, clientCapabilities: tasks },
});
const execution = await session.callTool('send', { intent: 'Review the parser', to: ['reviewer'], kind: 'delegation' });

const [offer] = (await call('inbox', { wait: 45 })).items;
await call('accept', { handoff: offer.id });
await call('complete', { task: offer.task, text: 'two bugs' });

const result = resultFromTaskOutcome((await execution.settle()).outcome);
console.log(JSON.stringify({ execution: execution.kind, text: result.content[0].text, state: result.structuredContent.state }));
await session.close();
await coder.close();
await reviewer.close();
