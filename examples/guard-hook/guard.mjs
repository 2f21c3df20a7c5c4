// Refuses commands that rewrite what others already have. Exit code 2 refuses; stderr is the reason that the model reads.
let input = '';
for await (const chunk of process.stdin) input += chunk;
const { tool_input } = JSON.parse(input);
if (/\bgit\s+push\b.*\s(--force|-f)\b/.test(tool_input.command)) {
  console.error('Do not force a push: open a pull request instead.');
  process.exitCode = 2;
}
