import { forEachChild, type ParsedScript, type SyntaxNode, type Word, type WordPart } from 'unbash';
import { substitutedPipe } from './command-analysis.js';
import type { ParsedCommand, Piece, ShellWord } from './shell-syntax.js';

export interface WordReader {
  budget: ParseBudget;
  /** Converts a script inside a word. */
  readScript(script: ParsedScript): ParsedCommand;
}

/** A word as bash expands it: exact if the text decides, otherwise marked as unknown until run time. */
export function readWord(word: Word, reader: WordReader): ShellWord {
  const parts = word.parts ?? [{ type: 'Literal', text: word.text, value: word.value } as const];
  // The command `[` is not a pattern.
  if (word.text === '[') return { text: '[', pieces: [{ type: 'text', value: '[' }], scripts: [] };
  return { text: word.text, ...readParts(parts, reader, { isQuoted: false }) };
}

/** The parts of a word, or of a here-document, which bash expands like the inside of double quotes. */
export function readParts(
  parts: readonly PartLike[],
  reader: WordReader,
  { isQuoted }: { isQuoted: boolean },
): Pick<ShellWord, 'pieces' | 'scripts'> {
  reader.budget.spend(parts.length * costs.part);
  const pieces = parts.flatMap((part, index) =>
    readPart(part, { isQuoted, isFirst: index === 0, isLast: index === parts.length - 1 }, reader),
  );
  return { pieces, scripts: parts.flatMap((part) => scriptsWithin(part, reader)) };
}

type PartLike = WordPart | { type: 'Literal'; text: string; value: string };
interface Place {
  isQuoted: boolean;
  isFirst: boolean;
  isLast: boolean;
}

function readPart(part: PartLike, place: Place, reader: WordReader): Piece[] {
  const { isQuoted } = place;
  switch (part.type) {
    case 'SimpleExpansion':
      return [readVariable(part.text.slice(1), isQuoted)];
    case 'ParameterExpansion':
      return [readParameter(part, isQuoted)];
    case 'CommandExpansion':
      return [unknown(isQuoted)];
    case 'ArithmeticExpansion':
      return [unknown(isQuoted, plainArithmetic.test(part.text) ? undefined : 'calculates with variables')];
    case 'Literal':
      return isQuoted ? [text(part.value)] : readLiteral(part, place);
    case 'SingleQuoted':
      return [text(part.value)];
    case 'DoubleQuoted':
      reader.budget.spend(part.parts.length * costs.part);
      // The empty text makes `""` a word.
      return [text(''), ...part.parts.flatMap((child) => readPart(child, { ...place, isQuoted: true }, reader))];
    case 'AnsiCQuoted':
      return [simpleEscapes.test(part.text) && !part.value.includes('\0') ? text(part.value) : unknown(true)];
    case 'LocaleString':
      return [unknown(true, 'translates a text')];
    case 'ProcessSubstitution':
      return [text(substitutedPipe)];
    case 'Glob':
      return [glob(part.text)];
    case 'ExtendedGlob':
      return [unknown(false, 'uses an extended pattern')];
    case 'BraceExpansion':
      return [readBraces(part.text)];
  }
}

