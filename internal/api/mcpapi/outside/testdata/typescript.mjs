// Two agents on the official TypeScript client: one hands a task to the other and reads the result.
// node typescript.mjs ERA URL CODER_TOKEN REVIEWER_TOKEN
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [era, url, coderToken, reviewerToken] = process.argv.slice(2);

async function connect(name, token) {
  const mode = era === 'legacy' ? 'legacy' : { pin: era };
  const client = new Client({ name, version: '1.0.0' }, { versionNegotiation: { mode } });
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  const call = async (tool, args = {}) => {
    const result = await client.callTool({ name: tool, arguments: args });
    if (result.isError) throw new Error(`${name}: ${tool}: ${result.content[0].text}`);
    return result.structuredContent ?? { text: result.content[0].text, ...result._meta?.['trapeze/receipt'] };
  };
  return { call, tools: () => client.listTools(), close: () => client.close() };
}

const coder = await connect('coder', coderToken);
const reviewer = await connect('reviewer', reviewerToken);

const { tools } = await coder.tools(); // the client checks every result against its tool's output schema from here on
await reviewer.tools();
await coder.call('join');
await reviewer.call('join');

const waiting = reviewer.call('inbox', { wait: 45 }); // before there is anything
const sent = await coder.call('send', { intent: 'Review the parser', to: ['reviewer'], ask: 'find bugs', facts: ['it is recursive'] });
const [offer] = (await waiting).items;
const accepted = await reviewer.call('accept', { handoff: offer.id });
await reviewer.call('progress', { task: accepted.task, note: 'read half of it' });
await reviewer.call('complete', { task: accepted.task, text: 'two bugs' });
const { task } = await coder.call('status', { id: sent.task, wait: 45 });

console.log(JSON.stringify({ tools: tools.length, context: accepted.text, state: task.state, result: task.result.text }));
await coder.close();
await reviewer.close();
