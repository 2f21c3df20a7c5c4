import { type ParseArgsConfig, parseArgs } from 'node:util';
import { FleetUsageError } from './io.js';

/** As `parseArgs`, with usage errors. */
export function flagsOf<const T extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: T,
): ReturnType<typeof parseArgs<{ args: string[]; options: T; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new FleetUsageError(error instanceof Error ? error.message : String(error));
  }
}

export function positive(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!(value > 0)) throw new FleetUsageError(`${name} must be a number above 0, not ${JSON.stringify(text)}`);
  return value;
}

export function choice<T extends string>(name: string, text: string | undefined, values: readonly T[]): T | undefined {
  if (text === undefined) return undefined;
  const found = values.find((value) => value === text);
  if (!found) throw new FleetUsageError(`${name} must be one of ${values.join(', ')}, not ${JSON.stringify(text)}`);
  return found;
}
