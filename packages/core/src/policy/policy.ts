import type { Confirmation, GrantScope } from '../contract/confirmation.js';
import { thrownText } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { isWithin } from '../files/workspace.js';
import { matchesHost } from './match-host.js';
import { type PathBases, PathRules } from './match-path.js';
import { type Coverage, coverage, forbidsReading, namesFile } from './match-rule.js';
import type { Reading } from './reading.js';
import { kindOfSpec, parseRule, type Rule } from './rule.js';

/** How much runs without a question. */
export type ApprovalMode = 'plan' | 'default' | 'auto-edit' | 'yolo';

/** Permission rules by what they do. */
export interface RuleLists {
  allow: readonly string[];
  ask: readonly string[];
  deny: readonly string[];
}

/** What a policy decides by. */
export interface PolicyOptions {
  mode: ApprovalMode;
  rules: RuleLists;
  /** `tools.core`: when not empty, only the listed tools and commands may run. */
  core?: readonly string[];
  /** `tools.allowed` and `--allowed-tools`: run without asking; in yolo mode, nothing else may run. */
  allowed?: readonly string[];
  bases: PathBases;
  /** Rules may be missing because a settings file cannot be read, so every call asks. */
  isCautious?: boolean;
  /** Writes rules of scope `project` and `user` to the settings. */
  save?: (rules: readonly string[], scope: 'project' | 'user') => Promise<void>;
}

/** The input of the policy. It never contains text that a model, file, page or server chose. */
export interface JudgedCall {
  tool: string;
  isReadOnly: boolean;
  targets: readonly Target[];
  confirmation: Confirmation | false;
}

/** What the policy says about a call, and why. */
export interface Verdict {
  verdict: 'allow' | 'ask' | 'deny';
  reason: string;
  /** A rule or a mode could allow the call; `by-rule`: only a rule. */
  isGrantable?: true | 'by-rule';
  /** Something that no rule and no mode may allow, such as a protected path. */
  isGuarded?: true;
  /** Allowed only because the sandbox contains it. */
  isContained?: true;
}

/** A rule for display. */
export interface ListedRule {
  list: 'allow' | 'ask' | 'deny';
  text: string;
  scope?: GrantScope;
}

/** The only place that decides allow, ask or deny. Deny overrides ask, and ask overrides allow, in every mode. */
export class Policy {
  mode: ApprovalMode;
  /** Rules that could not be parsed, with the reason. If one of them should restrict, every call asks. */
  readonly problems: string[] = [];
  readonly #rules: Record<'allow' | 'ask' | 'deny' | 'core' | 'allowed', (Rule & { scope?: GrantScope })[]>;
  readonly #paths: PathRules;
  readonly #home: string;
  /** Lists that limit what may run, even if none of their rules can be parsed. */
  readonly #isLimited: { core: boolean; allowed: boolean };
  readonly #save: PolicyOptions['save'];
  #isCautious: boolean;