const text = (value: string): Piece => ({ type: 'text', value });
/** A bracket cannot contain a slash: such text is several names. */
const glob = (source: string): Piece => {
  if (containsExpansion(source)) return unknown(false, 'expands something inside brackets');
  return source.includes('/') ? unknown(false) : { type: 'glob', text: source };
};
/** The grammar does not parse these. */
const containsExpansion = (source: string) => /[$`<>]/.test(source);
export const unknown = (isQuoted: boolean, effect?: string): Piece => ({
  type: 'unknown',
  isQuoted,
  ...(effect && { effect }),
});

/** Escapes that mean the same in every locale. */
const simpleEscapes = /^\$'(?:[^\\']|\\[abefnrtv\\'"]|\\x[2-7][0-9a-fA-F]|\\[01][0-7]{2})*'$/;
/** Arithmetic without variables: bash evaluates a variable as an expression, which can run a command in a subscript. */
const plainArithmetic = /^\$\(\([\d\s+*/%<>()-]*\)\)$/;

/** Unquoted text; unknown if it contains anything that the parser left and bash might expand. */
function readLiteral({ text: source, value }: { text: string; value: string }, { isFirst, isLast }: Place): Piece[] {
  const bare = source.replace(/\\[\s\S]/g, '_');
  if (/[{]/.test(bare) && /,|\.\./.test(bare)) return [unknown(false)];
  if (/[=:]~/.test(bare)) return [unknown(false)];
  if (/[*?[]/.test(bare)) return [glob(source)];
  // A backslash and a line break disappear; they do not even leave an empty word.
  if (value === '') return [];
  if (!isFirst || !bare.startsWith('~')) return [text(value)];
  if (bare.startsWith('~/') || (bare === '~' && isLast)) return [{ type: 'home' }, text(value.slice(1))];
  return [unknown(true)];
}

function readVariable(name: string, isQuoted: boolean): Piece {
  return /^[A-Za-z_]\w*$/.test(name) ? { type: 'variable', name, isQuoted } : unknown(isQuoted && !/^[@*]$/.test(name));
}

type Parameter = Extract<WordPart, { type: 'ParameterExpansion' }>;

function readParameter(part: Parameter, isQuoted: boolean): Piece {
  const { prefix, index, operation, parameter } = part;
  if (!prefix && !index && !operation) return readVariable(parameter, isQuoted);
  const effect = effectWithin(part, isQuoted);
  if (effect !== undefined) return unknown(false, effect);
  return unknown(isQuoted && index === undefined && parameter !== '@');
}

/** The side effect of expanding a parameter, at any depth of its operands. Scripts inside are judged separately. */
function effectWithin(part: Parameter, isQuoted: boolean): string | undefined {
  const pending: { node: SyntaxNode; isQuoted: boolean }[] = [{ node: part, isQuoted }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node } = next;
    if (node.type === 'ParameterExpansion' && !isHarmless(node)) return `evaluates ${node.text}`;
    if (node.type === 'ArithmeticExpansion' && !plainArithmetic.test(node.text)) return 'calculates with variables';
    // Inside double quotes and here-documents, bash often treats such quotes as plain text and expands their contents.
    if (next.isQuoted && innerQuotes.has(node.type)) return `${part.text} has quotes inside quotes`;
    if (node.type === 'Script') continue;
    const isInside = next.isQuoted || node.type === 'DoubleQuoted';
    pending.push(...childrenOf(node).map((child) => ({ node: child, isQuoted: isInside })));
  }
  return undefined;
}

const innerQuotes: ReadonlySet<string> = new Set(['SingleQuoted', 'AnsiCQuoted', 'LocaleString']);

const harmlessOperations = new Set(['Remove', 'Replace', 'CaseModification']);

function isHarmless({ prefix, index, operation }: Parameter): boolean {
  const isPlainIndex = index === undefined || /^(\d+|@|\*)$/.test(index.text);
  const isDefault = operation?.type === 'Default' && /^:?[-+]$/.test(operation.operator);
  const isPlainOperation = operation === undefined || isDefault || harmlessOperations.has(operation.type);
  return prefix !== '!' && isPlainIndex && isPlainOperation;
}

/** `{a,b}` with plain choices; anything else is unknown until run time. */
function readBraces(source: string): Piece {
  if (containsExpansion(source)) return unknown(false, 'expands something inside braces');
  if (!/^\{[\w./-]*(,[\w./-]*)+\}$/.test(source)) return unknown(false);
  return { type: 'braces', choices: source.slice(1, -1).split(',') };
}

function scriptsWithin(part: PartLike, reader: WordReader): ParsedCommand[] {
  if (!('pos' in part) || leaves.has(part.type)) return [];
  const found: ParsedCommand[] = [];
  // Not recursive, because an expression of a thousand terms is a thousand levels deep.
  const pending: SyntaxNode[] = [part];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.type === 'Script') found.push(reader.readScript(node));
    else pending.push(...childrenOf(node).toReversed());
  }
  return found;
}

const leaves: ReadonlySet<string> = new Set(['Literal', 'SingleQuoted', 'AnsiCQuoted', 'SimpleExpansion']);

/** The direct children of a node, in order. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  forEachChild(node, (child) => {
    children.push(child);
  });
  return children;
}

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
