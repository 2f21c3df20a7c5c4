import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildProgram, runProgram } from '../../../testing/lathe-program.js';
import { isLong, report, seed } from '../../../testing/long-run.js';
import { randomBelow } from '../../../testing/random.js';
import { tempDirectory } from '../../../testing/temp-directory.js';

beforeAll(buildProgram);

const rule = 'read_file(/secret.txt)';
const secret = 'not-for-the-model';
const text = (value: unknown) => JSON.stringify(value, null, 2);

/** A home and a project with every file that is read at startup, and a secret file that must not be read. */
function world() {
  const root = tempDirectory({
    'project/secret.txt': `${secret}\n`,
    'project/.lathe/settings.json': text({ permissions: { ask: ['write_file'] }, tools: { sandbox: 'auto' } }),
    'project/.env': 'SOME_NAME=some value\nOTHER="quoted"\n',
    'home/.lathe/settings.json': text({
      permissions: { deny: [rule], allow: ['read_file', 'run_shell_command(git status)'] },
      tools: { approvalMode: 'auto-edit', exclude: ['web_search'] },
      mcpServers: { none: { command: 'false' } },
    }),
    'home/.lathe/.env': 'LATHE_SOME=1\n',
    'home/.lathe/audit/calls.jsonl': '{"type":"call"}\n',
  });
  return { home: join(root, 'home'), project: join(root, 'project') };
}

const files = [
  'home/.lathe/settings.json',
  'home/.lathe/settings.json',
  'home/.lathe/.env',
  'home/.lathe/audit/calls.jsonl',
  'project/.lathe/settings.json',
  'project/.env',
];

/** Ways to damage a file. */
const damages: Record<string, (path: string, below: (bound: number) => number) => void> = {
  cut: change((bytes, below) => bytes.subarray(0, below(bytes.length))),
  zeros: change((bytes, below) => bytes.fill(0, below(bytes.length))),
  'another byte': change((bytes, below) => {
    bytes[below(bytes.length)] = below(256);
    return bytes;
  }),
  'a piece lost': change((bytes, below) => {
    const start = below(bytes.length);
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 1 + below(20))]);
  }),
  'a piece twice': change((bytes, below) => {
    const start = below(bytes.length);
    const end = start + 1 + below(40);
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(start)]);
  }),
  'random bytes put in': change((bytes, below) => {
    const start = below(bytes.length);
    const added = Buffer.from(Array.from({ length: 1 + below(30) }, () => below(256)));
    return Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(start)]);
  }),
  'a directory': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  'a link to itself': (path) => {
    rmSync(path);
    symlinkSync(path, path);
  },
};

function change(make: (bytes: Buffer, below: (bound: number) => number) => Buffer) {
  return (path: string, below: (bound: number) => number) => writeFileSync(path, make(readFileSync(path), below));
}

/** True if the damaged file is still valid and allows reading the secret. An empty file counts as missing. */
function isPermitted(home: string): boolean {
  try {
    const written = readFileSync(join(home, '.lathe/settings.json'), 'utf8');
    const { permissions } = written.trim() === '' ? {} : JSON.parse(written);
    return !permissions?.deny?.includes(rule);
  } catch {
    return false;
  }
}

// RC05 RP07
test('with damaged files the program does not crash, and deny rules still apply', {
  timeout: 1_200_000,
}, async () => {
  const starts = isLong ? 1000 : 16;
  const below = randomBelow(seed);
  const bad: unknown[] = [];
  const one = async () => {
    const { home, project } = world();
    const file = files[below(files.length)] ?? '';
    const [how, damage] = Object.entries(damages)[below(Object.keys(damages).length)] ?? [];
    const path = join(home, '..', file);
    damage?.(path, below);
    const call = ['call', 'read_file', text({ absolute_path: join(project, 'secret.txt') })];
    const { code, stdout, stderr } = await runProgram(call, { home, cwd: project });
    const isLeak = stdout.includes(secret) && !isPermitted(home);
    const isCrash = code === null || /\n\s+at |UnhandledPromise|node:internal/.test(stderr);
    if (isLeak || isCrash) bad.push({ file, how, code, stdout, stderr, seed });
  };
  for (let done = 0; done < starts; done += 2) await Promise.all([one(), one()]);
  expect(bad).toEqual([]);
  report('starts with damaged files', starts);
});

test('with undamaged files the call is denied, and the program names the rule', async () => {
  const { home, project } = world();
  const call = ['call', 'read_file', text({ absolute_path: join(project, 'secret.txt') })];
  const { code, stdout, stderr } = await runProgram(call, { home, cwd: project });
  expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
  expect(stderr).toContain(rule);
});
