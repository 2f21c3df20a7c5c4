// The programs we compare ourselves with, installed from the registry, each into a folder of its own.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export const peers = {
  'gemini-core': ['@google/gemini-cli-core', '0.61.0'],
  'qwen-core': ['@qwen-code/qwen-code-core', '0.0.14'],
  pi: ['@earendil-works/pi-coding-agent', '1.5.2'],
  'qwen-cli': ['@qwen-code/qwen-code', '0.24.4'],
  'gemini-cli': ['@google/gemini-cli', '0.61.0'],
  codex: ['@openai/codex', '0.169.0'],
  claude: ['@anthropic-ai/claude-code', '2.1.327'],
  opencode: ['opencode-ai', '1.18.33'],
  // Some of them need a newer Node than we do.
  node22: ['node', '22.23.3'],
};

/** These bring all their code in one bundle. They name dependencies that the registry lacks, so npm cannot install them. */
export const bundled = ['pi'];

/** Installs what is missing, and says what cannot be installed. Peers run their install scripts: some need them. */
export async function installPeers(directory, names = Object.keys(peers)) {
  for (const name of names) {
    if (installedVersion(directory, name) !== undefined) continue;
    const [pack, version] = peers[name];
    const folder = join(directory, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }\n');
    console.error(`bench: installing ${pack}@${version}`);
    const install = (...more) =>
      spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...more, `${pack}@${version}`], {
        cwd: folder,
        stdio: 'ignore',
        timeout: 600_000,
      }).status === 0;
    // A script that cannot download something stands in the way of a package that works without it.
    const isThere = bundled.includes(name)
      ? unpack(folder, `${pack}@${version}`)
      : install() || install('--ignore-scripts');
    if (!isThere) console.error(`bench: ${name} cannot be installed`);
  }
  await lendRipgrep(directory);
}

/** Puts a package, without its dependencies, where npm would put it, with its programs. */
function unpack(folder, pack) {
  const npmPack = spawnSync('npm', ['pack', '--silent', pack], { cwd: folder, encoding: 'utf8' });
  const archive = npmPack.stdout.trim();
  if (npmPack.status !== 0 || spawnSync('tar', ['xzf', archive], { cwd: folder }).status !== 0) return false;
  const { name, bin } = JSON.parse(readFileSync(join(folder, 'package', 'package.json'), 'utf8'));
  const home = join(folder, 'node_modules', name);
  mkdirSync(dirname(home), { recursive: true });
  renameSync(join(folder, 'package'), home);
  mkdirSync(join(folder, 'node_modules', '.bin'));
  for (const [program, file] of Object.entries(bin))
    symlinkSync(join(home, file), join(folder, 'node_modules', '.bin', program));
  return true;
}

/** The Node that a peer runs on: ours, unless it needs a newer one. */
export function nodeOf(directory, name) {
  const newer = join(directory, 'node22', 'node_modules', 'node', 'bin', 'node');
  return ['pi', 'qwen-cli', 'qwen-code'].includes(name) && existsSync(newer) ? newer : process.execPath;
}

/** The version of a peer that is there. */
export function installedVersion(directory, name) {
  const manifest = join(directory, name, 'node_modules', peers[name][0], 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** One peer downloads ripgrep on its own when installed; where it could not, it gets ours, so that it can search. */
async function lendRipgrep(directory) {
  const folder = join(directory, 'qwen-core', 'node_modules', '@lvce-editor', 'ripgrep');
  const program = join(folder, 'bin', 'rg');
  if (!existsSync(folder) || existsSync(program)) return;
  // Not there before the setup of a fresh checkout.
  const { rgPath } = await import('@vscode/ripgrep');
  mkdirSync(dirname(program), { recursive: true });
  copyFileSync(rgPath, program);
  chmodSync(program, 0o755);
}
