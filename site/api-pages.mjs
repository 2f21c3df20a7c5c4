// The API reference: for each entry of a package its exports, from the declaration files that the build writes.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const packages = join(import.meta.dirname, '..', 'packages');

/** Pages by file name: one for each entry, and an index. */
export function apiPages() {
  const entries = ['core', 'agent'].flatMap(entriesOf);
  const rows = entries.map(
    ({ name, file, exported, text }) => `| [\`${name}\`](${file}) | ${exported.length} | ${firstLine(text)} |`,
  );
  const index = `# API

Every export of the public entries, with its type and its doc comment. [Use Lathe as a library](../library.md) shows how to start.

| entry | exports | |
| --- | ---: | --- |
${rows.join('\n')}
`;
  return new Map([['index.md', index], ...entries.map(({ file, page }) => [file, page])]);
}

function entriesOf(folder) {
  const { name: owner, exports } = JSON.parse(readFileSync(join(packages, folder, 'package.json'), 'utf8'));
  return Object.entries(exports).flatMap(([path, target]) => {
    if (target.types === undefined) return [];
    const name = owner + path.slice(1);
    const source = join(packages, folder, target.types);
    const text = commentOf(/^\/\*\*[^]*?\*\//.exec(read(source))?.[0] ?? '');
    const exported = exportsOf(source).toSorted((a, b) => a.name.localeCompare(b.name, 'en'));
    const file = `${name.slice(1).replaceAll('/', '-')}.md`;
    const page = [`# \`${name}\``, text, ...exported.map(section)].filter(Boolean).join('\n\n');
    return [{ name, file, exported, text, page: `${page}\n` }];
  });
}

function section({ name, comment, code }) {
  return [`## ${name}`, comment, `\`\`\`ts\n${code}\n\`\`\``].filter(Boolean).join('\n\n');
}

/** What an entry exports, found in the files that declare it. */
function exportsOf(source) {
  const text = read(source);
  const listed = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)';/gm)].flatMap(([, names, from]) =>
    namesIn(names).map(({ own, name }) => ({ ...declarationOf(own, join(dirname(source), from)), name })),
  );
  const own = [...text.matchAll(/^export (?:declare )?(?:abstract )?(?:const|function|class|interface|type) (\w+)/gm)];
  return [...listed, ...own.map(([, name]) => ({ ...declarationOf(name, source), name }))];
}

function namesIn(list) {
  return list
    .split(',')
    .map((item) => item.trim().replace(/^type /, ''))
    .filter(Boolean)
    .map((item) => {
      const [own, name = own] = item.split(' as ');
      return { own, name };
    });
}

/** The comment and the text of a declaration, from the file that has it or from where that file takes it. */
function declarationOf(name, path) {
  const source = path.replace(/\.js$/, '.d.ts');
  const text = read(source);
  const start = new RegExp(
    String.raw`^(/\*\*(?:(?!\*/)[^])*\*/\n)?export (?:declare )?((?:abstract )?(const|function|class|interface|type) ${name}\b)`,
    'm',
  );
  const found = start.exec(text);
  if (found) {
    const [whole, comment = '', head, kind] = found;
    const from = found.index + whole.length - head.length;
    return { comment: commentOf(comment), code: text.slice(from, endOf(text, from, /class|interface/.test(kind))) };
  }
  for (const [, names, from] of text.matchAll(/^export (?:type )?\{([^}]*)\} from '(\.[^']+)';/gm)) {
    const listed = namesIn(names).find((each) => each.name === name);
    if (listed) return declarationOf(listed.own, join(dirname(source), from));
  }
  throw new Error(`${name} is not declared in ${source}`);
}

/** Where a declaration ends: behind its last brace, or else at the first semicolon outside of brackets. */
function endOf(text, start, hasBody) {
  let depth = 0;
  for (const { 0: token, index } of text.slice(start).matchAll(/\/\*[^]*?\*\/|'[^'\n]*'|"[^"\n]*"|[{}()[\];]/g)) {
    if ('{(['.includes(token)) depth += 1;
    if ('})]'.includes(token)) depth -= 1;
    if (depth === 0 && (token === ';' || (hasBody && token === '}'))) return start + index + 1;
  }
  return text.length;
}

function commentOf(comment) {
  return comment
    .replace(/^\/\*\*\s?|\s*\*\/\s*$/g, '')
    .replaceAll(/^\s*\* ?/gm, '')
    .trim();
}

function read(path) {
  if (!existsSync(path)) throw new Error(`${path} is missing: run npm run build first`);
  return readFileSync(path, 'utf8');
}

const firstLine = (text) =>
  text
    .split(/(?<=[.:])\s/)[0]
    .replaceAll('\n', ' ')
    .replace(/:$/, '.');
