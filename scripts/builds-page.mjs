// Writes docs/builds.md: which builds ran inside the sandbox. Called by `npm run test:long -- --only builds --record`.
import { table, writePage } from './page.mjs';

export function writeBuildsPage(outcomes) {
  const passed = outcomes.filter(({ outcome }) => outcome === 'passes').length;
  const cell = (text) => `\`${text.replaceAll('|', '\\|')}\``;
  const rows = outcomes.map(({ name, command, needs, outcome }) => [name, cell(command), needs, outcome]);
  writePage(
    'builds.md',
    `# Builds inside the sandbox

Use this page to see which builds work offline in the sandbox. Each row is a small project that is built or tested there, with the
[home directory that commands see](running-commands.md#the-home-directory). ${passed} of ${outcomes.length} pass. The others were skipped, because a
program is missing on the machine of the last run. "Read" is a place in your home directory, "own" is a place that belongs to the session.

${table(['Build', 'Command', 'Needs of the home directory', 'Last run'], rows)}
`,
    { command: 'npm run test:long -- --only builds --record' },
  );
}
