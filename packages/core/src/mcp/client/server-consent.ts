import type { ConsentRequest } from '../../scheduler/ask-consent.js';
import type { ServerDefinition } from './server-definition.js';

/** What the user approves before a server of the project starts: exactly what runs, where, with which variables. */
export function serverConsent(definition: ServerDefinition, root: string): ConsentRequest {
  const { name, endpoint, isTrusted, written, plugin } = definition;
  const isLocal = endpoint.type === 'stdio';
  // A plugin is the same in all folders.
  const owner = plugin
    ? { id: plugin.source, title: plugin.source, pin: plugin.pin }
    : { id: root, title: 'this project' };
  const variables = Object.keys(isLocal ? endpoint.env : endpoint.headers);
  const warnings = [
    ...(variables.length > 0 ? [`It receives the ${isLocal ? 'variables' : 'headers'} ${variables.join(', ')}.`] : []),
    ...(isTrusted ? ['Its tools will run without asking ("trust": true).'] : []),
  ];
  return {
    kind: 'mcp-server',
    id: JSON.stringify([owner.id, name]),
    definition: { written, isTrusted, ...('pin' in owner && { pin: owner.pin }) },
    confirmation: {
      type: 'exec',
      title: `Let ${owner.title} ${isLocal ? 'start' : 'connect to'} the MCP server "${name}"?`,
      command: isLocal ? endpoint.argv.map(quoted).join(' ') : `${endpoint.type} ${endpoint.url.href}`,
      rootCommand: isLocal ? (endpoint.argv[0] ?? '') : endpoint.url.host,
      directory: isLocal ? endpoint.cwd : root,
      ...(warnings.length > 0 && { warnings }),
    },
  };
}

/** Quotes an argument so that its end is visible. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}
