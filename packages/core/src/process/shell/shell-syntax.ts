/** A command as bash 5 parses it, reduced to what decides whether it may run. */
export interface ParsedCommand {
  body: ShellNode;
  /** Why bash may parse the text differently, or not at all. */
  problems: string[];
}

export type ShellNode =
  | SimpleCommand
  /** `a; b && c`: each step with the operator in front of it. */
  | { type: 'list'; steps: { operator: ';' | '&&' | '||'; node: ShellNode; isBackground: boolean }[] }
  | { type: 'pipeline'; nodes: ShellNode[] }
  | {
      type: 'block';
      kind: BlockKind;
      bodies: ShellNode[];
      words: ShellWord[];
      redirections: Redirection[];
      name?: string;
      /** Words that name files to test. */
      paths?: ShellWord[];
    };

export type BlockKind = 'subshell' | 'group' | 'branch' | 'loop' | 'for' | 'case' | 'test' | 'function' | 'opaque';

export interface SimpleCommand {
  type: 'command';
  text: string;
  assignments: Assignment[];
  words: ShellWord[];
  redirections: Redirection[];
}

export interface Assignment {
  name: string;
  /** Only `name=word`: no array, no subscript, no `+=`. */
  isPlain: boolean;
  words: ShellWord[];
}

export interface Redirection {
  operator: '>' | '>>' | '<' | '<>' | '<&' | '>&' | '>|' | '&>' | '&>>' | '<<' | '<<<';
  /** `{name}>`: the shell picks a descriptor and sets a variable. */
  setsVariable: boolean;
  target: ShellWord;
}

export interface ShellWord {
  text: string;
  pieces: Piece[];
  /** Commands inside substitutions, in order. */
  scripts: ParsedCommand[];
}

export type Piece =
  | { type: 'text'; value: string }
  /** `~` at the start of a word. */
  | { type: 'home' }
  | { type: 'braces'; choices: string[] }
  /** Replaced by file names. */
  | { type: 'glob'; text: string }
  | { type: 'variable'; name: string; isQuoted: boolean }
  /** Known only at run time. `effect` is a side effect of expanding it. */
  | { type: 'unknown'; isQuoted: boolean; effect?: string };

/** The number of simple commands in a node, substitutions included. */
export function commandsIn(node: ShellNode): number {
  switch (node.type) {
    case 'command':
      return (
        1 +
        sum(node.words, commandsInWord) +
        sum(node.assignments, ({ words }) => sum(words, commandsInWord)) +
        sum(node.redirections, ({ target }) => commandsInWord(target))
      );
    case 'list':
      return sum(node.steps, (step) => commandsIn(step.node));
    case 'pipeline':
      return sum(node.nodes, commandsIn);
    case 'block':
      return (
        sum(node.bodies, commandsIn) +
        sum(node.words, commandsInWord) +
        sum(node.redirections, ({ target }) => commandsInWord(target))
      );
  }
}

const sum = <T>(items: readonly T[], count: (item: T) => number) =>
  items.reduce((total, item) => total + count(item), 0);
const commandsInWord = ({ scripts }: ShellWord) => sum(scripts, ({ body }) => commandsIn(body));
