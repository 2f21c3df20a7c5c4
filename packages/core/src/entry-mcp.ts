/** Tools of MCP servers for a registry, and our tools as an MCP server. */

export { TokenStore } from './mcp/auth/token-store.js';
export { createMcp, type McpOptions } from './mcp/client/create-mcp.js';
export type { McpClient } from './mcp/client/mcp-client.js';
export { McpSource, type ServerPrompt } from './mcp/client/mcp-source.js';
export type { Elicitation, ElicitationAnswer, ReverseRequests } from './mcp/client/reverse-requests.js';
export type { ServerDefinition } from './mcp/client/server-definition.js';
export { serveHttp } from './mcp/server/serve-http.js';
export { serveStdio } from './mcp/server/serve-stdio.js';
export { servedTools } from './mcp/server/tool-session.js';
export { DefinitionPins } from './policy/definition-pins.js';
export type { McpServerSettings } from './settings/mcp-server-shape.js';
export { DiscoveredMCPTool } from './tools/mcp-tool.js';
export { newToken, tokenProblem } from './web/server/access-check.js';
