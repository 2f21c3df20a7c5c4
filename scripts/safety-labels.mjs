// Labels such as SB04 in the titles of tests or in comments above them: the letters name a kind of attack or fault.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, source } from './page.mjs';

const label = /\b[RS][A-Z]\d\d\b/g;
/** A title is the string right behind a parenthesis that neither a string nor a list follows. */
const title = /\(\s*(['"`])((?:\\.|(?!\1)[^\\\n])+)\1\s*,(?!\s*['"`[])/;
const opening = /^ *(?:test|describe)\b/gm;

/** Every test that carries a label, as `{ label, title, path }`, sorted. */
export function labelledTests() {
  const found = testFiles().flatMap((path) => labelsIn(source(path)).map((one) => ({ ...one, path })));
  const unique = new Map(found.map((one) => [`${one.label} ${one.path} ${one.title}`, one]));
  return [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

function testFiles() {
  return readdirSync(join(root, 'packages')).flatMap((pack) =>
    readdirSync(join(root, 'packages', pack, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.test\.tsx?$/.test(name))
      .map((name) => `packages/${pack}/src/${name}`),
  );
}

function labelsIn(text) {
  const starts = [...text.matchAll(opening)].map(({ index }) => index);
  return [...text.matchAll(label)].flatMap(({ 0: found, index }) => {
    const line = text.slice(text.lastIndexOf('\n', index) + 1, index);
    // A comment on a line of its own speaks of the test below it, anything else of the one it stands in.
    const isAbove = /^\s*(\/\/|\/?\*)/.test(line);
    const start = isAbove ? starts.find((one) => one > index) : starts.findLast((one) => one <= index);
    const match = start === undefined ? undefined : title.exec(text.slice(start));
    if (!match) return [];
    return [{ label: found, title: match[2].replace(/\\(.)/g, '$1').replace(/^(?:[RS][A-Z]\d\d[,:]? *)+/, '') }];
  });
}
