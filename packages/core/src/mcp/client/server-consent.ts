import type { ConsentRequest } from '../../scheduler/ask-consent.js';
import { variablesIn } from '../../settings/shape.js';
import type { ServerDefinition } from './server-definition.js';

/** What the user approves before a server of the project starts: exactly what runs, where, with which variables. */
export function serverConsent(definition: ServerDefinition, root: string): ConsentRequest {
  const { name, endpoint, isTrusted, written, isClients } = definition;
  const isLocal = endpoint.type === 'stdio';
  const owner = ownerOf(definition, root);
  const warnings = warningsOf(definition);
  return {
    kind: 'mcp-server',
    ...(isClients && { owner: owner.title }),
    id: JSON.stringify([owner.id, name]),
    definition: { written, isTrusted, ...('pin' in owner && { pin: owner.pin }) },
    confirmation: {
      type: 'exec',
      title: `Let ${owner.title} ${isLocal ? 'start' : 'connect to'} the MCP server ${JSON.stringify(name)}?`,
      command: isLocal ? endpoint.argv.map(quoted).join(' ') : `${endpoint.type} ${endpoint.url.href}`,
      rootCommand: isLocal ? (endpoint.argv[0] ?? '') : endpoint.url.host,
      directory: isLocal ? endpoint.cwd : root,
      ...(warnings.length > 0 && { warnings }),
    },
  };
}

function warningsOf({ endpoint, isTrusted, written, isClients }: ServerDefinition): string[] {
  const isLocal = endpoint.type === 'stdio';
  const given = Object.keys(isLocal ? endpoint.env : endpoint.headers);
  const taken = isClients ? [] : variablesIn(JSON.stringify(written));
  return [
    ...(given.length > 0
      ? [`It receives the ${isLocal ? 'variables' : 'headers'} ${given.map(quoted).join(', ')}.`]
      : []),
    ...(taken.length > 0 ? [`It gets the values of your variables ${taken.join(', ')}.`] : []),
    ...(isTrusted ? ['Its tools will run without asking ("trust": true).'] : []),
  ];
}

/** A plugin is the same in all folders. */
function ownerOf({ plugin, isClients }: ServerDefinition, root: string) {
  if (plugin) return { id: plugin.source, title: plugin.source, pin: plugin.pin };
  return { id: root, title: isClients ? 'your editor' : 'this project' };
}

/** Quotes an argument so that its end is visible. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}
