import type { Location } from '../workspace.js';

/** How touching `location` looks to permission rules: the path member of `Target`. */
export function pathTarget(location: Location, access: 'read' | 'write') {
  const guarded = access === 'write' ? (location.guarded ?? location.secret) : location.secret;
  const isFree = access === 'read' && (location.inside || location.readable === true);
  return {
    type: 'path' as const,
    access,
    path: location.path,
    asks: guarded !== undefined || !isFree,
    ...(access === 'write' && { isInside: location.inside }),
    ...(guarded !== undefined && { guarded }),
  };
}

/** The question to a person before `tool` reads these places; `false` when none of them needs one. */
export function confirmReading(tool: string, locations: readonly Location[]) {
  const asking = locations.filter((location) => pathTarget(location, 'read').asks);
  if (asking.length === 0) return false;
  const warnings = asking.flatMap(({ secret }) => secret ?? []);
  return {
    type: 'info' as const,
    title: 'Read outside the workspace?',
    prompt: asking.map(({ path }) => path).join('\n'),
    ...(warnings.length === 0
      ? { rules: asking.map(({ path }) => `${tool}(/${escapeGlob(path)})`) }
      : { title: 'Read a secret?', warnings }),
  };
}

function escapeGlob(path: string): string {
  return path.replace(/[*?[\]{}!\\]| $/g, '\\$&');
}
