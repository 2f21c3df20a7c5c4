import type { Part } from '../../contract/content.js';
import type { DefinitionPins } from '../../policy/definition-pins.js';
import { sanitizeDescription } from '../../text/sanitize-definition.js';
import { hasHiddenText } from '../../text/visible-text.js';
import { DiscoveredMCPTool, resultOf } from '../../tools/mcp-tool.js';
import type { Rejection, ToolSource } from '../../tools/tool-registry.js';
import { contentToParts, resourceToParts } from './content-to-parts.js';
import { type KnownTools, serverKey } from './known-tools.js';
import { readTools, type ServerTools } from './list-tools.js';
import type { McpClient, ServerList } from './mcp-client.js';
import { toolName } from './tool-names.js';

const maxUriChars = 1_000;

/** A prompt of a server, which the user can call. */
export interface ServerPrompt {
  name: string;
  title: string;
  description: string;
  parameters: { name: string; isRequired: boolean }[];
}

/** A resource of a server, which the user can mention. */
export interface ServerResource {
  uri: string;
  title: string;
}

interface McpSourceOptions {
  pins: DefinitionPins;
  root: string;
  knownTools?: KnownTools;
  /** Whether the server starts without a question. */
  mayStart: () => Promise<boolean>;
}

/** The tools of one server for the model, and its prompts and resources for the user. */
export class McpSource implements ToolSource {
  readonly label: string;
  readonly client: McpClient;
  readonly #pins: DefinitionPins;
  /** Different projects may use the same name for different servers. */
  readonly #owner: string;
  readonly #knownTools: KnownTools | undefined;
  readonly #mayStart: () => Promise<boolean>;
  readonly #listeners = new Set<(list: ServerList) => void>();
  #rejections: ServerTools['rejections'] = [];

  constructor(client: McpClient, { pins, root, knownTools, mayStart }: McpSourceOptions) {
    this.client = client;
    this.label = `MCP server ${client.definition.name}`;
    this.#pins = pins;
    this.#knownTools = knownTools;
    this.#mayStart = mayStart;
    this.#owner = client.definition.isProjects ? root : (client.definition.plugin?.source ?? '');
  }

  rejections(): Rejection[] {
    return this.#rejections.map(({ name, reason }) => ({ source: this.label, name, reason }));
  }

  async discover(signal: AbortSignal): Promise<DiscoveredMCPTool[]> {
    const listed = await this.client.tools(signal);
    this.#knownTools?.set(
      this.#key(),
      [...listed.tools.values()].map(({ sent }) => sent),
    );
    return this.#toTools(listed);
  }

  /** The tools that the server had in an earlier session. It is not started, but it must be allowed to start. */
  async known(): Promise<DiscoveredMCPTool[] | undefined> {
    const sent = await this.#knownTools?.get(this.#key());
    if (sent === undefined || !(await this.#mayStart())) return undefined;
    return this.#toTools(await readTools(sent, this.client.definition));
  }

  #key(): string {
    return serverKey(this.#owner, this.client.definition);
  }

  #toTools({ tools, rejections }: ServerTools): DiscoveredMCPTool[] {
    const { alias, name: server } = this.client.definition;
    this.#rejections = rejections;
    return [...tools.values()].map(({ listed, definition }) => {
      const id = JSON.stringify(['mcp', this.#owner, server, listed.name]);
      return new DiscoveredMCPTool(toolName(alias, listed.name), listed, this.client, this.#pins.pin(id, definition));
    });
  }

  /** What its prompts and resources bring into a session. What a trusted server returns counts as the person's own. */
  get brings(): { what: string; from: string } | undefined {
    return this.client.isTrusted ? undefined : resultOf(this.client.serverName);
  }

  /** The content that replaces `@server:uri` in a prompt. */
  async readResource(uri: string, signal: AbortSignal): Promise<Part[]> {
    return resourceToParts(await this.client.resource(uri, signal));
  }

  /** Registers a listener for changes of the server's prompts or resources. */
  onListChanged(listener: (list: ServerList) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  listChanged(list: ServerList): void {
    for (const listener of this.#listeners) listener(list);
  }

  /** The server's resources whose URIs the user can see and type. */
  async resources(signal: AbortSignal): Promise<ServerResource[]> {
    const resources = await this.client.resources(signal);
    return resources
      .filter(({ uri }) => uri.length <= maxUriChars && !/\s/.test(uri) && !hasHiddenText(uri))
      .map(({ uri, name, title }) => ({ uri, title: sanitizeDescription(title ?? name, 100) }));
  }

  /** The server's prompts, for slash commands. */
  async prompts(signal: AbortSignal): Promise<ServerPrompt[]> {
    const prompts = await this.client.prompts(signal);
    return prompts.map(({ name, title, description = '', arguments: parameters = [] }) => ({
      name: sanitizeDescription(name, 100),
      title: sanitizeDescription(title ?? name, 100),
      description: sanitizeDescription(description, 1_000),
      parameters: parameters.map((entry) => ({ name: entry.name, isRequired: entry.required === true })),
    }));
  }

  /** All messages of a prompt in order. */
  async getPrompt(name: string, args: Record<string, string>, signal: AbortSignal): Promise<Part[]> {
    const { messages } = await this.client.prompt(name, args, signal);
    return contentToParts({ content: messages.map(({ content }) => content) }).parts;
  }
}
