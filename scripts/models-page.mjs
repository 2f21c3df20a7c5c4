// Writes the table of docs/models.md that says which models take which effort, from the table in the sources. Needs a build;
// `npm run format` aligns the columns.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from './page.mjs';

const page = join(import.meta.dirname, '..', 'docs', 'models.md');
const between = /(<!-- efforts -->\n).*?(<!-- \/efforts -->)/s;

/** The rows of a wire follow each other, so that the first one that fits is easy to find. */
export function withEfforts(text, effortTable) {
  const rows = effortTable.map(({ wire, provider, family, levels, way }) => [
    `\`${wire}\``,
    provider ?? 'any',
    family,
    levels.length === 0 ? 'none of them' : levels.join(', '),
    way === 'omitted' ? '–' : (written[way] ?? way),
  ]);
  const content = table(['Wire', 'Provider', 'Models', 'Levels', 'Sent as'], rows);
  return text.replace(between, (_, start, end) => `${start}\n${content}\n\n${end}`);
}

const written = {
  responses: '`reasoning.effort`',
  reasoning_effort: '`reasoning_effort`',
  reasoning: '`reasoning.effort`',
  enable_thinking: '`enable_thinking`, `thinking_budget`',
  thinking_type: '`thinking.type`, `reasoning_effort`',
  adaptive: '`thinking`, `output_config.effort`',
  budget_tokens: '`thinking.budget_tokens`',
  thinkingLevel: '`thinkingConfig.thinkingLevel`',
  thinkingBudget: '`thinkingConfig.thinkingBudget`',
};

if (process.argv[1] === import.meta.filename) {
  const { effortTable } = await import('../packages/agent/dist/models/wire/effort.js');
  writeFileSync(page, withEfforts(readFileSync(page, 'utf8'), effortTable));
}
