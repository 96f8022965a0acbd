// Two agents of the OpenAI Agents SDK, whose models follow a script: one hands a task to the other and gets the result.
// node framework.mjs URL CODER_TOKEN REVIEWER_TOKEN
import { Agent, MCPServerStreamableHttp, Runner, Usage, setTracingDisabled } from '@openai/agents';

const [url, coderToken, reviewerToken] = process.argv.slice(2);
setTracingDisabled(true);

// A model that does one step of its script a turn. A step is given what the last tool said, and returns either a call of a
// tool or, as text, the last words.
class Scripted {
  constructor(steps) {
    this.steps = steps;
  }

  async getResponse({ input }) {
    const last = Array.isArray(input) ? input.findLast((item) => item.type === 'function_call_result') : undefined;
    const step = this.steps.shift()(last ? textOf(last.output) : '');
    if (typeof step === 'string') {
      return { usage: new Usage(), output: [{ type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: step }] }] };
    }
    const [name, args] = step;
    const callId = `call_${this.steps.length}`;
    return { usage: new Usage(), output: [{ type: 'function_call', callId, name, arguments: JSON.stringify(args), status: 'completed' }] };
  }
}

const textOf = (output) => (typeof output === 'string' ? output : [output].flat().map((part) => part.text).join('\n'));
const find = (text, pattern) => {
  const found = text.match(pattern);
  if (!found) throw new Error(`no ${pattern} in: ${text}`);
  return found[0];
};
const taskID = /task_[0-9a-z]{26}/;
const handoffID = /task_[0-9a-z]{26}\.h\d+/;

async function run(name, token, request, steps) {
  const server = new MCPServerStreamableHttp({ name: 'trapeze', url, requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  await server.connect();
  try {
    const agent = new Agent({ name, instructions: 'Use Trapeze.', model: new Scripted(steps), mcpServers: [server] });
    return (await new Runner().run(agent, request)).finalOutput;
  } finally {
    await server.close();
  }
}

const reviewer = run('reviewer', reviewerToken, 'Work on what comes.', [
  () => ['join', {}],
  () => ['inbox', { wait: 45 }],
  (said) => ['accept', { handoff: find(said, handoffID) }],
  (said) => ['complete', { task: find(said, taskID), text: 'two bugs' }],
  (said) => said,
]);
const coder = run('coder', coderToken, 'Have the parser reviewed.', [
  () => ['join', {}],
  () => ['send', { intent: 'Review the parser', to: ['reviewer'], kind: 'delegation' }],
  (said) => ['status', { id: find(said, /(?<=Children: )task_[0-9a-z]{26}/), wait: 45 }],
  (said) => said,
]);
console.log(JSON.stringify({ reviewer: await reviewer, coder: await coder }));
