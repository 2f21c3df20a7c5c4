import type { LatheHome } from '../files/lathe-home.js';
import type { DefinitionPin } from '../tools/definition-pin.js';
import { definitionHash } from './consent.js';
import { PrivateStore } from './private-store.js';

/** What a tool says about itself, by field. */
export type ToolDefinition = Readonly<Record<string, unknown>>;

interface Pin {
  hash: string;
  /** By field, shortened: enough to show what changed. */
  shown: Record<string, string>;
}

const maxShown = 2_000;
const maxPins = 2_000;

/** The definitions of outside tools that have run, kept across sessions. */
export class DefinitionPins {
  readonly #store: PrivateStore;
  readonly #waiting = new Map<string, Pin>();
  #saving: Promise<void> | undefined;

  constructor(home: LatheHome) {
    this.#store = new PrivateStore(home, 'tool-definitions.json');
  }

  /** The pin of one tool; `id` names it and where it comes from. */
  pin(id: string, definition: ToolDefinition): DefinitionPin {
    // Not before it is asked for: of all the tools that servers offer, few are ever called.
    let made: Pin | undefined;
    const current = () => (made ??= { hash: definitionHash(definition), shown: show(definition) });
    return {
      change: async () => {
        const content = await this.#store.read();
        if (content.status === 'unusable') return `Earlier definitions cannot be read: ${content.reason}.`;
        const before = pinsOf(content.data).get(id);
        return before === undefined || before.hash === current().hash ? undefined : describe(before, current());
      },
      accept: async () => {
        const content = await this.#store.read();
        if (content.status === 'ok' && pinsOf(content.data).get(id)?.hash === current().hash) return;
        this.#waiting.set(id, current());
        await this.#save();
      },
    };
  }

  /** Writes whatever waits, in one go: many tools may be called at the same moment. */
  async #save(): Promise<void> {
    await this.#saving?.catch(() => undefined);
    if (this.#waiting.size === 0) return this.#saving;
    const batch = [...this.#waiting];
    this.#waiting.clear();
    this.#saving = this.#store.update((data) => toData(renewed(pinsOf(data), batch)));
    return this.#saving;
  }
}

/** The newest stand last; the oldest are forgotten when there are too many. */
function renewed(pins: Map<string, Pin>, batch: readonly [string, Pin][]): Map<string, Pin> {
  for (const [id] of batch) pins.delete(id);
  return new Map([...pins, ...batch].slice(-maxPins));
}

function describe(before: Pin, now: Pin): string {
  const fields = [...new Set([...Object.keys(before.shown), ...Object.keys(now.shown)])];
  const changes = fields
    .filter((field) => before.shown[field] !== now.shown[field])
    .map((field) => `${field}\n  was: ${before.shown[field] ?? '(none)'}\n  is:  ${now.shown[field] ?? '(none)'}`);
  return `Its definition changed since it last ran. ${changes.join('\n') || 'The change is beyond what is shown.'}`;
}

function show(definition: ToolDefinition): Record<string, string> {
  const entries = Object.entries(definition).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    entries.map(([field, value]) => [
      field,
      (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, maxShown),
    ]),
  );
}

function toData(pins: ReadonlyMap<string, Pin>): unknown {
  return { version: 1, definitions: [...pins] };
}

function pinsOf(data: unknown): Map<string, Pin> {
  if (typeof data !== 'object' || data === null || !('definitions' in data) || !Array.isArray(data.definitions))
    return new Map();
  return new Map(data.definitions.filter(isEntry));
}

function isEntry(value: unknown): value is [string, Pin] {
  if (!Array.isArray(value) || value.length !== 2 || typeof value[0] !== 'string') return false;
  const pin: unknown = value[1];
  if (typeof pin !== 'object' || pin === null || !('hash' in pin) || !('shown' in pin)) return false;
  if (typeof pin.hash !== 'string' || typeof pin.shown !== 'object' || pin.shown === null) return false;
  return Object.values(pin.shown).every((text) => typeof text === 'string');
}
