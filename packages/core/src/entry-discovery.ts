/** Tools that a command declares and another one runs, and tools as files, for a registry. */

export { DiscoverySource } from './discovery/discovery-source.js';
export { ToolFiles } from './discovery/tool-files.js';
export { DefinitionPins } from './policy/definition-pins.js';
export { DiscoveredTool } from './tools/discovered-tool.js';
