import { type ParseArgsConfig, parseArgs } from 'node:util';
import { FleetUsageError } from './io.js';

/** Errors of it are wrong usage; the command line knows them by their code. */
export function flagsOf<const T extends NonNullable<ParseArgsConfig['options']>>(
  args: string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  return parseArgs({ args, options, allowPositionals: true });
}

/** Flags that take a text. */
export function texts<T extends string>(...names: T[]): Record<T, { type: 'string' }> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each name is there
  return Object.fromEntries(names.map((name) => [name, { type: 'string' }])) as Record<T, { type: 'string' }>;
}

export function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new FleetUsageError(`${name} must be a number above 0, not ${JSON.stringify(text)}`);
  return value;
}

export function choice<T extends string>(name: string, text: string | undefined, values: readonly T[]): T | undefined {
  const found = values.find((value) => value === text);
  if (found !== undefined || text === undefined) return found;
  throw new FleetUsageError(`${name} must be one of ${values.join(', ')}, not ${JSON.stringify(text)}`);
}
