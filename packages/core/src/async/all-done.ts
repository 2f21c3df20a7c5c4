/** Waits until all work has settled, then throws the first failure: nothing continues in the background. */
export async function allDone(work: readonly (Promise<void> | undefined)[]): Promise<void> {
  const outcomes = await Promise.allSettled(work.filter((one) => one !== undefined));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
