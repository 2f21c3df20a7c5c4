/** What each piece of syntax costs, roughly its share of the parse time. */
export const costs = { character: 1 / 32, part: 1, command: 4, script: 8 };

export const maxParseCost = 1000;

/** Limits how much of one command is parsed, including nested scripts. A longer command would not be proven anyway. */
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
