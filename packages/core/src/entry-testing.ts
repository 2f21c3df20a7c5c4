/** Helpers for tests of tools: scratch directories, and calls through all nine steps with a scripted person. */

export { directCall } from './contract/tool-call.js';
export { runCalls } from './testing/run-calls.js';
export { tempWorkspace } from './testing/temp-workspace.js';
