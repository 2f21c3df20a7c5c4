/** Waits for every piece of work, so that nothing goes on behind the back of a failure. */
export async function allDone(work: readonly (Promise<void> | undefined)[]): Promise<void> {
  const outcomes = await Promise.allSettled(work.filter((one) => one !== undefined));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}
