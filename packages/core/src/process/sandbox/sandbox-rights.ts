/** What a sandboxed command may do besides reading; each right is a person's to give. */
export interface SandboxRights {
  /** Writing inside the workspace: not for a command that runs unasked because it only reads. */
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

/** For the person who is asked. */
export function nameRights(rights: readonly Right[]): string {
  return rights.map((right) => names[right]).join(' and ');
}
