import type { ProgramOptions } from './program-options.js';
import { chance, pick, type Random } from './random.js';

/** Options in any order, with values that do harm where a value is taken for something else. */
export function optionSoup(random: Random, options: ProgramOptions): string {
  const roll = random();
  if (roll < 0.12) return `awk '${scramble(random, awkTokens, 12)}' a.txt`;
  if (roll < 0.2) return `sed -n '${scramble(random, sedTokens, 8)}' a.txt`;
  if (roll < 0.35) return `find ${scramble(random, findWords, 6, ' ')}${pick(random, findEnds)}`;
  if (roll < 0.42) return `echo "${scramble(random, wordTokens, 8)}"`;
  if (roll < 0.49) return `cat <<${pick(random, ['EOT', '-EOT', "'EOT'"])}\n${scramble(random, wordTokens, 8)}\nEOT\n`;
  const [name, known] = pick(random, [...options]);
  const words = Array.from({ length: 1 + Math.floor(random() * 4) }, () => option(random, known));
  const operands = scramble(random, ['a.txt', 'b.txt', 'src', 'HEAD', 'data.json', '.', 'canary'], 2, ' ');
  return [name, ...words, operands].join(' ');
}

function option(random: Random, known: readonly string[]): string {
  const name = pick(random, known);
  const spelled = chance(random, 0.1) ? name.slice(0, -1 - Math.floor(random() * 3)) : name;
  const value = pick(random, optionValues);
  const joined = name.startsWith('--') ? `${spelled}=${value}` : spelled + value;
  return pick(random, [spelled, spelled, joined, `${spelled} ${value}`, `${spelled}${pick(random, known).slice(1)}`]);
}

function scramble(random: Random, tokens: readonly string[], most: number, between = ''): string {
  return Array.from({ length: 1 + Math.floor(random() * most) }, () => pick(random, tokens)).join(between);
}

const optionValues = [
  ...['1', '2', '-1', '+2', '0', 'a', '%s', "'%H %s'", '.', 'HEAD', 'a.txt', 'src', '-', '--', '/dev/null'],
  ...['canary', './canary', '--output=canary', '-o', '-ocanary', '-O', '-e', "'e touch canary'", "'w canary'"],
  ...['@args.txt', 'linkdir/secret.txt', 'link.txt', '-f', '-delete', '--ext-diff', '--contents=link.txt', 'src,1'],
];
const awkTokens = [
  ...[
    '/',
    '/',
    '[',
    ']',
    '[]',
    '[^]',
    '[[:alpha:]',
    '"',
    '"',
    '\\',
    '\\\n',
    '\n',
    '{',
    '}',
    '(',
    ')',
    '^',
    '#',
    ';',
    ' ',
  ],
  ...['x', '4', '=', '$1', 'print', 'BEGIN', '>', '|', '"canary"', '"touch canary"', 'system("touch canary")'],
  ...['getline', 'getline < "link.txt"', 'print > "canary"', '{print}', '/a/', '4 / 2', '!', '~', '?', ':', ','],
];
const sedTokens = [
  ...[
    'p',
    'd',
    ';',
    '\n',
    '{',
    '}',
    '/',
    's/a/b/',
    'y/a/b/',
    's',
    '|',
    '[',
    ']',
    '[^]',
    '\\',
    '1',
    '$',
    ',',
    '!',
    'n',
    'q',
  ],
  ...[
    'w canary',
    'e touch canary',
    'r link.txt',
    'a text',
    'i\\\n',
    'c\\',
    'b',
    ':x',
    't',
    '#',
    'g',
    'I',
    'w',
    'e',
    ' ',
  ],
];
const findWords = [
  ...[
    '.',
    'src',
    'a.txt',
    'link.txt',
    'linkdir',
    '-type f',
    '-name a.txt',
    "-name '*.txt'",
    '-maxdepth 1',
    '-not',
    '!',
  ],
  ...[
    '-o',
    '-a',
    ',',
    '\\(',
    '\\)',
    '-print',
    '-print0',
    "-printf '%p\\n'",
    "-printf '-e\\0e touch canary\\0'",
    '-L',
    '-H',
  ],
  ...[
    "-printf 'link.txt\\0'",
    '-exec head -1 {} \\;',
    '-exec cat {} +',
    '-exec grep a {} +',
    '-newer a.txt',
    '-ls',
    '-true',
  ],
  ...[
    '-prune',
    '-quit',
    '-size +0',
    '-delete',
    '-fprint canary',
    '-exec touch canary \\;',
    '-follow',
    '-type l',
    '-empty',
  ],
];
const findEnds = [
  ...['', '', ' | wc -l', ' | sort', ' | head -2', ' | xargs cat', ' | xargs -0 cat', ' | xargs -0 head -1'],
  ...[' -print0 | xargs -0 sed -n p', ' -print0 | xargs -0 sort', ' -type f -print0 | xargs -0 cat'],
];
const wordTokens = [
  ...[
    "'",
    "'",
    '"',
    "$'",
    '$"',
    '`',
    '\\',
    '\n',
    ' ',
    'a',
    '}',
    '}',
    '${x:-',
    '${x+',
    '${PWD:+',
    '${x#',
    '${x/a/',
    '${#x}',
  ],
  ...[
    '$(touch canary)',
    '`touch canary`',
    '$(',
    ')',
    '$((',
    '))',
    '${x@P}',
    '${x[',
    ']',
    '$[',
    '<(touch canary)',
    '#',
    '!',
    '$x',
  ],
];
