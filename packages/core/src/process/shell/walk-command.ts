import { hostsIn } from '../programs/changing-programs.js';
import { type Judgement, judgeCommand } from '../programs/judge-command.js';
import { isInstalledTool } from '../programs/local-tools.js';
import { workOf } from '../programs/unwrap.js';
import { codeDoubts } from '../rules/code-doubts.js';
import { type AnalysisOptions, substitutedPipe, unknownPart } from './command-analysis.js';
import { type Argument, both, directoryAfter, expandWord, movesShell, type Outcome, union } from './expand-word.js';
import { Findings, isOpenStream, type PlacedSegment } from './findings.js';
import { behindAssignments, isPlainVariable, type NamingScope, namesInner } from './named-commands.js';
import { parseCommand } from './parse-command.js';
import { ParseBudget } from './parse-word.js';
import { filesBetween } from './piped-files.js';
import type { Assignment, ParsedCommand, Redirection, ShellNode, ShellWord, SimpleCommand } from './shell-syntax.js';
import { commandsIn } from './shell-syntax.js';

/** The state at one point of the command. */
interface Scope extends NamingScope {
  depth: number;
}

const maxDepth = 8;
const hardDepth = 100;
const maxUnrolled = 20;
/** With more segments, loops are not followed iteration by iteration: the command is not proven anyway. */
const manySegments = 100;
/** Words and characters that may be parsed again inside wrappers: each level repeats the level above. */
export const maxInnerWork = 20_000;

/** Follows a command in the order bash would, keeping track of its directory and of loop variables. */
export class CommandWalk {
  private readonly findings = new Findings();
  private readonly functions = new Set<string>();
  private readonly options: AnalysisOptions;
  private readonly budget: ParseBudget;

  constructor(options: AnalysisOptions, budget = new ParseBudget()) {
    this.options = options;
    this.budget = budget;
  }

  /** Throws when the budget ends. */
  run(command: string): Findings {
    const { cwd, home } = this.options;
    this.script(parseCommand(command, this.budget), {
      home,
      cwds: [cwd],
      variables: new Map(),
      depth: 0,
      isHidden: false,
      isNamed: false,
    });
    return this.findings;
  }

  private script({ body, problems }: ParsedCommand, scope: Scope): Outcome {
    for (const problem of problems) this.findings.unseen('', problem);
    return this.node(body, { ...scope, depth: scope.depth + 1 });
  }

  private node(node: ShellNode, scope: Scope): Outcome {
    if (scope.depth > maxDepth + 1) this.findings.doubt('It is nested too deeply to be proven.');
    if (scope.depth > hardDepth) {
      this.findings.unseen('', 'It is nested too deeply to be understood.');
      return both([]);
    }
    switch (node.type) {
      case 'command':
        return this.simple(node, scope);
      case 'list':
        return this.list(node, scope);
      case 'pipeline':
        return this.pipeline(node.nodes, scope);
      case 'block':
        return this.block(node, { ...scope, depth: scope.depth + 1 });
    }
  }

  private list({ steps }: ShellNode & { type: 'list' }, scope: Scope): Outcome {
    let state: Outcome = both(scope.cwds);
    for (const { operator, node, isBackground } of steps) {
      const before = operator === '&&' ? state.ok : operator === '||' ? state.failed : union(state.ok, state.failed);
      const after = this.node(node, { ...scope, cwds: before });
      if (isBackground) this.findings.doubt('A part of it runs in the background.');
      if (isBackground) state = both(before);
      else if (operator === '&&') state = { ok: after.ok, failed: union(state.failed, after.failed) };
      else if (operator === '||') state = { ok: union(state.ok, after.ok), failed: after.failed };
      else state = after;
    }
    return state;
  }

  private pipeline(nodes: ShellNode[], scope: Scope): Outcome {
    const [only, ...others] = nodes;
    if (only && others.length === 0) {
      // `! cd x` and `time cd x` run in this shell.
      const { ok, failed } = this.node(only, scope);
      return both(union(ok, failed));
    }
    nodes.forEach((node, index) => {
      const input = filesBetween(nodes[index - 1], node, scope);
      if (input && node.type === 'command') this.simple(node, scope, input);
      else this.node(node, scope);
    });
    return both(scope.cwds);
  }

