/** Scripts depend on these values. */
export const exitCodes = {
  success: 0,
  /** The task or the tool failed. */
  failure: 1,
  /** Wrong usage or invalid parameters. */
  usage: 2,
  /** A call needed approval and nobody could give it, or a person denied it. */
  denied: 3,
  interrupted: 130,
} as const;
