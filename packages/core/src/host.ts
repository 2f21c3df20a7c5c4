/**
 * Parts for host programs such as our agent and our command line, beyond what people who write tools need. They may
 * change between minor versions.
 */

export { isWithin } from './files/workspace.js';
export type { Hook } from './hooks/hooks.js';
export { matchesName } from './policy/match-name.js';
export { canonicalName } from './policy/rule.js';
export { readBounded } from './settings/read-bounded.js';
export { closestNames } from './text/closest-names.js';
export { parseFrontMatter } from './text/front-matter.js';
export { parseArguments } from './text/parse-arguments.js';
export { redactedJson } from './text/redact.js';
export { boundsProblem } from './text/schema/value-bounds.js';
export { keepEnds } from './text/truncate.js';
export { uniqueId } from './text/unique-id.js';
export { builtIn } from './tools/tool-registry.js';
export { markOrigin } from './web/page/mark-origin.js';
