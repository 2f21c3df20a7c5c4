/** Cents as dollars. A cost that rounds to nothing is not shown as nothing. */
export function formatCost(cents: number): string {
  return cents > 0 && cents < 0.5 ? '<$0.01' : `$${(cents / 100).toFixed(2)}`;
}
