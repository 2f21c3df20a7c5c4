import { type PartListUnion, toParts } from '../content.js';
import { ToolError } from '../errors.js';
import type { ReadyCall } from './call.js';
import type { CallHooks } from './call-hooks.js';
import { readyCall } from './prepare.js';

/** What hooks made of a call before it is judged: the call to judge, and why a person must be asked, if so. */
export async function askHooks(
  call: ReadyCall,
  hooks: CallHooks,
  signal: AbortSignal,
): Promise<{ call: ReadyCall; ask: string | undefined }> {
  const { callId, tool, params } = call;
  const said = await hooks.before({ callId, tool: tool.name, args: params }, signal);
  if (said.deny !== undefined)
    throw new ToolError('execution_denied', `${tool.name} was not run: a hook refused it (${said.deny}).`);
  if (said.args === undefined) return { call, ask: said.ask };
  const changed = await readyCall(callId, tool, said.args);
  // Calls that change nothing run side by side; this one was taken for such a call.
  if (call.isReadOnly && !changed.isReadOnly)
    throw new ToolError(
      'execution_denied',
      `${tool.name} was not run: a hook turned a call that changes nothing into one that does.`,
    );
  const repairs = [...call.repairs, ...changed.repairs, 'a hook changed the parameters'];
  return { call: { ...changed, repairs }, ask: said.ask };
}

/** The content with a remark behind it. */
export function addRemark(content: PartListUnion, remark: string | undefined): PartListUnion {
  return remark === undefined ? content : [...toParts(content), { text: `\n\n${remark}` }];
}
