import { optionSoup } from './option-soup.js';
import type { ProgramOptions } from './program-options.js';
import { chance, pick, type Random } from './random.js';
import { scriptSoup } from './script-soup.js';

/** The files commands are generated for: some with names that try to be flags, patterns or commands. */
export const scratchFiles: Record<string, string> = {
  'a.txt': 'alpha\nbeta\ngamma 3 > 2\n',
  'b.txt': 'beta\ndelta\n',
  'src/index.ts': 'export const a = 1;\n',
  'src/other.ts': 'import { a } from "./index";\n',
  'my file.txt': 'spaces\n',
  'data.json': '{"a":[1,2],"b":"touch canary"}\n',
  '-exec': 'flag\n',
  '-delete': 'flag\n',
  '-fprintcanary': 'flag\n',
  '-v': 'flag\n',
  '--output=canary': 'flag\n',
  '-o': 'flag\n',
  '-f': 'flag\n',
  '$(touch canary)': 'name\n',
  'x;touch canary': 'name\n',
  '[ab].txt': 'name\n',
  touch: 'not the program\n',
  'x[/f': 'name\n',
  'args.txt': '-n 4 linkdir/secret.txt --output=canary\n',
};

/** One random command: mostly of harmless parts, often with something in it that would leave a file named canary. */
export function generateCommand(random: Random, options?: ProgramOptions): string {
  if (chance(random, 0.1)) return scriptSoup(random);
  const command = options && chance(random, 0.4) ? optionSoup(random, options) : list(random, 2);
  return random() < 0.35 ? mutate(command, random) : command;
}

/** Words for a program that prints its arguments: quotes, escapes, braces, expansions. */
export function generateWords(random: Random): string {
  return Array.from({ length: 1 + Math.floor(random() * 4) }, () => word(random, 1, true)).join(
    random() < 0.1 ? '\\\n ' : ' ',
  );
}

function list(random: Random, depth: number): string {
  const count = pick(random, [1, 1, 1, 2, 2, 3]);
  const parts = Array.from({ length: count }, () => pipeline(random, depth));
  return parts.reduce(
    (left, right) => left + pick(random, ['; ', ' && ', ' || ', '\n', ';', '&&', ' # note\n', ' \\\n&& ']) + right,
  );
}

function pipeline(random: Random, depth: number): string {
  const parts = Array.from({ length: pick(random, [1, 1, 1, 2, 2, 3]) }, () => compound(random, depth));
  return pick(random, ['', '', '', '', '', '! ', 'time ']) + parts.join(pick(random, [' | ', '|', ' |& ', ' |\n']));
}

function compound(random: Random, depth: number): string {
  if (depth === 0 || chance(random, 0.7)) return simple(random, depth);
  const inner = () => list(random, depth - 1);
  return pick(random, [
    () => `(${inner()})`,
    () => `{ ${inner()}; }`,
    () => `if ${inner()}; then ${inner()}; fi`,
    () => `if ${inner()}; then ${inner()}; else ${inner()}; fi`,
    () =>
      `for f in ${word(random, 0)} ${word(random, 0)}; do ${pick(random, ['cat "$f"', 'echo $f', 'ls -d "$f"', 'head -1 $f', inner()])}; done`,
    () => `while false; do ${inner()}; done`,
    () => `case ${word(random, 0)} in a*) ${inner()};; *) ${inner()};; esac`,
    () => `[[ -f ${word(random, 0)} ]]`,
    () => `[ ${pick(random, ['-f', '-n', '-z', '-d', '*', '-n *'])} ${word(random, 0)} ]`,
    () => `cat <<${pick(random, ['EOT', "'EOT'", '"EOT"', '-EOT'])}\n${word(random, depth)} text\nEOT\n`,
    () => `cat <<< ${word(random, depth)}`,
    () => `diff <(${inner()}) <(${inner()})`,
    () => `x=${word(random, depth)}; echo "$x"`,
    () => `y='a[$(touch canary)]'; ${inner()}`,
    () => `f() { ${inner()}; }; f`,
    () =>
      `cd ${pick(random, ['src', '..', '.', 'src/..', 'linkdir', 'linkdir/..', '~', '-', '"src"', '$x'])} && ${inner()}`,
  ])();
}

function simple(random: Random, depth: number): string {
  const words = chance(random, 0.12) ? pick(random, hostile) : call(random, depth);
  const redirection = chance(random, 0.2) ? ` ${pick(random, redirections)}` : '';
  const prefix = chance(random, 0.06) ? `${pick(random, prefixes)} ` : '';
  return prefix + words + redirection;
}

