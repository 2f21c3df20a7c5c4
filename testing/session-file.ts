/** How a session is written down, for tests that plant one. */
export { encodeLine, type SessionRecord } from '../packages/agent/src/session/record.js';
