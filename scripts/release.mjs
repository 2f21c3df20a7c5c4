// npm run release: versions, tags and packs a release. Nothing is published: the workflow of the tag does that.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const help = `npm run release -- patch|minor|major|<version> [--skip-tests]

Checks that main is clean and that CHANGELOG.md has entries under Unreleased, runs the tests, sets the version and the repository
of every package, dates the changelog, commits, tags, and packs the packages into release/. Push the commit and the tag to publish.

  --check-tag vX.Y.Z   fail unless the tag is the version of every package
  --notes vX.Y.Z       print the changelog of a version`;

const root = join(import.meta.dirname, '..');
const packages = ['core', 'agent', 'fleet', 'cli'];

try {
  main();
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function main() {
  const { values, positionals } = parseArgs({
    options: {
      'check-tag': { type: 'string' },
      notes: { type: 'string' },
      'skip-tests': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  if (values['check-tag'] !== undefined) return checkTag(values['check-tag']);
  if (values.notes !== undefined) return console.log(sectionOf(read('CHANGELOG.md'), values.notes.replace(/^v/, '')));
  if (values.help || positionals.length !== 1) return console.log(help);
  release(positionals[0], { skipTests: values['skip-tests'] });
}

function release(step, { skipTests }) {
  const version = nextVersion(manifest('core').version, step);
  if (git('status', '--porcelain') !== '') throw new Error('there are changes that are not committed');
  if (git('branch', '--show-current') !== 'main') throw new Error('releases are made on main');
  const changelog = datedChangelog(read('CHANGELOG.md'), version);
  const repository = gitHubRepository(git('remote', 'get-url', 'origin'));
  if (!skipTests) run('npm', ['test']);
  for (const name of packages) writeManifest(name, { version, repository });
  run('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund']);
  run(process.execPath, ['scripts/complete-lock.mjs']);
  writeFileSync(join(root, 'CHANGELOG.md'), changelog);
  git('commit', '--all', '--message', `chore: release ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Lathe ${version}`);
  run('npm', ['run', 'build']);
  mkdirSync(join(root, 'release'), { recursive: true });
  const workspaces = packages.flatMap((name) => ['--workspace', `@lathe/${name}`]);
  run('npm', ['pack', ...workspaces, '--pack-destination', 'release']);
  console.log(`Packed ${version} into release/. To publish: git push origin main v${version}`);
}

function nextVersion(current, step) {
  const [major, minor, patch] = current.split('.').map(Number);
  if (step === 'major') return `${major + 1}.0.0`;
  if (step === 'minor') return `${major}.${minor + 1}.0`;
  if (step === 'patch') return `${major}.${minor}.${patch + 1}`;
  if (/^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?$/.test(step)) return step;
  throw new Error(`${step} is neither patch, minor, major nor a version`);
}

function checkTag(tag) {
  for (const name of packages) {
    const { version } = manifest(name);
    if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, but @lathe/${name} is ${version}`);
  }
  sectionOf(read('CHANGELOG.md'), tag.slice(1));
}

/** Moves the entries under Unreleased to a section of their own. */
function datedChangelog(text, version) {
  sectionOf(text, 'Unreleased');
  const date = new Date().toISOString().slice(0, 10);
  return text.replace('## [Unreleased]\n', `## [Unreleased]\n\n## [${version}] - ${date}\n`);
}

/** The entries of one version, without its heading. */
function sectionOf(text, version) {
  const start = text.indexOf(`## [${version}]`);
  if (start < 0) throw new Error(`CHANGELOG.md has no section [${version}]`);
  const [, ...lines] = text.slice(start).split('\n');
  const end = lines.findIndex((line) => line.startsWith('## ') || /^\[[^\]]+\]: /.test(line));
  const body = (end < 0 ? lines : lines.slice(0, end)).join('\n').trim();
  if (body === '') throw new Error(`CHANGELOG.md has nothing under [${version}]`);
  return body;
}

/** The registry accepts provenance only from the repository that a package names. */
function gitHubRepository(remote) {
  const [, name] = /github\.com[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?$/.exec(remote) ?? [];
  if (name === undefined)
    throw new Error('the remote origin is not a repository on GitHub, from which packages are published');
  return `git+https://github.com/${name}.git`;
}

/** Our packages need exactly this version of each other. */
function writeManifest(name, { version, repository }) {
  const path = join('packages', name, 'package.json');
  const text = read(path).replaceAll(/"(@lathe\/\w+)": "\d[^"]*"/g, `"$1": "${version}"`);
  const changed = {
    ...JSON.parse(text),
    version,
    repository: { type: 'git', url: repository, directory: `packages/${name}` },
  };
  writeFileSync(join(root, path), `${JSON.stringify(changed, null, 2)}\n`);
}

function manifest(name) {
  return JSON.parse(read(join('packages', name, 'package.json')));
}

function read(path) {
  return readFileSync(join(root, path), 'utf8');
}

function git(...args) {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
}

function run(program, args) {
  execFileSync(program, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32' });
}