const redirections = [
  '2>/dev/null',
  '>/dev/null',
  '2>&1',
  '< a.txt',
  '&>/dev/null',
  '>canary',
  '>> canary',
  '>|canary',
  '2>canary',
  '>&2',
  '<&-',
  '<> canary',
  '< /dev/null',
  '< src',
  '3< linkdir',
  '3< .',
];
const prefixes = [
  'LC_ALL=C',
  'PATH=.',
  'PATH=',
  'PATH={,}',
  'POSIXLY_CORRECT=',
  'GIT_CONFIG_COUNT=',
  'LC_ALL=',
  'x=1',
  'command',
  'timeout 5',
  'nice',
  'nice -n 5',
  'env',
  'env -i',
  'builtin',
  'exec',
  'nohup',
  'stdbuf -oL',
  'NO_COLOR=1',
  'A=$(touch canary)',
];
const hostile = [
  'touch canary',
  'touch "canary"',
  'tou""ch canary',
  "$'touch' canary",
  '/usr/bin/touch canary',
  '\\touch canary',
  './touch',
  '$(echo touch) canary',
  'sh -c "touch canary"',
  'eval "touch canary"',
  'sort -o canary a.txt',
  'find . -exec touch canary \\;',
  "sed -n 'w canary' a.txt",
  'awk \'{print > "canary"}\' a.txt',
  'git branch canary',
  'tee canary',
  'xargs touch < b.txt',
  'awk \'BEGIN{system("touch canary")}\'',
  'git diff --output=canary',
  'printf -v x canary',
  'uniq a.txt canary',
  'env touch canary',
  'cp a.txt canary',
  '. ./a.txt',
  'sort *',
  'find *',
  'grep -r beta *',
  'git log *',
  'find . -fprint canary',
  "sed 's/a/touch canary/e' a.txt",
  'alias ls=touch',
  'trap "touch canary" EXIT',
  'export PATH=.',
  "find . -name 'a*' -delete",
];

