/** How much of a budget each piece of syntax takes: about its share of the time. */
export const costs = { character: 1 / 32, part: 1, command: 4, script: 8 };

export const maxParseCost = 1000;

/** How much of one command is read, scripts within scripts included: beyond it, nothing would be proven anyway. */
export class ParseBudget {
  private left = maxParseCost;

  spend(cost: number): void {
    this.left -= cost;
    if (this.isSpent) throw new Error('The command has too many parts.');
  }

  get isSpent(): boolean {
    return this.left < 0;
  }
}
