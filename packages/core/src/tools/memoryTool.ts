import { basename } from 'node:path';
import type { XStatic } from 'typebox/schema';
import { Yielder } from '../async/yielder.js';
import type { Confirmation } from '../contract/confirmation.js';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { CallSlot, directCall } from '../contract/tool-call.js';
import { pathTarget } from '../files/access/judged-paths.js';
import { confirmChange } from '../files/edit/change-report.js';
import { type ChangeView, type TextChange, viewChange } from '../files/edit/change-view.js';
import { emptyText, textOfSnapshot } from '../files/edit/plan-edit.js';
import { planWrite } from '../files/edit/plan-write.js';
import { applySplices } from '../files/edit/splice.js';
import type { Location, Workspace } from '../files/workspace.js';
import type { FileChanges } from '../files/write/file-changes.js';
import type { Snapshot } from '../files/write/file-snapshot.js';
import { visibleText } from '../text/visible-text.js';
import { BaseTool, type Change, type ToolResult } from './tools.js';

const scopes = ['global', 'project'] as const;
type Scope = (typeof scopes)[number];

const maxFactChars = 1000;

const parameterSchema = {
  type: 'object',
  properties: {
    fact: { type: 'string', pattern: '\\S', maxLength: maxFactChars, description: 'One short sentence' },
    scope: { enum: scopes, description: 'Left out: the user chooses' },
  },
  required: ['fact'],
  additionalProperties: false,
} as const;

type MemoryParams = XStatic<typeof parameterSchema>;

/** The hash of each file when a person saw the diff; `null` when there was none. */
const shown = new CallSlot<ReadonlyMap<Scope, string | null>>();

/** The file that each scope is kept in. */
export type MemoryFiles = Readonly<Record<Scope, () => Promise<string>>>;

/** `save_memory`: a fact for later sessions, in a section of its own of a context file. A person sees the diff first. */
export class MemoryTool extends BaseTool<MemoryParams> {
  readonly #workspace: Workspace;
  readonly #changes: FileChanges;
  readonly #files: MemoryFiles;

  constructor(workspace: Workspace, changes: FileChanges, files: MemoryFiles) {
    super({
      name: 'save_memory',
      displayName: 'SaveMemory',
      description:
        'Remember a fact about the user or project in later sessions. Only when asked to, or clearly of lasting use.',
      kind: 'think',
      parameterSchema,
    });
    this.#workspace = workspace;
    this.#changes = changes;
    this.#files = files;
  }

  override getDescription({ fact, scope }: MemoryParams): string {
    return `Remember${scope ? ` (${scope})` : ''}: ${factLine(fact).slice(2)}`;
  }

