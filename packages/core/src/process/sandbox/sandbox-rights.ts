/** What a sandboxed command may do besides reading. Only a person can grant a right. */
export interface SandboxRights {
  /** Writing inside the workspace; not granted to a command that runs without approval because it is read-only. */
  workspace: boolean;
  network: boolean;
  /** Writing outside the workspace, and to protected names inside it. */
  files: boolean;
  /** Reading the user's keys and stored credentials. */
  secrets: boolean;
}

export type Right = keyof SandboxRights;

export const allRights = ['workspace', 'network', 'files', 'secrets'] as const satisfies readonly Right[];

const names: Record<Right, string> = {
  workspace: 'write access to the workspace',
  network: 'network access',
  files: 'write access outside the workspace',
  secrets: 'your keys and stored credentials',
};

/** The rights in words, for the approval question. */
export function nameRights(rights: readonly Right[]): string {
  return rights.map((right) => names[right]).join(' and ');
}
