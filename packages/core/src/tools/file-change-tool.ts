import { Yielder } from '../async/yielder.js';
import type { Confirmation } from '../contract/confirmation.js';
import { textOf } from '../contract/content.js';
import { ToolError } from '../contract/errors.js';
import type { Target } from '../contract/target.js';
import { CallSlot, directCall } from '../contract/tool-call.js';
import { absolutePathProblem, judgedPath, judgePath, pathTarget } from '../files/access/judged-paths.js';
import { confirmChange, displayChange, hardLinkNote, textsOf } from '../files/edit/change-report.js';
import { type ChangeView, type TextChange, viewChange } from '../files/edit/change-view.js';
import { applySplices } from '../files/edit/splice.js';
import type { Workspace } from '../files/workspace.js';
import type { FileChanges } from '../files/write/file-changes.js';
import type { Snapshot } from '../files/write/file-snapshot.js';
import { firstFew, hiddenPlaces } from '../text/visible-text.js';
import { BaseTool, type Change, type ToolIdentity, type ToolResult } from './tools.js';

/** What a person was shown for a call that has not run yet: exactly this is done if the file is still the same. */
interface Proposal<C extends TextChange> {
  /** The hash of the file as it was shown; `null` when there was none. */
  base: string | null;
  change: C;
  view: ChangeView;
  /** Absent when the text is too large, or too odd, for an editor. */
  texts: { oldText: string; newText: string } | undefined;
}

/** A change as whole texts; `before` is `null` when there was no file. */
export interface CheckedChange {
  path: string;
  before: string | null;
  after: string;
}

/** A check of one change, which began before the file was written. */
export interface ChangeCheck {
  /** The file is written: says which problems are new, in lines for the model; empty when there is nothing to say. */
  report(signal: AbortSignal): Promise<string>;
  /** The file was not written. */
  cancel(): void;
}

/** Looks for the problems that changes make, in a time that is bounded. */
export interface ChangeChecks {
  /** `undefined` when nothing checks such files. */
  begin(change: CheckedChange): ChangeCheck | undefined;
}

/** What the model had proposed, when a person changed it. */
const rewritten = new CallSlot<string>();

/** A change that has been decided on. */
export interface PlannedChange<P, C extends TextChange> {
  params: P;
  path: string;
  /** The file as it is before; `null` when there is none. */
  current: Snapshot | null;
  change: C;
  /** What the model had proposed, when a person changed it. */
  proposed: string | undefined;
  yielder: Yielder;
}

/**
 * The base of the tools that change one file. A subclass says what would change (`plan`) and what to tell the model
 * (`report`); confirming exactly that, doing exactly what was confirmed and showing it is the same for all.
 */
export abstract class FileChangeTool<P extends { file_path: string }, C extends TextChange> extends BaseTool<P> {
  protected readonly workspace: Workspace;
  protected readonly changes: FileChanges;
  readonly #checks: ChangeChecks | undefined;
  readonly #proposal = new CallSlot<Proposal<C>>();

  constructor(
    identity: Omit<ToolIdentity, 'kind'>,
    { workspace, changes, checks }: { workspace: Workspace; changes: FileChanges; checks: ChangeChecks | undefined },
  ) {
    super({ ...identity, kind: 'edit' });
    this.workspace = workspace;
    this.changes = changes;
    this.#checks = checks;
  }

  /** What the call would do to this content. Every reason not to do it is thrown. */
  protected abstract plan(current: Snapshot | null, params: P, path: string, yielder: Yielder): Promise<C>;

  /** The facts for the model. */
  protected abstract report(planned: PlannedChange<P, C>): Promise<string>;

  /** The call that replaces what was shown by a person's own text. */
  protected abstract rewrite(params: P, shown: { oldText: string; newText: string }, content: string): P;

  protected override validateToolParamValues({ file_path }: P): string | null {
    const problem = absolutePathProblem('file_path', file_path, this.workspace);
    return problem ?? (file_path.endsWith('/') ? 'file_path must name a file, not a directory' : null);
  }

  override async getTargets(params: P, call = directCall()): Promise<Target[]> {
    const location = await judgePath(this.workspace, call, params.file_path);
    // A change reveals the old content, so a rule against reading the file applies as well.
    const read: Target = { type: 'path', access: 'read', path: location.path, asks: false, hidden: true };
    const targets: Target[] = [pathTarget(location, 'write'), read];
    // What cannot be seen is asked for, whatever a rule or a mode says about the place.
    const why = hiddenTextIn(params, location.path);
    if (why !== undefined)
      targets.push({ type: 'path', access: 'write', path: location.path, asks: true, hidden: true, why });
    return targets;
  }