  constructor(options: PolicyOptions) {
    this.mode = options.mode;
    this.#paths = new PathRules(options.bases);
    this.#home = options.bases.home;
    this.#isLimited = { core: isGiven(options.core), allowed: isGiven(options.allowed) };
    this.#save = options.save;
    this.#isCautious = options.isCautious ?? false;
    const { allow, ask, deny } = options.rules;
    this.#rules = {
      deny: this.#parse(deny, { restricts: true }),
      ask: this.#parse(ask, { restricts: true }),
      core: this.#parse(options.core ?? [], { restricts: true }),
      allow: this.#parse(allow, { restricts: false }),
      allowed: this.#parse(options.allowed ?? [], { restricts: false }),
    };
  }

  judge(call: JudgedCall): Verdict {
    const why = call.targets.find((target) => target.asks && target.why !== undefined)?.why;
    const noRule: Verdict = why === undefined ? { ...ask('no rule allows it'), isGrantable: true } : ask(why);
    return this.#forbidden(call) ?? this.#asked(call) ?? this.#permitted(call) ?? noRule;
  }

  /** The denial of a call, if it is known before the tool inspects its targets. */
  denial(call: Pick<JudgedCall, 'tool' | 'targets'>): Verdict | undefined {
    const denied = this.#rules.deny.find((rule) => covers(this.#cover(rule, call, 'wide')));
    if (denied) return deny(`the rule "${denied.text}" denies it`);
    if (this.#isLimited.core && !this.#coversWhole(this.#rules.core, call)) return deny('tools.core does not list it');
    return undefined;
  }

  /** Whether a file may be read, so that searches can skip the others; `undefined` when no rule denies reading. */
  readFilter(): ((path: string) => boolean) | undefined {
    const specs = this.#rules.deny.filter(forbidsReading).map(({ spec = '' }) => spec);
    if (specs.length === 0) return undefined;
    return (path) => !specs.some((spec) => this.#paths.matches(spec, path, 'wide'));
  }

  /** Whether a rule denies reading a file or asks about it; `undefined` when there are no such rules. */
  readRestriction(): ((path: string) => boolean) | undefined {
    const { deny, ask: asks } = this.#rules;
    const specs = [...deny, ...asks].filter(forbidsReading).map(({ spec = '' }) => spec);
    if (specs.length === 0) return undefined;
    return (path) => specs.some((spec) => this.#paths.matches(spec, path, 'wide'));
  }

  /** True when a rule allows this exact host and port, which opens a private address. */
  opensHost(host: string, port: number): boolean {
    const { allow: allows, allowed } = this.#rules;
    return [...allows, ...allowed].some(
      ({ tool, spec = '' }) =>
        tool === 'web_fetch' && /:\d+$/.test(spec) && matchesHost(spec, { host, port }, 'narrow'),
    );
  }

  /** Adds rules that the user allowed with "always". */
  async grant(rules: readonly string[], scope: GrantScope): Promise<void> {
    const granted = this.#parse(rules, { restricts: false }).map((rule) => ({ ...rule, scope }));
    this.#rules.allow.push(...granted);
    if (scope === 'session' || granted.length === 0) return;
    try {
      await this.#save?.(texts(granted), scope);
    } catch (error) {
      // The approval still counts for this session.
      const reason = thrownText(error);
      this.problems.push(`${texts(granted).join(', ')} could not be saved: ${reason}`);
    }
  }

  /** The active rules, for display. */
  rules(): Record<'allow' | 'ask' | 'deny', string[]> {
    const { allow, allowed, ask: asks, deny } = this.#rules;
    return { allow: texts([...allow, ...allowed]), ask: texts(asks), deny: texts(deny) };
  }

  /** The same with the scope of those that the user allowed with "always" since the start. */
  listRules(): ListedRule[] {
    const { allow, allowed, ask: asks, deny } = this.#rules;
    const lists = { allow: [...allow, ...allowed], ask: asks, deny };
    return (['allow', 'ask', 'deny'] as const).flatMap((list) =>
      lists[list].map(({ text, scope }) => ({ list, text, ...(scope && { scope }) })),
    );
  }

  /** Forgets a rule that allows, asks or denies, until the settings are read again. */
  revoke({ list, text }: Pick<ListedRule, 'list' | 'text'>): void {
    const without = (rules: readonly Rule[]) => rules.filter((rule) => rule.text !== text);
    this.#rules[list] = without(this.#rules[list]);
    if (list === 'allow') this.#rules.allowed = without(this.#rules.allowed);
  }

  #forbidden(call: JudgedCall): Verdict | undefined {
    const denial = this.denial(call);
    if (denial) return denial;
    if (this.mode === 'plan' && !call.isReadOnly && !isPlan(call))
      return deny('plan mode runs only read-only tools; present the plan with exit_plan_mode first');
    if (this.mode === 'yolo' && this.#isLimited.allowed && !this.#coversWhole(this.#rules.allowed, call))
      return deny('in yolo mode with a list of allowed tools, nothing else may run');
    return undefined;
  }

  #asked(call: JudgedCall): Verdict | undefined {
    const rule = this.#rules.ask.find((candidate) => covers(this.#cover(candidate, call, 'wide')));
    if (rule) return ask(`the rule "${rule.text}" asks`);
    const guarded = call.targets.find((target) => target.guarded !== undefined)?.guarded;
    if (guarded !== undefined) return { ...ask(guarded), isGuarded: true };
    if (isPlan(call)) return ask('only the user can end plan mode');
    const sensitive = call.targets.find(
      (target) => target.sensitive !== undefined && !this.#isNamed(target),
    )?.sensitive;
    if (sensitive === undefined) return undefined;
    const isOnlyReason = !call.targets.some((target) => target.asks);
    return { ...ask(sensitive), ...(isOnlyReason && { isGrantable: 'by-rule' }) };
  }

  /** Whether a rule that permits reading names exactly this file, without wildcards. */
  #isNamed(target: Target): boolean {
    if (target.type !== 'path') return false;
    const permitting = [...this.#rules.allow, ...this.#rules.allowed];
    return permitting.some(
      (rule) => namesFile(rule, target.path) && this.#paths.matches(rule.spec, target.path, 'narrow'),
    );
  }

  #permitted(call: JudgedCall): Verdict | undefined {
    if (this.#isCautious) return ask('some rules or settings could not be parsed, so every call asks');
    const asking = call.targets.filter((target) => target.asks);
    if (call.confirmation === false && asking.length === 0) return allow('it needs no confirmation');
    // By now, a rule names each of these.
    if (asking.length === 0 && call.targets.some(({ sensitive }) => sensitive !== undefined))
      return allow('a rule allows it');
    if (this.mode === 'yolo') return allow('yolo mode');
    if (this.#coversAsking([...this.#rules.allow, ...this.#rules.allowed], call, asking))
      return allow('a rule allows it');
    return this.#isContained(call, asking) ? { ...allow('it stays inside the sandbox'), isContained: true } : undefined;
  }

  /** Whether auto-edit allows a call because the sandbox keeps it in the workspace. */
  #isContained(call: JudgedCall, asking: readonly Target[]): boolean {
    if (this.mode !== 'auto-edit' || asking.length === 0) return false;
    const covered = this.#coveredBy([...this.#rules.allow, ...this.#rules.allowed], call);
    const isFree = (target: Target) =>
      covered === 'all' || covered.has(target) || isProjectWrite(target) || target.contained !== undefined;
    if (!asking.every(isFree)) return false;
    const directories = asking.flatMap(({ contained = [] }) => contained);
    return !this.#restrictsIn([...new Set(directories)]);
  }

  /**
   * Whether a rule restricts files that a program in these directories could touch without naming them. Rules about files
   * are checked against the text of a command, which says nothing about what a program does.
   */
  #restrictsIn(directories: readonly string[]): boolean {
    return [...this.#rules.deny, ...this.#rules.ask].some(({ tool, spec }) => {
      const kind = kindOfSpec(tool);
      if (kind === 'write') return true;
      if (kind !== 'read' || spec === undefined) return false;
      const isElsewhere = spec.startsWith('//') && !isWithin(this.#home, spec.slice(1));
      return isElsewhere || directories.some((directory) => this.#paths.matchesBelow(spec, directory));
    });
  }

  /** Whether a rule, or auto-edit for a file in the project, covers every target that asks. */
  #coversAsking(rules: readonly Rule[], call: JudgedCall, asking: readonly Target[]): boolean {
    const covered = this.#coveredBy(rules, call);
    if (covered === 'all') return true;
    const isEdit = call.confirmation !== false && call.confirmation.type === 'edit';
    if (asking.length === 0) return this.mode === 'auto-edit' && isEdit;
    return asking.every((target) => covered.has(target) || (this.mode === 'auto-edit' && isProjectWrite(target)));
  }

  /** Whether a list of permitted tools covers a call: it names the tool, each part of a command, or each host. */
  #coversWhole(rules: readonly Rule[], call: Pick<JudgedCall, 'tool' | 'targets'>): boolean {
    // A host for one tool says nothing about another tool.
    const own = rules.filter(
      ({ tool, spec }) => spec === undefined || kindOfSpec(tool) !== 'host' || tool === call.tool,
    );
    const covered = this.#coveredBy(own, call);
    if (covered === 'all') return true;
    const named = call.targets.filter(({ type, hidden }) => (type === 'command' || type === 'host') && !hidden);
    return named.length > 0 && named.every((target) => covered.has(target));
  }

  /** The targets that the permitting rules cover together. */
  #coveredBy(rules: readonly Rule[], call: Pick<JudgedCall, 'tool' | 'targets'>): 'all' | ReadonlySet<Target> {
    const covered = new Set<Target>();
    for (const rule of rules) {
      const what = this.#cover(rule, call, 'narrow');
      if (what === 'all') return 'all';
      for (const target of what) covered.add(target);
    }
    return covered;
  }

  #cover(rule: Rule, call: Pick<JudgedCall, 'tool' | 'targets'>, reading: Reading): Coverage {
    return coverage(rule, call, reading, this.#paths);
  }

  #parse(texts: readonly string[], { restricts }: { restricts: boolean }): Rule[] {
    return texts.flatMap((text) => {
      const rule = parseRule(text);
      if (typeof rule !== 'string') return [rule];
      this.problems.push(`"${text}": ${rule}`);
      if (restricts) this.#isCautious = true;
      return [];
    });
  }
}

const isGiven = (list: readonly string[] | undefined): boolean => list !== undefined && list.length > 0;
const texts = (list: readonly Rule[]): string[] => list.map(({ text }) => text);
const allow = (reason: string): Verdict => ({ verdict: 'allow', reason });
const ask = (reason: string): Verdict => ({ verdict: 'ask', reason });
const deny = (reason: string): Verdict => ({ verdict: 'deny', reason });
const covers = (what: Coverage): boolean => what === 'all' || what.length > 0;
const isProjectWrite = (target: Target): boolean =>
  target.type === 'path' && target.access === 'write' && target.isInside === true;
const isPlan = (call: JudgedCall): boolean => call.confirmation !== false && call.confirmation.type === 'plan';
