// Points imports of the library at the files that own the names. The bundler takes whatever its index names for loaded by
// everybody who imports one name of it, so that nothing published could be loaded late.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A plugin for esbuild; `index` is the compiled index of `@lathe/core`. */
export function directImports(index) {
  const owners = readOwners(index);
  return {
    name: 'direct-imports',
    setup(build) {
      build.onLoad({ filter: /[\\/]cli[\\/]src[\\/].*\.tsx?$/ }, ({ path }) => ({
        loader: path.endsWith('x') ? 'tsx' : 'ts',
        contents: readFileSync(path, 'utf8').replace(/^import \{([^}]*)\} from '@lathe\/core';/gm, (_, names) =>
          listed(names)
            .filter((name) => !name.startsWith('type '))
            .map((name) => `import { ${name} } from ${JSON.stringify(ownerOf(name, owners))};`)
            .join(' '),
        ),
      }));
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

function ownerOf(name, owners) {
  const owner = owners.get(name.split(' as ')[0]);
  if (owner === undefined) throw new Error(`@lathe/core does not export ${name}`);
  return owner;
}
