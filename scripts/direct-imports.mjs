// Points imports of our libraries at the files that own the names. The bundler takes whatever an index names for loaded
// by everybody who imports one name of it, so that nothing published could be loaded late.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The entries of our libraries, below packages/. */
const entries = {
  '@lathe/core': 'core/dist/index.js',
  '@lathe/core/tools': 'core/dist/entry-tools.js',
  '@lathe/core/mcp': 'core/dist/entry-mcp.js',
  '@lathe/core/discovery': 'core/dist/entry-discovery.js',
  '@lathe/core/testing': 'core/dist/entry-testing.js',
  '@lathe/core/host': 'core/dist/entry-host.js',
  '@lathe/agent': 'agent/dist/index.js',
  '@lathe/agent/models': 'agent/dist/models/index.js',
  '@lathe/agent/client': 'agent/dist/client/index.js',
};

/** A plugin for rolldown; `packages` is the folder of our packages, the libraries compiled. */
export function directImports(packages) {
  const owners = Object.fromEntries(
    Object.entries(entries).map(([entry, file]) => [entry, readOwners(join(packages, file))]),
  );
  return {
    name: 'direct-imports',
    transform: {
      filter: { id: /[\\/](?:cli[\\/]src|agent[\\/]dist)[\\/].*\.(?:tsx?|js)$/ },
      handler: (code) =>
        code.replace(/^import \{([^}]*)\} from '(@lathe\/(?:core|agent)[^']*)';/gm, (_, names, entry) =>
          listed(names)
            .filter((name) => !name.startsWith('type '))
            .map((name) => `import { ${name} } from ${JSON.stringify(ownerOf(name, entry, owners))};`)
            .join(' '),
        ),
    },
  };
}

function readOwners(index) {
  const owners = new Map();
  for (const [, names, path] of readFileSync(index, 'utf8').matchAll(/^export \{([^}]*)\} from '([^']+)'/gm))
    for (const name of listed(names)) owners.set(name, join(dirname(index), path));
  return owners;
}

const listed = (names) => names.split(',').flatMap((name) => name.trim() || []);

function ownerOf(name, entry, owners) {
  const owner = owners[entry]?.get(name.split(' as ')[0]);
  if (owner === undefined) throw new Error(`${entry} does not export ${name}`);
  return owner;
}
