import type { ToolCall } from '../contract/tool-call.js';
import type { AnyTool } from '../tools/tools.js';

/** A call that passed steps 2 to 4. `params` fit the tool's schema, which `never` stands for. */
export interface ReadyCall {
  call: ToolCall;
  tool: AnyTool;
  params: never;
  description: string;
  isReadOnly: boolean;
  repairs: readonly string[];
}
