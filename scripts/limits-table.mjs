// Writes docs/limits.md: the settings that limit something, and the fixed limits with their values, read from the sources.
import { source, table, writePage } from './page.mjs';

/** Fixed limits: where each is (below packages/core/src), its name there, and what it limits. */
const fixed = {
  'Files and search': [
    ['files/file-content.ts', 'maxEditBytes', 'Bytes of a file that can be edited'],
    ['files/media.ts', 'maxMediaBytes', 'Bytes of an image, sound or PDF that is handed to a model'],
    ['files/media.ts', 'maxPixels', 'Pixels of an image'],
    ['files/pdf-text.ts', 'maxPages', 'Pages of a PDF read at once'],
    ['files/pdf-text.ts', 'timeoutMs', 'Milliseconds for the text of a PDF'],
    ['files/rg-output.ts', 'maxColumns', 'Characters shown of a line that matches'],
    ['files/seen-files.ts', 'maxFiles', 'Files remembered as seen'],
    ['files/workspace.ts', 'maxLinks', 'Links followed in a path'],
    ['text/glob.ts', 'maxAlternatives', 'Alternatives that a glob may expand to'],
    ['text/memory-section.ts', 'maxFactChars', 'Characters of a remembered fact'],
  ],
  Commands: [
    ['process/analyze-command.ts', 'maxLength', 'Characters of a command that is understood; a longer one asks'],
    ['process/analyze-command.ts', 'maxSegments', 'Parts of a command that are understood; more ask'],
    ['process/captured-output.ts', 'headBytes', 'Bytes kept of the beginning of an output'],
    ['process/captured-output.ts', 'tailBytes', 'Bytes kept of its end'],
    ['process/run-command.ts', 'maxSpillBytes', 'Bytes of one output kept in a file'],
    ['process/run-command.ts', 'maxSpilledBytes', 'Bytes of all outputs kept in files'],
    ['process/background.ts', 'maxRunning', 'Background commands at once'],
    ['process/process-tree.ts', 'killMs', 'Milliseconds until the last process of a command must be gone'],
  ],
  Web: [
    ['web/guarded-http.ts', 'maxRedirects', 'Redirects on the same host'],
    ['web/decode-body.ts', 'maxCodings', 'Compressions of one body'],
    ['web/url-check.ts', 'maxLength', 'Characters of an address'],
    ['web/page-cache.ts', 'maxPages', 'Pages kept'],
    ['web/page-cache.ts', 'maxAgeMs', 'Milliseconds a page is kept'],
    ['web/read-page.ts', 'maxConversionMs', 'Milliseconds to turn a page into text'],
  ],
  'Tools from elsewhere': [
    ['discovery/discovery-source.ts', 'timeoutMs', 'Milliseconds for the discovery command'],
    ['discovery/discovery-source.ts', 'maxBytes', 'Bytes of its output'],
    ['discovery/read-declarations.ts', 'maxTools', 'Tools it may declare'],
    ['text/schema-check.ts', 'maxDepth', 'Depth of the schema of a tool'],
    ['text/schema-check.ts', 'maxNodes', 'Parts of the schema of a tool'],
    ['text/clean-definition.ts', 'maxDescription', 'Characters of the description of a tool'],
  ],
  'Calls and agents': [
    ['scheduler/scheduler.ts', 'maxParallel', 'Calls that only read at once'],
    ['text/parse-arguments.ts', 'maxChars', 'Characters of the arguments of a call'],
    ['text/value-bounds.ts', 'maxDepth', 'Depth of the arguments of a call'],
    ['text/value-bounds.ts', 'maxValues', 'Values in the arguments of a call'],
    ['agent/context-reader.ts', 'maxFileBytes', 'Bytes of a context file'],
    ['agent/context-reader.ts', 'maxTotalCharacters', 'Characters of all context files'],
    ['agent/context-reader.ts', 'maxDepth', 'Depth of imports in context files'],
    ['agent/subagent-files.ts', 'maxSubagents', 'Kinds of subagent'],
    ['agent/hook-command.ts', 'maxOutputBytes', 'Bytes of the output of a hook'],
    ['policy/rule.ts', 'maxLength', 'Characters of a permission rule'],
  ],
};

const sections = Object.entries(fixed).map(
  ([title, rows]) => `### ${title}\n\n${table(['Limit', 'Value', 'In'], rows.map(fixedRow))}`,
);

writePage(
  'limits.md',
  `# Limits

Everything has one. Made by \`node scripts/limits-table.mjs\` from the sources.

## Settings

Each can be set: see [settings.md](settings.md).

${table(['Setting', 'Default', 'Limits'], settingRows())}

## Fixed

${sections.join('\n\n')}
`,
  { command: 'node scripts/limits-table.mjs' },
);

function settingRows() {
  const pattern = /'([\w.]+)': setting\(\s*integer\([^)]*\),\s*([^,]+),\s*'([^']+)'/g;
  return [...source('packages/core/src/settings/keys.ts').matchAll(pattern)].map(([, key, value, text]) => [
    `\`${key}\``,
    value === 'undefined' ? '–' : number(value),
    text,
  ]);
}

function fixedRow([file, name, text]) {
  const value = new RegExp(`const ${name} = ([^;]+);`).exec(source(`packages/core/src/${file}`))?.[1];
  if (value === undefined) throw new Error(`${file} has no ${name}`);
  return [text, number(value), `[${file}](../packages/core/src/${file})`];
}

/** A product or shift of numbers, as such limits are written. */
function number(expression) {
  const parts = expression.replaceAll('_', '').split(/(\*|<<)/);
  const value = parts.reduce((total, part, index) => {
    if (index === 0) return Number(part);
    if (index % 2 === 1) return total;
    return parts[index - 1] === '*' ? total * Number(part) : total * 2 ** Number(part);
  }, 0);
  if (Number.isNaN(value)) throw new Error(`${expression} is no number`);
  return value.toLocaleString('en');
}