const programs: readonly (readonly [name: string, flags: readonly string[], operands: number])[] = [
  ['cat', ['-n', '-A', '--number', '-'], 2],
  ['ls', ['-la', '-1', '-R', '-d', '--color=never', '--'], 2],
  ['head', ['-n 2', '-n l*', '-2', '-c 5', '--lines=1'], 1],
  ['tail', ['-n 2', '-1', '-n +2'], 1],
  ['wc', ['-l', '-c', '-lw', '--files0-from=a.txt'], 2],
  [
    'grep',
    ['-n beta', '-r beta', '-e a -e b', '-c a', '-rl a --include=*.ts', '-f a.txt', 'a', 'l*', '-e l*', '-m l* a'],
    2,
  ],
  ['sort', ['-u', '-r', '-k2', '-k *', '-t l*', '-k -*', '-o canary', '--output=canary', '-t:', '-S 1M'], 1],
  ['uniq', ['-c', '-d', 'src/*.ts', '-f l*'], 1],
  ['cut', ['-d: -f1', '-d l* -f1', '-c1-3'], 1],
  [
    'sed',
    [
      "-n '1p'",
      "'s/a/b/g'",
      "-e 's/a/b/' -e p",
      '-i s/a/b/',
      "'$!d'",
      "-n '/a/,/b/p'",
      "'s|a|b|w canary'",
      "'y/abc/xyz/'",
      "'/x/{p;d}'",
      "'1e touch canary'",
      "-n 't\ne touch canary'",
      "':\nwcanary'",
      "'b\nwcanary'",
    ],
    1,
  ],
  [
    'awk',
    [
      "'{print $1}'",
      "-F: '{print $1}'",
      "'NR>1'",
      "'/a|b/'",
      "'$3 > 1 {print}'",
      '\'{print > "canary"}\'',
      "'END{print NR}'",
      "'{x = 4 / 2; print x}'",
      "'!s[$0]++'",
      '-F"$x" 1 \'BEGIN{system("touch canary")}\'',
      '-v"$x" 1 \'BEGIN{system("touch canary")}\'',
      '-F"$x", \'{print $1}\'',
    ],
    1,
  ],
  [
    'find',
    [
      '. -name "*.ts"',
      'src -type f',
      '. -maxdepth 1',
      '. -type f -exec cat {} +',
      '. -type f -exec grep -l a {} \\;',
      '. -print0',
      '. -name *.txt',
      '. -delete',
      '. -name -*',
      '. -newer -*',
      '. -name l*',
      'l* -name a',
      '. -exec touch canary \\;',
      '. \\( -name a -o -name b \\)',
    ],
    0,
  ],
  [
    'git',
    [
      'status',
      'log --oneline',
      'diff',
      'branch',
      'show --stat',
      'ls-files',
      'rev-parse HEAD',
      'branch x',
      'tag',
      'log -p --output=canary',
      '--no-pager log -1',
      '-C src log',
      'grep a',
      'config user.name',
      'config user.name --global',
      'config a.b --type=c',
      'config a.b --merged',
      'config user.name --no-contains',
      'symbolic-ref refs/heads/x -- --merged',
      'branch --merged',
      'tag --contains',
      'log -1 --format=%-GS',
      "log -1 '--format=% G?'",
      '-C /dev/fd/3 status',
      '-C /dev/stdin log -1',
      'grep --untracked s -- :/',
      'rev-parse --show-superproject-working-tree',
      'stash list',
      'remote -v',
      'blame a.txt',
      '-c a.b=c log',
      '-C s* log',
      'log --format *',
      'log -S -*',
      'diff l*',
      'symbolic-ref m*',
    ],
    0,
  ],
  ['diff', ['-u', '-q', '-r'], 2],
  ['echo', ['-n', '-e', '--'], 3],
  ['printf', ["'%s\\n'", '"%d"', "'%q '", "'%n'", '-v x'], 2],
  ['basename', ['-a', '-s .txt'], 1],
  ['dirname', [], 1],
  ['stat', ['-c %s', '-L'], 1],
  ['du', ['-s', '-sh', '-a'], 1],
  ['tr', ['a-z A-Z', '-d a', '-s a'], 0],
  ['jq', ['.', '-r .b', "'.a | length'", '-c .'], 1],
  ['test', ['-f', '-n', '-e', '-v', '-n *', '-f l*'], 1],
  ['date', ['+%Y', '-u', '-d now', '-s x'], 0],
  ['xargs', ['-0', 'echo', 'cat', '-n1 echo', '-0 cat'], 0],
  ['realpath', ['-m', '-e'], 1],
  ['md5sum', ['-b', '-c'], 1],
  ['nl', ['-ba'], 1],
  ['xxd', ['-p', '-c 4', '-l 8'], 2],
  ['od', ['-c', '-An -tx1'], 1],
  ['comm', ['-12'], 2],
  ['paste', ['-sd,'], 1],
  ['fold', ['-w 3'], 1],
  ['column', ['-t'], 1],
  ['seq', ['3', '1 2'], 0],
  ['true', [], 0],
  ['pwd', [], 0],
  ['id', ['-u'], 0],
  ['uname', ['-a'], 0],
  ['whoami', [], 0],
  ['nproc', [], 0],
  ['type', ['ls', '-a cat'], 0],
  ['which', ['ls'], 0],
  ['egrep', ["'a|b'"], 1],
  ['tac', [], 1],
  ['rev', [], 1],
  ['cmp', ['-s'], 2],
  ['file', ['-b'], 1],
  ['env', [], 0],
];

function call(random: Random, depth: number): string {
  const [name, flags, operands] = pick(random, programs);
  const chosen = flags.length > 0 && chance(random, 0.75) ? [pick(random, flags)] : [];
  const words = Array.from({ length: Math.floor(random() * (operands + 1)) }, () => word(random, depth));
  const spelled = chance(random, 0.05)
    ? pick(random, [`"${name}"`, `'${name}'`, `\\${name}`, `/usr/bin/${name}`, `${name.slice(0, 1)}""${name.slice(1)}`])
    : name;
  const rest = chance(random, 0.15) ? [...words, ...chosen] : [...chosen, ...words];
  return [spelled, ...rest].join(pick(random, [' ', ' ', ' ', '  ', '\t', ' \\\n']));
}

