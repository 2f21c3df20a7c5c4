// Writes docs/builds.md: which builds ran inside the sandbox. Called by `npm run test:long -- --only builds --record`.
import { table, writePage } from './page.mjs';

export function writeBuildsPage(outcomes) {
  const passed = outcomes.filter(({ outcome }) => outcome === 'passes').length;
  const cell = (text) => `\`${text.replaceAll('|', '\\|')}\``;
  const rows = outcomes.map(({ name, command, needs, outcome }) => [name, cell(command), needs, outcome]);
  writePage(
    'builds.md',
    `# Builds inside the sandbox

Small projects that are built or tested offline in the sandbox, with the home directory as commands see it: see
[running-commands.md](running-commands.md#the-home-directory). ${passed} of ${outcomes.length} pass; the others are skipped by name because a
program is missing on the machine of the last run. "Read" is a place of the person, "own" one that the session has for itself.

${table(['Build', 'Command', 'Needs of the home directory', 'Last run'], rows)}
`,
    { command: 'npm run test:long -- --only builds --record' },
  );
}
