import type { LatheHome } from '../files/lathe-home.js';
import type { DefinitionPin } from '../tools/definition-pin.js';
import { definitionHash } from './consent.js';
import { PrivateStore } from './private-store.js';

/** The fields of a tool's definition. */
export type ToolDefinition = Readonly<Record<string, unknown>>;

interface Pin {
  hash: string;
  /** By field, truncated: enough to show what changed. */
  shown: Record<string, string>;
}

const maxShown = 2_000;
const maxPins = 2_000;

/** The definitions of external tools that have run, kept across sessions. */
export class DefinitionPins {
  readonly #store: PrivateStore<[id: string, pin: Pin]>;
  readonly #pending = new Map<string, Pin>();
  #saving: Promise<void> | undefined;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'tool-definitions.json', { key: 'definitions', isEntry });
  }

  /** The pin of one tool; `id` names it and its source. */
  pin(id: string, definition: ToolDefinition): DefinitionPin {
    // Computed when it is needed, because only a few of the tools that servers offer are ever called.
    let pin: Pin | undefined;
    const current = () => (pin ??= { hash: definitionHash(definition), shown: show(definition) });
    return {
      change: () =>
        this.#store.read().then(
          (pins) => {
            const before = new Map(pins).get(id);
            return before === undefined || before.hash === current().hash ? undefined : describe(before, current());
          },
          (error: Error) => `Earlier definitions cannot be read: ${error.message}.`,
        ),
      accept: async () => {
        if (new Map(await this.#store.entries()).get(id)?.hash === current().hash) return;
        this.#pending.set(id, current());
        await this.#save();
      },
    };
  }

  /** Writes all pending pins at once, because many tools may be called at the same time. The oldest pins are dropped. */
  async #save(): Promise<void> {
    await this.#saving?.catch(() => undefined);
    if (this.#pending.size === 0) return this.#saving;
    const batch = new Map(this.#pending);
    this.#pending.clear();
    this.#saving = this.#store.update((pins) => [...pins.filter(([id]) => !batch.has(id)), ...batch].slice(-maxPins));
    return this.#saving;
  }
}

function describe(before: Pin, now: Pin): string {
  const fields = [...new Set([...Object.keys(before.shown), ...Object.keys(now.shown)])];
  const changes = fields
    .filter((field) => before.shown[field] !== now.shown[field])
    .map((field) => `${field}\n  was: ${before.shown[field] ?? '(none)'}\n  is:  ${now.shown[field] ?? '(none)'}`);
  return `Its definition changed since it last ran. ${changes.join('\n') || 'The change is in a part that is not shown.'}`;
}

function show(definition: ToolDefinition): Record<string, string> {
  const entries = Object.entries(definition).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([field, value]) => [field, textOf(value).slice(0, maxShown)]));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function isEntry(value: unknown): value is [string, Pin] {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[0] !== 'string') return false;
  const pin: unknown = value[1];
  if (typeof pin !== 'object' || pin === null || !('hash' in pin) || !('shown' in pin)) return false;
  if (typeof pin.hash !== 'string' || typeof pin.shown !== 'object' || pin.shown === null) return false;
  return Object.values(pin.shown).every((text) => typeof text === 'string');
}