function word(random: Random, depth: number, isAny = false): string {
  const plain = () =>
    pick(random, [
      'a.txt',
      'b.txt',
      'src',
      'src/index.ts',
      './a.txt',
      'src/',
      'data.json',
      'link.txt',
      'linkdir',
      '/dev/stdin',
      '/dev/fd/3',
      '"/dev/fd/$x"',
      'missing',
      'a',
      '.',
    ]);
  const quoted = () =>
    pick(random, [
      '"a.txt"',
      "'a.txt'",
      '"my file.txt"',
      "'my file.txt'",
      'my\\ file.txt',
      '"a".txt',
      "$'a.txt'",
      "$'\\x61.txt'",
      "$'\\164\\x7e'",
      "$'a\\000b'",
      "$'\\u00e9'",
      "$'a\\'b'",
      '"$HOME"',
      "'$(touch canary)'",
      '\\$HOME',
      '""',
      "''",
      '"a\\"b"',
      "'a\"b'",
      '"\\$x"',
      '"a`b"'.replace('`', '\\`'),
      '"a\\\nb"',
      "$'a\\tb'",
      "'a\\b'",
      '"a\\b"',
      '\\a',
      'a\\\nb',
    ]);
  const expanding = () =>
    pick(random, [
      '*.txt',
      'l*',
      '*/secret.txt',
      'linkdir/../src',
      'linkdir/*',
      '~/secret.txt',
      '"$HOME"/secret.txt',
      '../*',
      'x[/f',
      'x[/../linkdir/secret.txt',
      '[a/f]',
      './*.txt',
      'src/*.ts',
      '?.txt',
      '[ab].txt',
      '{a,b}.txt',
      'src/{index,other}.ts',
      '{a..c}',
      '{a,}',
      'a{,b}',
      '{,}',
      '{a}',
      '{}',
      '{a,b}{c,d}',
      '~',
      '~/x',
      'x~',
      'a=~',
      'a:~/x',
      '"~"',
      '\\~',
      '$x',
      '"$x"',
      '${x}',
      '"${x:-a.txt}"',
      '${x:=b}',
      '${#x}',
      '"${x:-$((y))}"',
      '${x%%$[y]}',
      '${x:-${z[y]}}',
      '"${x:-${y@P}}"',
      '${x//a/b}',
      '$PWD',
      '"$PWD"',
      '$((1+2))',
      '$((x))',
      '$?',
      '$#',
      '$@',
      '"$@"',
      '$0',
      '-',
      '--',
      '-n',
      '#a',
      'a#b',
      '!',
      'a!b',
      '%',
      '^a',
      '@',
      'HEAD@{1}',
      'a,b',
      '{a,"b"}',
      "{a,'b c'}",
      '{$x,b}',
      '\\{a,b}',
      '{a\\,b}',
      'a{b,c',
      '{1..3}',
      '[',
      ']',
      '[a',
      'a]',
      '!(a)',
      '=',
      'a=b',
      'a=*',
      '2>/dev/null',
      '$',
      'a$',
      '"a$"',
      '$"a"',
      '\\*',
      '"*"',
    ]);
  const running = () =>
    pick(random, [
      `$(${list(random, Math.max(0, depth - 1))})`,
      `"$(${list(random, Math.max(0, depth - 1))})"`,
      '`ls`',
      '$(touch canary)',
      '"`touch canary`"',
      '<(ls)',
      '"${x:-$(touch canary)}"',
      '$(cat a.txt)',
      '$(<a.txt)',
      '${x:-`touch canary`}',
      '$(( $(touch canary) ))',
      'a$(echo b)c',
    ]);
  const roll = random();
  if (roll < (isAny ? 0.1 : 0.5)) return plain();
  if (roll < (isAny ? 0.5 : 0.72)) return chance(random, 0.2) ? quoted() + quoted() : quoted();
  if (roll < 0.93 || depth === 0) return expanding();
  return running();
}

const snippets = [
  ';',
  '|',
  '&',
  '&&',
  '||',
  '<',
  '>',
  '(',
  ')',
  '{',
  '}',
  '$',
  '`',
  '"',
  "'",
  '\\',
  '\n',
  '*',
  '?',
  '[',
  ']',
  '~',
  '#',
  '!',
  '=',
  ' ',
  '\t',
  ',',
  '-',
  '\r',
  '$(',
  '${',
  '<(',
  '<<',
  ' ;touch canary',
  '\ntouch canary\n',
  '$(touch canary)',
  '`touch canary`',
  ' >canary ',
  '|tee canary',
  ' -o canary ',
  '((',
  '))',
  '[[',
  ']]',
  ';;',
  '&>',
  '>&',
  "$'",
  '$"',
  '\\\n',
  '<<<',
  '|&',
  'EOT',
  '--',
  '\u00a0',
  '\v',
  '\f',
];

function mutate(command: string, random: Random): string {
  let result = command;
  for (let count = pick(random, [1, 1, 1, 2, 3]); count > 0; count--) {
    const at = Math.floor(random() * (result.length + 1));
    const end = Math.min(result.length, at + pick(random, [0, 0, 0, 1, 1, 3]));
    result = result.slice(0, at) + (chance(random, 0.75) ? pick(random, snippets) : '') + result.slice(end);
  }
  return result;
}