  private block(node: ShellNode & { type: 'block' }, scope: Scope): Outcome {
    const { kind, bodies, words, redirections, name, paths = [] } = node;
    for (const word of words) this.inside(word, scope);
    for (const redirection of redirections) this.redirect(redirection, scope);
    if (kind === 'opaque') this.opaque(name ?? '', words, scope);
    if (kind === 'function') {
      this.functions.add(name ?? '');
      this.findings.doubt(`It defines a function, ${name}.`);
    }
    for (const path of paths) this.findings.read(expandWord(path, scope), scope.cwds);
    if (kind === 'for') return this.loop(bodies, name ?? '', words, scope);
    const after = this.body(bodies, scope);
    if (kind === 'subshell') return both(scope.cwds);
    // A `case` without a match succeeds too.
    if (kind === 'case') return both(union(scope.cwds, union(after.ok, after.failed)));
    return kind === 'loop' ? this.settled(after, scope) : after;
  }

  /** A block whose words may be evaluated as expressions, and hide commands in subscripts. */
  private opaque(name: string, words: ShellWord[], scope: Scope): void {
    const doubt = `What ${name} does is only known when it runs.`;
    // Two adjacent words are not arithmetic: if bash runs them as a command after all, deny rules must see it.
    if (/^\(\(.*\w\s+\w/s.test(name)) this.findings.unseen(name, doubt);
    this.findings.doubt(doubt);
    this.quotedCommands(words, scope);
  }

  /** Commands in text that the shell may evaluate later: a quoted subscript, the value of a variable. */
  private quotedCommands(words: ShellWord[], scope: Scope): void {
    for (const { value } of words.flatMap((word) => expandWord(word, scope))) {
      if (!/[$]\(|`/.test(value)) continue;
      this.script(parseCommand(`: ${value.replaceAll(unknownPart, '')}`, this.budget), { ...scope, isHidden: true });
    }
  }

  /** Bodies of a block in turn, each possibly after those before it. */
  private body(bodies: ShellNode[], scope: Scope): Outcome {
    let cwds = scope.cwds;
    let last: Outcome = both(cwds);
    for (const body of bodies) {
      last = this.node(body, { ...scope, cwds });
      cwds = union(cwds, union(last.ok, last.failed));
    }
    return bodies.length === 1 ? last : both(cwds);
  }

  /** A loop must end in the directory where it started, or its second iteration means other paths. */
  private settled({ ok, failed }: Outcome, { cwds }: Scope): Outcome {
    const after = union(cwds, union(ok, failed));
    if (after.length === cwds.length && cwds.length > 0) return both(cwds);
    this.findings.doubt('It changes the directory inside a loop.');
    return both([]);
  }

  private loop(bodies: ShellNode[], name: string, words: ShellWord[], scope: Scope): Outcome {
    if (!isPlainVariable(name)) this.findings.doubt(`It sets ${name}, which other programs may use.`);
    if (scope.variables.has(name)) this.findings.doubt(`It sets ${name} inside the loop over it.`);
    const values = words.flatMap((word) => expandWord(word, scope));
    this.findings.readPatterns(values, scope.cwds);
    const size = bodies.reduce((sum, body) => sum + commandsIn(body), 0);
    const isShort = values.length <= maxUnrolled && this.findings.segments.length + values.length * size < manySegments;
    const isExact = isShort && values.every(({ isOpen }) => !isOpen);
    const unknown: Argument = { value: unknownPart, text: `$${name}`, isKnown: false, isOpen: true };
    let after: Outcome = both(scope.cwds);
    for (const value of isExact ? values : [unknown]) {
      const variables = new Map(scope.variables).set(name, value);
      after = this.settled(this.body(bodies, { ...scope, variables }), scope);
    }
    return after;
  }

  /** The commands inside a word's substitutions, and other effects of its expansion. */
  private inside(word: ShellWord, scope: Scope): void {
    for (const script of word.scripts) this.script(script, scope);
    for (const piece of word.pieces) {
      if (piece.type === 'unknown' && piece.effect) this.findings.doubt(`Expanding ${word.text} ${piece.effect}.`);
    }
  }

  /** `input` is what xargs receives. */
  private simple(command: SimpleCommand, scope: Scope, input?: Argument): Outcome {
    for (const { words } of command.assignments) for (const word of words) this.inside(word, scope);
    for (const word of command.words) this.inside(word, scope);
    for (const redirection of command.redirections) this.redirect(redirection, scope);
    const words = command.words.flatMap((word) => expandWord(word, scope));
    if (words.length === 0) {
      this.assign(command.assignments, scope);
      return both(scope.cwds);
    }
    this.findings.readPatterns(words, scope.cwds);
    const { assignments, text } = command;
    const behind = assignments.length > 0 ? behindAssignments(assignments, words, scope) : undefined;
    this.command(words, text, { ...scope, ...behind?.scope }, { ...behind?.options, ...(input && { input }) });
    const moves = movesShell(words);
    if (moves === 'as cd does') return this.changeDirectory(words.slice(1), scope);
    return both(moves === 'no' ? scope.cwds : []);
  }

  /** Assignments without a command affect only this shell, unless programs use the variable. */
  private assign(assignments: Assignment[], scope: Scope): void {
    for (const { name, isPlain, words } of assignments) {
      this.quotedCommands(words, scope);
      if (scope.variables.has(name)) this.findings.doubt(`It sets ${name} inside the loop over it.`);
      if (!isPlain || !isPlainVariable(name)) this.findings.doubt(`It sets ${name}, which other programs may use.`);
    }
  }

  /** One command by its words, and all it runs. */
  private command(
    words: Argument[],
    text: string,
    scope: Scope,
    { poison, input, named }: { poison?: string; input?: Argument; named?: string[] } = {},
  ): string | undefined {
    const judgement = judgeCommand(words, { path: this.options.path, ...(input && { input }) });
    const segment = this.place(words, text, scope, judgement);
    const inner = this.inner(judgement, segment, scope);
    const [name = ''] = segment.words;
    const isFunction = this.functions.has(name) ? `${name} is a function defined here` : undefined;
    const why = poison ?? isFunction ?? judgement.why ?? inner;
    const isUnallowable = judgement.isUnallowable === true || isFunction !== undefined;
    if (why !== undefined) {
      this.findings.doubt(...codeDoubts(words));
      this.findings.unproven(segment, why, scope.isNamed && !isUnallowable && { named });
    }
    if (scope.isHidden || isUnallowable) segment.hidden = true;
    return why;
  }

  /** Notes a command and its effects. */
  private place(words: Argument[], text: string, { cwds }: Scope, judgement: Judgement): PlacedSegment {
    // The number of the pipe is known only at run time.
    const values = words.map(({ value }) => value.replaceAll(substitutedPipe, `/dev/fd/${unknownPart}`));
    const segment: PlacedSegment = { words: values, text, isReadOnly: true, cwds };
    this.findings.segments.push(segment);
    this.findings.add(judgement, cwds);
    this.findings.show(judgement, words, cwds);
    if (judgement.usesNetwork && !isInstalledTool(segment, this.options.workspaceRoots))
      this.findings.connect(hostsIn(words), { isNeeded: judgement.needsNetwork === true });
    else if (!judgement.inner) segment.isOffline = true;
    return segment;
  }

  /** Why something a wrapper runs is not proven. */
  private inner(judgement: Judgement, { words, text }: PlacedSegment, scope: Scope): string | undefined {
    const { inner } = judgement;
    if (!inner) return undefined;
    const isNamed = namesInner(judgement, words, scope);
    const below: Scope = { ...scope, depth: scope.depth + 1, isHidden: true, isNamed };
    if (below.depth > maxDepth + 1) this.findings.doubt('It is nested too deeply to be proven.');
    this.findings.work += workOf(inner);
    if (below.depth > hardDepth || this.findings.work > maxInnerWork) {
      this.findings.unseen(text, 'It is nested too deeply to be understood.');
      return 'it is nested too deeply';
    }
    const reasons = inner.commands.map((command) => this.command(command, text, below));
    for (const source of inner.scripts) {
      if (source.includes(unknownPart))
        this.findings.unseen(
          source.replaceAll(unknownPart, '…'),
          'It runs shell text that is only known when it runs.',
        );
      this.script(parseCommand(source.replaceAll(unknownPart, '$unknown '), this.budget), below);
    }
    return reasons.find((reason) => reason !== undefined);
  }

  private redirect({ operator, setsVariable, target }: Redirection, scope: Scope): void {
    this.inside(target, scope);
    if (setsVariable) this.findings.doubt('It opens a file under a number kept in a variable.');
    if (operator === '<<' || operator === '<<<') return;
    const words = expandWord(target, scope);
    const [word] = words;
    if (!word?.isKnown || words.length > 1)
      return this.findings.doubt(`Where ${target.text} leads is only known when it runs.`);
    if (/^[<>]&$/.test(operator) && /^(\d+-?|-)$/.test(word.value)) return;
    if (/^\/dev\/(tcp|udp)\//.test(word.value)) {
      this.findings.connect([], { isNeeded: true });
      return this.findings.doubt(`${word.value} is a network connection.`);
    }
    const isRead = operator === '<';
    if (operator === '<&' || (!isRead && isOpenStream(word.value)))
      return this.findings.doubt(`Where ${target.text} leads is only known when it runs.`);
    this.findings.redirect(word, scope.cwds, { isRead });
  }

  private changeDirectory(args: Argument[], scope: Scope): Outcome {
    const after = directoryAfter(args, scope);
    if (args.some(({ value }) => value.includes('..'))) this.findings.backs.push(...(after?.ok ?? []));
    if (after === undefined) this.findings.doubt('Which directory it changes to is only known when it runs.');
    return after ?? both([]);
  }
}
