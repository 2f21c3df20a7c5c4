import {
  type Assignment as BashAssignment,
  type Redirection as BashRedirection,
  type Word as BashWord,
  type CommandNode,
  type CompoundList,
  type ParsedScript,
  type PipelineNode,
  parse,
  type Statement,
  type SyntaxNode,
  type TestExpression,
} from 'unbash';
import { fileTests } from '../programs/read-only-builtins.js';
import { childrenOf, costs, ParseBudget, readParts, readWord, unknown, type WordReader } from './parse-word.js';
import type {
  Assignment,
  BlockKind,
  ParsedCommand,
  Redirection,
  ShellNode,
  ShellWord,
  SimpleCommand,
} from './shell-syntax.js';

/** Throws when the budget ends. */
export function parseCommand(text: string, budget = new ParseBudget()): ParsedCommand {
  return readScript(parse(text), sourceOf(text, budget));
}

/** A text, and how to convert its words. */
interface Source extends WordReader {
  text: string;
}

function sourceOf(text: string, budget: ParseBudget): Source {
  const source: Source = { text, budget, readScript: (script) => readScript(script, source) };
  return source;
}

function readScript(script: ParsedScript, around: Source): ParsedCommand {
  // Positions in a script inside escaped backticks refer to the script's own decoded text.
  const source = script.source === undefined ? around : sourceOf(script.source, around.budget);
  around.budget.spend(costs.script + (script.end - script.pos) * costs.character);
  return {
    body: readStatements(script.commands, source),
    problems: (script.errors ?? []).map(({ message }) => `bash would not parse this command as written: ${message}`),
  };
}

function readStatements(statements: readonly Statement[], source: Source): ShellNode {
  const steps = statements.map(({ command, background }) => ({
    operator: ';' as const,
    node: command.type === 'AndOr' ? readAndOr(command.commands, command.operators, source) : readNode(command, source),
    isBackground: background === true,
  }));
  return { type: 'list', steps };
}

function readAndOr(nodes: readonly PipelineNode[], operators: readonly ('&&' | '||')[], source: Source): ShellNode {
  const steps = nodes.map((node, index) => ({
    operator: index === 0 ? (';' as const) : (operators[index - 1] ?? ';'),
    node: readNode(node, source),
    isBackground: false,
  }));
  return { type: 'list', steps };
}

function readNode(node: PipelineNode, source: Source): ShellNode {
  if (node.type === 'Pipeline') {
    const nodes = node.commands.map((part) => readNode(part, source));
    // `a |& b` is short for `a 2>&1 | b`.
    nodes.forEach((part, index) => {
      if (node.operators[index] === '|&' && part.type === 'command') part.redirections.push(errorsToOutput);
    });
    return { type: 'pipeline', nodes };
  }
  if (node.type === 'Redirected') {
    const inner = readNode(node.command, source);
    const redirections = node.redirects.map((redirect) => readRedirection(redirect, source));
    return inner.type === 'block' ? { ...inner, redirections } : block('group', [inner], { redirections });
  }
  if (node.type === 'Command') return readSimpleCommand(node, source);
  return readBlock(node, source);
}

function readSimpleCommand(node: CommandNode & { type: 'Command' }, source: Source): SimpleCommand {
  source.budget.spend(costs.command);
  // `export A=1` and the like have assignments among their words, which become plain words.
  const words = [...(node.name ? [node.name] : []), ...node.args];
  const assignments = node.prefix.filter((part) => part.type === 'Assignment');
  return {
    type: 'command',
    text: source.text.slice(node.pos, node.end),
    assignments: assignments.map((assignment) => readAssignment(assignment, source)),
    words: words.map((part) => (part.type === 'Word' ? readWord(part, source) : assignmentAsWord(part, source))),
    redirections: node.redirects.map((redirect) => readRedirection(redirect, source)),
  };
}

function readAssignment(assignment: BashAssignment, source: Source): Assignment {
  const isPlain = assignment.value.type === 'Word' && !assignment.append && assignment.index === undefined;
  const values = assignment.value.type === 'Word' ? [assignment.value] : assignment.value.elements;
  const words = [...(assignment.index ? [assignment.index] : []), ...values];
  return { name: assignment.name, isPlain, words: readWords(words, source) };
}

function assignmentAsWord(assignment: BashAssignment, source: Source): ShellWord {
  const { words, isPlain, name } = readAssignment(assignment, source);
  const scripts = words.flatMap((word) => word.scripts);
  const value = words[0]?.pieces ?? [];
  if (isPlain) return { text: assignment.text, pieces: [{ type: 'text', value: `${name}=` }, ...value], scripts };
  return { text: assignment.text, pieces: [unknown(false, 'sets an array')], scripts };
}

type Block = ShellNode & { type: 'block' };