  override async shouldConfirmExecute(params: P, signal: AbortSignal, call = directCall()): Promise<Confirmation> {
    const location = await judgePath(this.workspace, call, params.file_path);
    const current = await this.changes.read(location.path, signal);
    const { asks, sensitive } = pathTarget(location, 'read');
    if (current !== null && (asks || sensitive !== undefined)) this.#refuseUnread(current);
    const proposal = await this.#propose(current, params, location.path, new Yielder(signal));
    this.#proposal.set(call, proposal);
    const what = { tool: this.name, title: this.displayName, asked: params.file_path, location, current };
    return confirmChange(this.workspace, what, proposal.view, proposal.texts);
  }

  override applyChange(params: P, change: Change, call = directCall()): P {
    const shown = this.#proposal.get(call)?.texts;
    if (change.type !== 'content' || !shown) throw new Error(`${this.name} offered no text to change`);
    rewritten.set(call, rewritten.get(call) ?? shown.newText);
    return this.rewrite(params, shown, change.content);
  }

  async execute(params: P, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    const { path } = await judgedPath(this.workspace, call, params.file_path, 'write');
    const shown = this.#proposal.get(call);
    let result: ToolResult = { llmContent: '', returnDisplay: '' };
    let check: ChangeCheck | undefined;
    const decide = async (current: Snapshot | null) => {
      const yielder = new Yielder(signal);
      // The file is what it was when it was shown, or the change would have been refused.
      const { change, view, texts } = shown ?? (await this.#propose(current, params, path, yielder));
      const planned = { params, path, current, change, proposed: rewritten.get(call), yielder };
      result = await this.#resultOf(planned, view, texts);
      if (current !== null && change.splices.length === 0) return undefined;
      if (texts) check = this.#checks?.begin({ path, before: current && texts.oldText, after: texts.newText });
      return applySplices(change.text.bytes, change.splices);
    };
    let note = '';
    try {
      note = await this.changes.change({
        path,
        tool: this.name,
        signal,
        ...(shown && { approved: shown.base }),
        decide,
      });
    } catch (error) {
      check?.cancel();
      throw error;
    }
    if (note !== '') result = { ...result, llmContent: `${textOf(result.llmContent)} (${note})` };
    return check === undefined ? result : withProblems(result, await check.report(signal));
  }

  /** Why an edit fails, and whether it does, tells what is in a file, and this one nobody may read unasked. */
  #refuseUnread(current: Snapshot): void {
    if (['all', 'part'].includes(this.changes.knowledgeOf(current))) return;
    const message = `${current.path} cannot be read without approval. Read it first, then change it.`;
    throw new ToolError('edit_requires_prior_read', message);
  }

  async #propose(current: Snapshot | null, params: P, path: string, yielder: Yielder): Promise<Proposal<C>> {
    const change = await this.plan(current, params, path, yielder);
    const view = await viewChange(change, this.#names(path, current), yielder);
    return { base: current?.hash ?? null, change, view, texts: textsOf(change) };
  }

  async #resultOf(planned: PlannedChange<P, C>, view: ChangeView, texts: Proposal<C>['texts']): Promise<ToolResult> {
    const { path, current, proposed } = planned;
    const parts = { current, view, texts, ...(proposed !== undefined && { proposed }) };
    const note = current !== null && current.otherNames > 0 ? ` (${hardLinkNote(current)}.)` : '';
    return { llmContent: (await this.report(planned)) + note, returnDisplay: await displayChange(path, parts) };
  }

  #names(path: string, current: Snapshot | null): { oldName: string | null; newName: string } {
    const name = this.workspace.display(path);
    return { oldName: current && name, newName: name };
  }
}

/** The model reads the problems below the facts of the change, a person below the diff. */
function withProblems(result: ToolResult, problems: string): ToolResult {
  if (problems === '') return result;
  const { llmContent, returnDisplay } = result;
  const isDiff = typeof returnDisplay === 'object' && returnDisplay.type === 'file_diff';
  return {
    ...result,
    llmContent: `${textOf(llmContent)}\n\n${problems}`,
    returnDisplay: isDiff ? { ...returnDisplay, problems } : returnDisplay,
  };
}

/** Names the invisible characters of a call; `path` is where its path leads. */
function hiddenTextIn({ file_path, ...rest }: { file_path: string }, path: string): string | undefined {
  const texts = Object.entries(rest).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  // In an edit, a byte order mark is at the start of the file if the old text has it too, or there is none.
  const startsFile = texts.every(([, text]) => text === '' || text.startsWith('\ufeff'));
  const contents = texts.map(([name, text]): [string, string] => [
    name,
    startsFile ? text.replace('\ufeff', '') : text,
  ]);
  const places = [['file_path', file_path], ['file_path', path], ...contents].flatMap(([name, text = '']) =>
    hiddenPlaces(text.replaceAll('\r\n', '\n')).map((place) => `${place} of ${name}`),
  );
  if (places.length === 0) return undefined;
  return `it contains invisible or control characters: ${firstFew(places)}; where they are meant, write them as escape sequences`;
}
