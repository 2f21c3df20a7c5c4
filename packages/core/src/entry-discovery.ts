/** Tools that a command declares and another one runs, for a registry. */

export { DiscoverySource } from './discovery/discovery-source.js';
export { DefinitionPins } from './policy/definition-pins.js';
export { DiscoveredTool } from './tools/discovered-tool.js';