  override async getTargets({ scope }: MemoryParams): Promise<Target[]> {
    const locations = await Promise.all(scopesOf(scope).map((each) => this.#locate(each)));
    // Remembering always asks: what is remembered speaks to every later session.
    return locations.map((location) => ({ ...pathTarget(location, 'write'), asks: true, isInside: false }));
  }

  override async shouldConfirmExecute(
    params: MemoryParams,
    signal: AbortSignal,
    call = directCall(),
  ): Promise<Confirmation> {
    const plans = await Promise.all(scopesOf(params.scope).map((scope) => this.#propose(scope, params, signal)));
    shown.set(call, new Map(plans.map(({ scope, current }) => [scope, current?.hash ?? null])));
    const [first] = plans;
    if (!first) throw new Error('there is always a scope');
    const { location, current, view } = first;
    const change = { tool: this.name, title: 'Remember this?', asked: location.path, location, current };
    const {
      rules: _never,
      newContent: _text,
      ...confirmation
    } = confirmChange(this.#workspace, change, view, undefined);
    if (params.scope !== undefined) return confirmation;
    return {
      ...confirmation,
      title: 'Remember this? Choose where',
      fileDiff: plans.map((plan) => plan.view.diff).join('\n'),
      choices: plans.map((plan) => ({ id: plan.scope, label: `${labels[plan.scope]} (${plan.location.path})` })),
    };
  }

  override applyChange(params: MemoryParams, change: Change): MemoryParams {
    const scope = change.type === 'choice' ? scopes.find((known) => known === change.choice) : undefined;
    if (scope === undefined)
      throw new ToolError('invalid_tool_params', 'Choose where to remember it: global or project.');
    return { fact: params.fact, scope };
  }

  async execute({ fact, scope }: MemoryParams, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    if (scope === undefined)
      throw new ToolError('memory_tool_execution_error', 'Nobody chose a scope. Say global or project.');
    const location = await this.#locate(scope);
    const approved = shown.get(call)?.get(scope);
    let message = `Already remembered in ${location.path}.`;
    await this.#changes.change({
      path: location.path,
      tool: this.name,
      signal,
      ...(approved !== undefined && { approved }),
      decide: async (current) => {
        const plan = await planFact(current, fact, signal);
        if (plan === null) return undefined;
        message = `Remembered in ${location.path}: ${factLine(fact).slice(2)}`;
        return applySplices(plan.text.bytes, plan.splices);
      },
    });
    return { llmContent: message, returnDisplay: message };
  }

  async #propose(scope: Scope, { fact }: MemoryParams, signal: AbortSignal) {
    const location = await this.#locate(scope);
    const current = await this.#changes.read(location.path, signal);
    const plan = await planFact(current, fact, signal);
    const name = this.#workspace.display(location.path);
    const names = { oldName: current && name, newName: name };
    const view: ChangeView = plan ? await viewChange(plan, names, new Yielder(signal)) : unchanged(name);
    return { scope, location, current, view };
  }

  async #locate(scope: Scope): Promise<Location> {
    return this.#workspace.locate(await this.#files[scope]());
  }
}

const labels: Record<Scope, string> = { global: 'For all projects', project: 'For this project' };
const scopesOf = (scope: Scope | undefined): readonly Scope[] => (scope === undefined ? scopes : [scope]);

/** What writing the fact does to the file; `null` when it is there already. */
async function planFact(current: Snapshot | null, fact: string, signal: AbortSignal): Promise<TextChange | null> {
  const text = current === null ? await emptyText() : await textOfSnapshot(current);
  const changed = withFact(text.codec.decode(text.bytes.subarray(text.encoding.bom.length)), factLine(fact));
  return changed === null ? null : planWrite(current, changed, new Yielder(signal));
}

function unchanged(name: string): ChangeView {
  const diff = `(${basename(name)} has this fact already)\n`;
  return { diff, isCut: false, addedLines: 0, removedLines: 0, addedChars: 0, removedChars: 0 };
}

const ownHeading = '## Lathe Added Memories';
const headings = [ownHeading, '## Qwen Added Memories'];

/**
 * A fact as one list item and nothing else: line breaks, headings, comments and imports are removed, and invisible
 * characters become visible.
 */
export function factLine(fact: string): string {
  const oneLine = visibleText(fact.replace(/\s+/g, ' ').trim())
    .replace(/^(?:[-*+#>]+\s*)+/, '')
    .replaceAll('<!--', '<\\!--')
    .replaceAll('```', "'''")
    .replace(/(^|\s)@/g, '$1\\@');
  return `- ${oneLine}`;
}

/** `text` with the line at the end of its memory section, which is added if missing; `null` if the line exists already. */
export function withFact(text: string, line: string): string | null {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  const start = lines.findIndex((candidate) => headings.includes(candidate.trim()));
  if (start === -1) {
    const before = lines.length > 0 ? [...lines, ''] : [];
    return [...before, ownHeading, '', line, ''].join(eol);
  }
  const next = lines.findIndex((candidate, index) => index > start && /^#{1,2}\s/.test(candidate));
  const end = next === -1 ? lines.length : next;
  if (lines.slice(start, end).some((known) => known.trim().toLowerCase() === line.trim().toLowerCase())) return null;
  let last = end;
  while (last > start + 1 && lines[last - 1]?.trim() === '') last--;
  return [...lines.slice(0, last), line, ...lines.slice(last), ''].join(eol);
}
