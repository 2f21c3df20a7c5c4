import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLathe } from '@lathe/core';
import { transformSync } from 'rolldown/utils';
import { expect, onTestFinished, test } from 'vitest';
import { parseInvocation } from '../packages/cli/src/command-line/args.js';
import { commandNames } from '../packages/cli/src/command-line/command-names.js';
import { tempDirectory } from '../testing/temp-directory.js';

const root = join(import.meta.dirname, '..');
const entryFile = (name: string) =>
  name
    .replace(/^@lathe\/core\/(\w+)$/, 'packages/core/src/entry-$1.ts')
    .replace(/^@lathe\/agent\/(\w+)$/, 'packages/agent/src/$1/index.ts')
    .replace(/^@lathe\/(\w+)$/, 'packages/$1/src/index.ts');

/** Every block of code in the pages, with the page it is on. */
const samples = execFileSync('git', ['ls-files', 'README.md', 'docs/*.md', 'examples/*.md', 'packages/*.md'], {
  cwd: root,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^```(\w*)\n([^]*?)^```/gm)].map(
      ([, language = '', text = '']) => ({ page, language, text }),
    ),
  );
const inLanguage = (...languages: string[]) => samples.filter(({ language }) => languages.includes(language));

test('every sample of settings is valid', async () => {
  const [cwd, home, latheHome] = [tempDirectory(), tempDirectory(), tempDirectory()];
  const isSettings = (text: string) =>
    /^(?:\/\/.*\n)?\{\s*"(?:model|permissions|tools|mcp\w*|hooks|web\w*|retention|telemetry|context|agents|languages|ui|general)"/.test(
      text,
    );
  const problems: string[] = [];
  const checked = inLanguage('json', 'jsonc').filter(({ text }) => isSettings(text));
  for (const { page, text } of checked) {
    mkdirSync(latheHome, { recursive: true });
    writeFileSync(join(latheHome, 'settings.json'), text, { mode: 0o600 });
    const lathe = await createLathe({ cwd, env: {}, home, latheHome });
    problems.push(...lathe.problems.map((problem) => `${page}: ${JSON.stringify(problem)}`));
    await lathe.close();
  }
  expect(problems).toEqual([]);
  expect(checked.length).toBeGreaterThan(15);
});

test('every command line of the samples names a command and parameters that exist', async () => {
  const lathe = await createLathe({ cwd: tempDirectory(), env: {}, home: tempDirectory() });
  onTestFinished(() => lathe.close());
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const lines = inLanguage('sh', '').flatMap(({ page, text }) =>
    text.split('\n').map((line) => ({ page, line: line.replace(/ #.*/, '').trim() })),
  );
  const wrong = lines.filter(({ line }) => {
    const [, script] = /^(?:sudo )?npm run (?:-s )?([\w:-]+)/.exec(line) ?? [];
    if (script !== undefined) return !(script in scripts);
    const [, file] = /^node ((?:scripts|site|bench)\/\S+\.mjs)/.exec(line) ?? [];
    if (file !== undefined) return !existsSync(join(root, file));
    if (isWrongUsage(line)) return true;
    const [, tool = '', params] = /\blathe call (\w+) '(\{.*\})'/.exec(line) ?? [];
    const known = lathe.tools.getTool(tool);
    return params !== undefined && known !== undefined && !hasParameters(known.parameterSchema, JSON.parse(params));
  });
  expect(wrong).toEqual([]);
});

test('every sample in TypeScript and JavaScript has correct syntax and imports names that exist', () => {
  const wrong = inLanguage('ts', 'js').flatMap(({ page, text }) => {
    const imports = [...text.matchAll(/^import \{([^}]*)\} from '(@lathe\/[^']+)'/gm)];
    // A method or an excerpt is correct inside a class or a function.
    const [header = ''] = /^(?:import .*\n|\/\/.*\n|\n)*/.exec(text) ?? [];
    const body = text.slice(header.length);
    const forms = [text, `${header}async function sample() {\n${body}}`, `${header}class Sample {\n${body}}`];
    const names = imports.flatMap(([, list = '', from = '']) => {
      const exported = readFileSync(join(root, entryFile(from)), 'utf8');
      return list
        .split(',')
        .map((name) => name.trim().replace(/^type /, ''))
        .filter((name) => name !== '' && !new RegExp(`\\b${name}\\b`).test(exported))
        .map((name) => `${page}: ${from} has no ${name}`);
    });
    return forms.some(isCorrect) ? names : [...names, `${page}: ${text}`];
  });
  expect(wrong).toEqual([]);
});

/** Whether `lathe` would exit with "wrong usage" at once. Commands check flags of their own later. */
function isWrongUsage(line: string): boolean {
  const [, typed] = /(?:^|[|;&] )lathe ([^|;&>]*)/.exec(line.replaceAll(/'[^']*'|"[^"]*"/g, 'x')) ?? [];
  if (typed === undefined) return false;
  const words = typed.split(/\s+/).filter((word) => word !== '');
  try {
    const { command, operands } = parseInvocation(words, new Set(commandNames));
    // A prompt is quoted, so any other word is a command that does not exist.
    return command === undefined && operands.some((word) => word !== 'x');
  } catch {
    return true;
  }
}

function isCorrect(text: string): boolean {
  return transformSync('sample.ts', text).errors.length === 0;
}

function hasParameters(schema: { properties?: object; required?: readonly string[] }, params: object): boolean {
  const known = Object.keys(schema.properties ?? {});
  return (
    Object.keys(params).every((name) => known.includes(name)) && (schema.required ?? []).every((name) => name in params)
  );
}
