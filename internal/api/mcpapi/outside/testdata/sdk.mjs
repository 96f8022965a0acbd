// Two agents on the TypeScript SDK of protocol versions with sessions: a hand-over with a constraint, a file and a question.
// node sdk.mjs URL CODER_TOKEN REVIEWER_TOKEN
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [url, coderToken, reviewerToken] = process.argv.slice(2);

async function connect(name, token) {
  const client = new Client({ name, version: '1.0.0' });
  const headers = { Authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  const call = (tool, args = {}) => client.callTool({ name: tool, arguments: args });
  const must = async (tool, args = {}) => {
    const result = await call(tool, args);
    if (result.isError) throw new Error(`${name}: ${tool}: ${result.content[0].text}`);
    return result.structuredContent ?? { text: result.content[0].text, ...result._meta?.['trapeze/receipt'] };
  };
  const close = async () => {
    await transport.terminateSession();
    await client.close();
  };
  return { call, must, close, tools: () => client.listTools() };
}

const coder = await connect('coder', coderToken);
const reviewer = await connect('reviewer', reviewerToken);
const { tools } = await coder.tools(); // the client checks every result against its tool's output schema from here on
await reviewer.tools();
await coder.must('join');
await reviewer.must('join');

const waiting = reviewer.must('inbox', { wait: 45 }); // before there is anything
const sent = await coder.must('send', {
  intent: 'Review the parser\nof "orders"', to: ['reviewer'], constraints: ['prohibition!:never push to main'],
  facts: ['it is recursive'], attach: [{ name: 'orders.csv', text: 'order,amount\n7,"12.50"\n' }],
});
const [offer] = (await waiting).items;
const accepted = await reviewer.must('accept', { handoff: offer.id });
const digest = /sha256:[0-9a-f]{64}/.exec(accepted.text)[0];
const file = await reviewer.must('status', { id: accepted.task, parts: [digest] });

const asked = await reviewer.must('ask', { task: accepted.task, question: 'Which order?', to: 'coder' });
const [question] = (await coder.must('inbox', { wait: 45 })).items;
await coder.must('decide', { id: asked.ticket, verdict: 'answer', text: 'the first' });
const [resumed] = (await reviewer.must('inbox', { wait: 45 })).items;

const refused = await coder.call('complete', { task: sent.task, text: 'not mine' });
await reviewer.must('progress', { task: accepted.task, note: 'read half of it' });
await reviewer.must('complete', { task: accepted.task, text: 'two "bugs"' });
const { task } = await coder.must('status', { id: sent.task, wait: 45 });

console.log(JSON.stringify({
  tools: tools.length, context: accepted.text, file: file.text, question: question.do, resumed: resumed.detail,
  refused: refused.isError ? refused.structuredContent.code : '', state: task.state, result: task.result.text,
}));
await coder.close();
await reviewer.close();
