/**
 * Ties what people agreed to about a tool from outside to the definition they agreed to. A tool whose description,
 * schema or annotations changed since it last ran is a new tool: no rule and no mode answers for the person.
 */
export interface DefinitionPin {
  /** What is different from the definition that last ran, for a person; `undefined` when nothing is. */
  change(): Promise<string | undefined>;
  /** The definition as it is now was approved and is about to run. */
  accept(): Promise<void>;
}
