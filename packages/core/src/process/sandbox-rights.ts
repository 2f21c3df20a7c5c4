/** What a sandboxed command may do beyond the workspace; each right is a person's to give. */
export interface SandboxRights {
  network: boolean;
  /** Writing outside the workspace, and to protected names inside it. */
  files: boolean;
}
