/** What a sandboxed command may do besides reading. Only a person can grant a right. */
export interface SandboxRights {
  /** Writing inside the workspace; not granted to a command that runs without approval because it is read-only. */
  workspace: boolean;
  network: boolean;
  /** Reading ordinary files outside the workspace: in the home directory, without dot files, and on other disks. */
  home: boolean;
  /** Writing outside the workspace, and to protected names inside it. */
  files: boolean;
  /** Reading all of the home directory: keys, stored credentials, settings of programs. */
  secrets: boolean;
}

export type Right = keyof SandboxRights;

export const allRights = ['workspace', 'network', 'home', 'files', 'secrets'] as const satisfies readonly Right[];

const names: Record<Right, string> = {
  workspace: 'write access to the workspace',
  network: 'network access',
  home: 'read access to your ordinary files outside the workspace',
  files: 'write access outside the workspace',
  secrets: 'your keys and stored credentials',
};

/** The rights in words, for the approval question. */
export function nameRights(rights: readonly Right[]): string {
  return rights.map((right) => names[right]).join(' and ');
}
