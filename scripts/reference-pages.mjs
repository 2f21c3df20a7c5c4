// Writes docs/command-line.md, docs/events.md and docs/error-types.md from the sources.
import { helpPages } from './man-page.mjs';
import { root, source, table, writePage } from './page.mjs';

const command = 'node scripts/reference-pages.mjs';
const agentEvents = source('packages/agent/src/loop/agent-event.ts');

writePage('command-line.md', await commandLine(), { command });
writePage('events.md', eventsPage(), { command });
writePage('error-types.md', errorTypesPage(), { command });

async function commandLine() {
  const { commandNames, helpText } = await helpPages(root);
  const page = (name) => `\`\`\`text\n${helpText(name).trim()}\n\`\`\``;
  const sections = commandNames.map((name) => `## lathe ${name}\n\n${page(name)}`);
  return `# Command line

Use this page to look up a command or a flag. It has the output of \`lathe --help\` and of \`lathe COMMAND --help\`.

${page()}

${sections.join('\n\n')}
`;
}

function eventsPage() {
  return `# Events

Use this page to build a front end of your own. \`agent.prompt(text, signal)\` of \`@lathe/agent\` yields these events in order:

\`\`\`ts
for await (const event of agent.prompt(prompt, signal)) {
  if (event.type === 'text-delta') process.stdout.write(event.text);
  if (event.type === 'prompt-end') console.log(event.end.reason);
}
\`\`\`

One prompt yields \`prompt-start\`, then turns, then exactly one \`prompt-end\`. A turn is one request to the model and the calls of its answer.
The types are in [agent-event.ts](../packages/agent/src/loop/agent-event.ts) and [call.ts](../packages/core/src/contract/call.ts).
Questions are not events: [an approver answers them](write-a-tool.md#how-do-i-answer-questions-in-my-own-program).

## Events of the agent

${table(['event', 'fields', 'meaning'], events(union(agentEvents, 'AgentEvent')))}

## Events of calls

\`lathe.run(calls, signal)\` of \`@lathe/core\` yields these alone. The agent passes them on.

${table(['event', 'fields', 'meaning'], events(union(source('packages/core/src/contract/call.ts'), 'CallEvent')))}

## Why did the work end?

\`end.reason\` of \`prompt-end\` is one of these. For every reason but \`done\`, \`end.message\` says what happened and what to do.

${table(['reason', 'meaning'], [...names(union(agentEvents, 'EndReason')), ...names(union(agentEvents, 'BudgetReason'))])}
`;
}

function errorTypesPage() {
  const list =
    /export const toolErrorTypes = \[([^]*?)\]/.exec(source('packages/core/src/contract/errors.ts'))?.[1] ?? '';
  const groups = list.split(/^ {2}\/\/ (?=\w+)/m).slice(1);
  const sections = groups.map((group) => {
    const [title = '', ...lines] = group.split('\n');
    const rows = lines.filter((line) => line.trim() !== '').map(errorRow);
    return `## ${title[0]?.toUpperCase()}${title.slice(1)}\n\n${table(['type', 'meaning'], rows)}`;
  });
  return `# Error types

Use this page to react to a failed call in a script or a program. Every failed call has a type and a message. The message says what to do
next. The types never change, so you can compare them:

\`\`\`sh
lathe call read_file '{"absolute_path": "/no/such/file"}' --json
\`\`\`

\`\`\`ts
const [outcome] = await lathe.run(calls, signal);
if (outcome?.error?.type === 'file_not_found') console.error(outcome.error.message);
\`\`\`

A tool of your own throws a \`ToolError\` with one of these types: see [write a tool](write-a-tool.md).

${sections.join('\n\n')}
`;
}

/** The members of a union type in a source file, each with its comment. Another type in the union is left out. */
function union(text, name) {
  const start = text.indexOf(`export type ${name} =`);
  const members = text.slice(start, text.indexOf(';\n\n', start)).matchAll(/(?:\/\*\* (.*) \*\/\n)? {2}\| ([{'].*)/g);
  return [...members].map(([, comment, member]) => {
    if (comment === undefined) throw new Error(`no comment: ${member}`);
    return { comment, member };
  });
}

function events(members) {
  return members.map(({ comment, member }) => {
    const [, type, fields] = /^\{ type: '([\w-]+)'; (.*) \}/.exec(member) ?? [];
    if (type === undefined) throw new Error(`not an event: ${member}`);
    const cells = fields
      .split('; ')
      .map((field) => `\`${field.replaceAll(/\breadonly /g, '').replaceAll('|', '\\|')}\``);
    return [`\`${type}\``, cells.join('<br>'), comment];
  });
}

function names(members) {
  return members.map(({ comment, member }) => [`\`${member.replaceAll(/[';]/g, '')}\``, comment]);
}

function errorRow(line) {
  const [, type, meaning] = /^ {2}'(\w+)', \/\/ (.*)$/.exec(line) ?? [];
  if (type === undefined) throw new Error(`no type with a comment: ${line}`);
  return [`\`${type}\``, meaning];
}