function block(kind: BlockKind, bodies: ShellNode[], extra: Partial<Block> = {}): Block {
  return { type: 'block', kind, bodies, words: [], redirections: [], ...extra };
}

function readBlock(node: Exclude<CommandNode, { type: 'Command' | 'Redirected' }>, source: Source): ShellNode {
  const list = (body: CompoundList) => readStatements(body.commands, source);
  switch (node.type) {
    case 'Subshell':
      return block('subshell', [list(node.body)]);
    case 'BraceGroup':
      return block('group', [list(node.body)]);
    case 'If': {
      const branches = [node, ...node.elif].flatMap(({ clause, then }) => [list(clause), list(then)]);
      return block('branch', node.else ? [...branches, list(node.else)] : branches);
    }
    case 'While':
      return block('loop', [list(node.clause), list(node.body)]);
    case 'For':
      // Without a word list the loop runs over the positional parameters.
      if (!node.wordlist) return block('opaque', [list(node.body)], { name: 'a loop over the arguments' });
      return block('for', [list(node.body)], { words: readWords(node.wordlist, source), name: node.name.value });
    case 'Case': {
      const words = [node.word, ...node.items.flatMap(({ pattern }) => pattern)];
      const bodies = node.items.map(({ body }) => list(body));
      return block('case', bodies, { words: readWords(words, source) });
    }
    case 'TestCommand': {
      const { isPlain, ...rest } = readTest(node.expression, source);
      return block(isPlain ? 'test' : 'opaque', [], { ...rest, name: '[[' });
    }
    case 'Function': {
      const body = node.body.type === 'CompoundList' ? list(node.body) : readNode(node.body, source);
      return block('function', [body], { name: node.name.value });
    }
    case 'Select':
    case 'Coproc':
    case 'ArithmeticFor':
    case 'ArithmeticCommand':
      return block('opaque', commandsWithin(node, source), {
        name: source.text.slice(node.pos, node.end).slice(0, 40),
      });
  }
}

function readWords(words: readonly BashWord[], source: Source): ShellWord[] {
  return words.map((word) => readWord(word, source));
}

/** All simple commands below a node that is not judged itself. */
function commandsWithin(node: SyntaxNode, source: Source): ShellNode[] {
  const found: ShellNode[] = [];
  const pending = childrenOf(node).toReversed();
  for (let child = pending.pop(); child !== undefined; child = pending.pop()) {
    if (child.type === 'Script') found.push(readScript(child, source).body);
    else if (child.type === 'Command') found.push(readSimpleCommand(child, source));
    else pending.push(...childrenOf(child).toReversed());
  }
  return found;
}

/** Tests that only compare text. Arithmetic tests and `-v` evaluate subscripts, which can run commands. */
const textTests = new Set(['-z', '-n', '=', '==', '!=', '=~', '<', '>']);

interface Test {
  isPlain: boolean;
  words: ShellWord[];
  /** The part of `words` that names files to test. */
  paths: ShellWord[];
}

function readTest(test: TestExpression, source: Source): Test {
  switch (test.type) {
    case 'TestUnary':
      return testOf(test.operator, readWords([test.operand], source));
    case 'TestBinary':
      return testOf(test.operator, readWords([test.left, test.right], source));
    case 'TestNot':
      return readTest(test.operand, source);
    case 'TestGroup':
      return readTest(test.expression, source);
    case 'TestLogical': {
      const parts = test.operands.map((operand) => readTest(operand, source));
      return {
        isPlain: parts.every(({ isPlain }) => isPlain),
        words: parts.flatMap(({ words }) => words),
        paths: parts.flatMap(({ paths }) => paths),
      };
    }
  }
}

function testOf(operator: string, words: ShellWord[]): Test {
  const isFileTest = fileTests.has(operator);
  return { isPlain: isFileTest || textTests.has(operator), words, paths: isFileTest ? words : [] };
}

function readRedirection(redirect: BashRedirection, source: Source): Redirection {
  const setsVariable = redirect.descriptor?.type === 'FileDescriptorVariable';
  if (redirect.type !== 'HereDoc') {
    const nowhere = { text: '', pieces: [unknown(false, 'redirects to nothing')], scripts: [] };
    const target = redirect.target ? readWord(redirect.target, source) : nowhere;
    return { operator: redirect.operator, setsVariable, target };
  }
  const parts = redirect.delimiter?.quoted ? [] : (redirect.body.parts ?? []);
  const ending = redirect.closing ? [] : [unknown(true, 'lacks its end')];
  const { pieces, scripts } = readParts(parts, source, { isQuoted: true });
  const target = { text: redirect.body.text, pieces: [...pieces, ...ending], scripts };
  return { operator: '<<', setsVariable, target };
}

const errorsToOutput: Redirection = {
  operator: '>&',
  setsVariable: false,
  target: { text: '1', pieces: [{ type: 'text', value: '1' }], scripts: [] },
};
