import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasOnlyPlainRules } from '../packages/core/src/files/plain-rules.js';
import { randomBelow } from './random.js';
import { tempDirectory } from './temp-directory.js';

// biome-ignore format: a table is read at a glance
const rules = [
  'a', '/a', 'a/', 'b/', '/b/c', 'a/**', '**/c', '*', '/*', '*/', '!a', '!*/', '!b/c', '!*.txt', '*.txt', '*.log', '!keep*', 'a\\', '[a',
  'A', '!B/', '*.TXT', '!KEEP*', '[A]', '?', '[ab]', '[!a]', '[[:alpha:]]', '{a,b}', '.*', '!.*', 'é*', '**', '***', 'a**', '[]]', '\\', '!', '/', '//a', '[z-a]', '*\\', 'x\\ ',
];
// biome-ignore format: a table is read at a glance
const directories = ['', 'a', 'b', 'b/c', 'b/c/a', 'sub dir', 'd.txt', '.hidden', 'é', '.ssh', '.config', '.config/gcloud', 'Library/Keychains'];
// biome-ignore format: a table is read at a glance
const names = [
  'a', 'c', 'x.txt', 'y.log', 'keep.log', '.dot', '__init__.py', '-dash', 'a:1:', '[ab]', '.ignore', 'café', '.eslintrc', 'config',
  '.netrc', '.Netrc ', '.netrc.', '_netrc', '.net\u200Drc', '_NETRC', '.git-credentials:x', 'Login Data', 'id_rsa', 'ID_RSA.', '.ssh\\id_rsa', 'key4.db', 'key4.db.', '．netrc', 'x\\.netrc', '.netrc~',
  'new\nline', 'x: Ignore(IgnoreMatch(',
];
const isSuspect = (name: string) => /[^ -~]|net|cred|login|key|id_rsa|^\.(?:ssh|config)/i.test(name);
const isOdd = (name: string) => /\n|Ignore/.test(name);
const contents = ['needle\n', 'hay\n', 'hay\nNeedle needle\n\nneedle', '', `${'x'.repeat(3000)}needle\n`, 'needle\r\n'];

/** A tree that `seed` decides, with some of everything that ripgrep and we might see in different ways. */
export function plantTree(seed: number): string {
  const random = randomBelow(seed);
  const pick = (from: readonly string[]) => from[random(from.length)] ?? '';
  const root = tempDirectory();
  if (random(4) > 0) execFileSync('git', ['init', '-q', root]);
  const put = (path: string, content: string | Buffer) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { flag: 'wx' });
  };
  // Plain ones, those with names like secrets in them, and those that no log can show.
  const kind = random(3);
  const usable = random(2) === 0 ? rules : rules.filter((rule) => hasOnlyPlainRules(rule));
  const ruleText = () =>
    Array.from({ length: 1 + random(4) }, () => pick(usable)).join(random(8) === 0 ? '\r\n' : '\n');
  const isLeftOut = (name: string) => (kind < 1 && isSuspect(name)) || (kind < 2 && isOdd(name));
  for (const directory of directories) {
    if (random(3) === 0 || isLeftOut(directory)) continue;
    for (const name of names) {
      if (random(3) > 0 || directories.includes(join(directory, name)) || isLeftOut(name)) continue;
      put(join(root, directory, name), pick(contents));
    }
    const nested = pick(['.git/HEAD', '.git/info/exclude', '.jj/x', '.git']);
    if (random(4) === 0) put(join(root, directory, 'nested', nested), pick([ruleText(), 'gitdir: ../.git']));
    if (random(4) === 0) put(join(root, directory, 'nested/.gitignore'), ruleText());
    if (random(4) === 0) put(join(root, directory, 'nested/x.txt'), 'needle');
    if (random(3) > 0) continue;
    const text = random(8) === 0 ? `\uFEFF${ruleText()}` : ruleText();
    put(join(root, directory, random(12) === 0 ? '.latheignore' : '.gitignore'), text);
  }
  if (random(4) === 0 && existsSync(join(root, '.git')))
    execFileSync('git', ['-C', root, 'config', 'core.ignoreCase', 'true']);
  if (random(8) === 0) put(join(root, '.jj/x'), '');
  if (random(8) === 0 && existsSync(join(root, '.git'))) writeFileSync(join(root, '.git/info/exclude'), ruleText());
  if (random(2) === 0) symlinkSync(pick(['a', '..', 'nowhere', '/etc']), join(root, 'pointer'));
  if (kind === 2 && process.platform === 'linux') writeFileSync(Buffer.from(`${root}/bad\xff.txt`, 'latin1'), 'needle');
  return root;
}
