/** Scripts depend on these. */
export const exitCodes = {
  success: 0,
  /** The task or the tool failed. */
  failure: 1,
  /** Wrong usage or invalid parameters. */
  usage: 2,
  /** A confirmation was needed and nobody could give it, or a person said no. */
  denied: 3,
  interrupted: 130,
} as const;
