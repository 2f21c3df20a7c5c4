import type { DefinitionPins } from '../policy/definition-pins.js';
import { type ProgramEnding, runProgram } from '../process/run/run-program.js';
import type { ConsentGate, ConsentRequest } from '../scheduler/ask-consent.js';
import { sanitizeDescription } from '../text/sanitize-definition.js';
import { splitArguments } from '../text/split-arguments.js';
import { plainText } from '../text/visible-text.js';
import { type CallCommand, DiscoveredTool } from '../tools/discovered-tool.js';
import type { Rejection, ToolSource } from '../tools/tool-registry.js';
import { type Declarations, readDeclarations } from './read-declarations.js';

export interface DiscoveryOptions extends Omit<CallCommand, 'argv'> {
  /** `tools.toolDiscoveryCommand`. */
  discoveryCommand: string;
  /** `tools.toolCallCommand`. */
  callCommand: string | undefined;
  /** The user's home folder, for `~/`. */
  home: string;
  pins: DefinitionPins;
  /** Asks before the command first runs; not set if the commands come from the user's own settings. */
  gate?: ConsentGate;
}

const timeoutMs = 10_000;
const maxBytes = 10 * 1024 * 1024;

/** Tools that one command of the project declares and another one runs. */
export class DiscoverySource implements ToolSource {
  static readonly label = 'discovery command';
  readonly label = DiscoverySource.label;
  readonly #options: DiscoveryOptions;
  #skipped: Declarations['skipped'] = [];

  constructor(options: DiscoveryOptions) {
    this.#options = options;
  }

  rejections(): Rejection[] {
    return this.#skipped.map(({ name, reason }) => ({
      source: this.label,
      name: sanitizeDescription(name, 100),
      reason,
    }));
  }

  async discover(signal: AbortSignal): Promise<DiscoveredTool[]> {
    const { gate, pins, runner, cwd, env } = this.#options;
    const request = this.#consentRequest();
    await gate?.pass(request, signal);
    const { discovery, call } = request.definition;
    const result = await runProgram(runner, { argv: discovery, cwd, env, input: '' }, { timeoutMs, maxBytes, signal });
    const problem = problemOf(result.ending);
    const stderr = plainText(result.stderr).trim().slice(-500);
    if (problem !== undefined)
      throw new Error(`The discovery command ${problem}.${stderr === '' ? '' : ` It said: ${stderr}`}`);
    const { tools, skipped } = readDeclarations(result.stdout);
    this.#skipped = skipped;
    const command = { runner, cwd, env, argv: call };
    return tools.map(
      (tool) => new DiscoveredTool(tool, command, pins.pin(`discovery ${cwd} ${tool.name}`, { ...tool })),
    );
  }

  /** Nothing while its commands cannot be read, which `discover` tells. */
  consentRequests(): ConsentRequest[] {
    try {
      return [this.#consentRequest()];
    } catch {
      return [];
    }
  }

  /** What the user approves: both commands, because the second one runs whatever the model requests. */
  #consentRequest() {
    const { discoveryCommand, callCommand, cwd } = this.#options;
    const discovery = this.#words('tools.toolDiscoveryCommand', discoveryCommand);
    const call = this.#words('tools.toolCallCommand', callCommand ?? '');
    return {
      kind: 'discovery-command',
      id: cwd,
      definition: { discovery, call },
      confirmation: {
        type: 'exec',
        title: 'Let this project add tools by running its commands?',
        command: `${discoveryCommand}\n${callCommand ?? ''} <tool>`,
        rootCommand: discovery[0] ?? '',
        directory: cwd,
      },
    } as const;
  }

  #words(key: string, command: string): string[] {
    const split = splitArguments(command, { home: this.#options.home });
    if (split.ok) return split.words;
    throw new Error(command === '' ? `${key} is not set, so no tool could run.` : `${key}: ${split.problem}.`);
  }
}

function problemOf(ending: ProgramEnding): string | undefined {
  switch (ending.type) {
    case 'exit':
      return ending.code === 0 ? undefined : `exited with code ${ending.code}`;
    case 'signal':
      return `was killed by ${ending.signal}`;
    case 'timeout':
      return `did not finish within ${ending.ms / 1000} s and was stopped`;
    case 'flood':
      return `printed more than ${ending.bytes} bytes and was stopped`;
  }
}
