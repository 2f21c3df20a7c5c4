import type { AgentLathe } from '@lathe/agent';

/** Settings of the folder that are ignored because it is not trusted. */
export function ignoredSettings({ loaded }: Pick<AgentLathe, 'loaded'>): string[] {
  if (loaded.isTrusted) return [];
  return [...new Set(loaded.ignored.filter(({ layer }) => layer === 'workspace').map(({ key }) => key))];
}

/** Says so to a person; `undefined` when there are none. */
export function ignoredSettingsNote(lathe: Pick<AgentLathe, 'loaded'>): string | undefined {
  const ignored = ignoredSettings(lathe);
  if (ignored.length === 0) return undefined;
  return `this folder is not trusted, so these settings are ignored: ${ignored.join(', ')} (see lathe trust)`;
}
