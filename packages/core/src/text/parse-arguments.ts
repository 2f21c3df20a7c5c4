import { endOfString, type ParsedJson, parseJson } from './parse-json.js';
import { boundsProblem } from './schema/json-schema.js';

const maxChars = 8 * 1024 * 1024;

/**
 * Parses the arguments of a call. Besides JSON, accepts a Markdown fence around it and trailing commas, which cannot
 * change the meaning. Truncated text is rejected, never completed.
 */
export function parseArguments(text: string): ParsedJson {
  if (text.length > maxChars) return refuse(`are larger than ${maxChars / 1024 / 1024} MB`);
  const json = withoutFence(text);
  const scan = scanBrackets(json);
  if (scan.problem !== null) return refuse(scan.problem);
  const first = parseJson(json);
  const parsed =
    first.ok || scan.trailingCommas.length === 0 ? first : parseJson(withoutCommas(json, scan.trailingCommas));
  if (!parsed.ok) return refuse(`are not valid JSON: ${parsed.problem}`);
  const bounds = boundsProblem(parsed.value);
  return bounds === null ? parsed : refuse(`cannot be used: the value ${bounds}`);
}

function refuse(problem: string): ParsedJson {
  return { ok: false, problem: `The arguments ${problem}. Send one complete JSON object.` };
}

/** Removes a fence only if it is opened and closed and there is no text around it. */
function withoutFence(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('```') || !trimmed.endsWith('```')) return text;
  const lineEnd = trimmed.indexOf('\n');
  if (lineEnd < 0 || !/^```(?:json)?[ \t\r]*$/i.test(trimmed.slice(0, lineEnd))) return text;
  return trimmed.slice(lineEnd + 1, -3);
}

const bracketDepth: Readonly<Record<string, number>> = { '[': 1, '{': 1, ']': -1, '}': -1 };
const noValue = new Set(['[', '{', ',', ':', '']);

interface Scan {
  problem: string | null;
  /** Offsets of the commas directly before a closing bracket. */
  trailingCommas: number[];
}

/** Scans the text outside strings once: depth, truncation, trailing commas. */
function scanBrackets(json: string): Scan {
  const trailingCommas: number[] = [];
  const scan = (problem: string | null): Scan => ({ problem, trailingCommas });
  let depth = 0;
  let comma = -1;
  let before = '';
  for (let at = 0; at < json.length; at++) {
    const character = json[at] ?? '';
    if (character === '"') {
      at = endOfString(json, at);
      if (at < 0) return scan('are cut off in the middle of a string');
    }
    const change = bracketDepth[character] ?? 0;
    depth += change;
    if (change < 0 && comma >= 0) trailingCommas.push(comma);
    if (depth > 1_000) return scan('are nested too deeply');
    if (character.trim() === '') continue;
    // After an opening bracket or another comma a value is missing, which cannot be guessed.
    comma = character === ',' && !noValue.has(before) ? at : -1;
    before = character;
  }
  return scan(depth > 0 ? 'are cut off before they are complete' : null);
}

function withoutCommas(json: string, commas: readonly number[]): string {
  const starts = [0, ...commas.map((at) => at + 1)];
  return starts.map((start, index) => json.slice(start, commas[index])).join('');
}
