import type { DefinitionPins } from '../policy/definition-pins.js';
import { DiscoveredMCPTool } from '../tools/mcp-tool.js';
import type { Rejection, ToolSource } from '../tools/tool-registry.js';
import type { ServerTools } from './list-tools.js';
import type { McpClient } from './mcp-client.js';
import { toolName } from './tool-names.js';

/** The tools of one server. */
export class McpSource implements ToolSource {
  readonly label: string;
  readonly client: McpClient;
  readonly #pins: DefinitionPins;
  /** Servers of different projects may share a name and be different servers. */
  readonly #owner: string;
  #rejections: ServerTools['rejections'] = [];

  constructor(client: McpClient, { pins, root }: { pins: DefinitionPins; root: string }) {
    this.client = client;
    this.label = `MCP server ${client.definition.name}`;
    this.#pins = pins;
    this.#owner = client.definition.isProjects ? root : '';
  }

  rejections(): Rejection[] {
    return this.#rejections.map(({ name, reason }) => ({ source: this.label, name, reason }));
  }

  async discover(signal: AbortSignal): Promise<DiscoveredMCPTool[]> {
    const { alias, name: server } = this.client.definition;
    const { tools, rejections } = await this.client.tools(signal);
    this.#rejections = rejections;
    return [...tools.values()].map(({ listed, definition }) => {
      const id = JSON.stringify(['mcp', this.#owner, server, listed.name]);
      return new DiscoveredMCPTool(toolName(alias, listed.name), listed, this.client, this.#pins.pin(id, definition));
    });
  }
}
