// Names in package-lock.json the optional builds of other platforms that a registry may lack, so that `npm ci` accepts
// the file everywhere. `node scripts/complete-lock.mjs [folder]` writes them; with --check it only says whether any is
// missing.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv.slice(2).find((argument) => argument !== '--check') ?? '.';
const path = join(import.meta.dirname, '..', folder, 'package-lock.json');
const lock = JSON.parse(readFileSync(path, 'utf8'));
const added = [];

for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (place.startsWith('packages/') || place === '' || isLocked(place, name)) continue;
    lock.packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(entry.dev && { dev: true }),
      optional: true,
    };
    added.push(`${name}@${version}`);
  }
}

if (process.argv.includes('--check')) {
  if (added.length > 0) {
    console.error(
      `package-lock.json lacks ${added.length} optional builds: run node scripts/complete-lock.mjs ${folder}`,
    );
    process.exit(1);
  }
} else {
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  writeFileSync(path, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`);
  console.log(added.length === 0 ? 'nothing to add' : `added ${added.length} optional builds`);
}

/** Whether the package is locked at the top or below the one that names it. */
function isLocked(place, name) {
  return `node_modules/${name}` in lock.packages || `${place}/node_modules/${name}` in lock.packages;
}

/** Builds are named after what they are for: `@biomejs/cli-linux-x64-musl`, `@oxlint/binding-win32-x64-msvc`. */
function platformOf(name) {
  const words = name.slice(name.indexOf('/') + 1).split('-');
  const systems = {
    android: 'android',
    darwin: 'darwin',
    freebsd: 'freebsd',
    linux: 'linux',
    openbsd: 'openbsd',
    openharmony: 'openharmony',
    win32: 'win32',
  };
  const processors = ['arm', 'arm64', 'ia32', 'loong64', 'ppc64', 'riscv64', 's390x', 'x64', 'wasm32'];
  const os = words.find((word) => word in systems);
  const cpu = words.find((word) => processors.includes(word));
  if (cpu === undefined) throw new Error(`${name} does not say which processor it is for`);
  const libc = words.some((word) => word.startsWith('musl')) ? 'musl' : os === 'linux' ? 'glibc' : undefined;
  return { cpu: [cpu], ...(libc && { libc: [libc] }), ...(os && { os: [os] }) };
}
