import type { Confirmation } from '../contract/confirmation.js';
import type { Target } from '../contract/target.js';
import { directCall, type ToolCall } from '../contract/tool-call.js';
import type { CommandRunner } from '../process/run/run-command.js';
import { type ProgramEnding, type ProgramLimits, type ProgramResult, runProgram } from '../process/run/run-program.js';
import type { JsonSchema } from '../text/schema/json-schema.js';
import { plainText } from '../text/visible-text.js';
import type { DefinitionPin } from './definition-pin.js';
import { BaseTool, type ToolResult } from './tools.js';

type Params = Record<string, unknown>;

/** What a discovery command says about a tool. */
export interface DiscoveredDeclaration {
  name: string;
  description: string;
  parameterSchema: JsonSchema;
}

/** How discovered tools are run: `argv` with the tool's name after it. */
export interface CallCommand {
  runner: Pick<CommandRunner, 'startProgram'>;
  argv: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
}

const timeoutMs = 600_000;
const maxBytes = 10 * 1024 * 1024;
const updateMs = 100;

/** A tool of the project's own: found by the discovery command, run by the call command. */
export class DiscoveredTool extends BaseTool<Params> {
  readonly #command: CallCommand;
  readonly #pin: DefinitionPin;

  constructor(declaration: DiscoveredDeclaration, command: CallCommand, pin: DefinitionPin) {
    const { name, description, parameterSchema } = declaration;
    super({ name, displayName: name, description, kind: 'other', parameterSchema, timeoutMs: timeoutMs + 10_000 });
    this.#command = command;
    this.#pin = pin;
  }

  override getDescription(params: Params): string {
    return `${this.name} ${JSON.stringify(params)}`;
  }

  /** Hidden, because a rule for shell commands may forbid the call command but says nothing about what tools do. */
  override async getTargets(): Promise<Target[]> {
    const guarded = await this.#pin.change();
    const words = [...this.#command.argv, this.name];
    // It runs outside the sandbox, so it may send what the model gives it.
    const target = { type: 'command', words, asks: true, hidden: true, sends: { to: 'the network' } } as const;
    return [{ ...target, ...(guarded !== undefined && { guarded }) }];
  }

  override async shouldConfirmExecute(params: Params): Promise<Confirmation> {
    const change = await this.#pin.change();
    const command = [...this.#command.argv, this.name].join(' ');
    return {
      type: 'exec',
      title: `Run the project's tool ${this.name}?`,
      command: `${command} <<< ${JSON.stringify(params)}`,
      rootCommand: this.#command.argv[0] ?? '',
      directory: this.#command.cwd,
      ...(change === undefined ? { rules: [this.name] } : { warnings: [change] }),
    };
  }

  override async execute(params: Params, signal: AbortSignal, call = directCall()): Promise<ToolResult> {
    await this.#pin.accept();
    const { runner, argv, cwd, env } = this.#command;
    const live = liveOutput(call);
    const request = { argv: [...argv, this.name], cwd, env, input: JSON.stringify(params) };
    try {
      return report(await runProgram(runner, request, { timeoutMs, maxBytes, signal, onOutput: live.onOutput }));
    } finally {
      live.stop();
    }
  }
}

function report({ ending, stdout, stderr }: ProgramResult): ToolResult {
  const isSuccess = ending.type === 'exit' && ending.code === 0;
  const warnings = plainText(stderr).trim();
  if (isSuccess) {
    const llmContent = warnings === '' ? stdout : `${stdout}\n[stderr]\n${warnings}`;
    return { llmContent, returnDisplay: llmContent };
  }
  // Labels and order are those of Qwen Code, which models know.
  const text = [
    `Stdout: ${stdout || '(empty)'}`,
    `Stderr: ${warnings || '(empty)'}`,
    `Error: ${problemOf(ending)}`,
    `Exit Code: ${ending.type === 'exit' ? ending.code : '(none)'}`,
    `Signal: ${ending.type === 'signal' ? ending.signal : '(none)'}`,
  ].join('\n');
  const type = ending.type === 'timeout' ? 'execution_timeout' : 'discovered_tool_execution_error';
  return { llmContent: text, returnDisplay: text, error: { type, message: text } };
}

function problemOf(ending: ProgramEnding): string {
  switch (ending.type) {
    case 'timeout':
      return `did not finish within ${ending.ms / 1000} s and was stopped`;
    case 'flood':
      return `printed more than ${ending.bytes} bytes and was stopped`;
    case 'exit':
    case 'signal':
      return '(none)';
  }
}

/** Shows the newest output now and then. */
function liveOutput(call: ToolCall): {
  onOutput: NonNullable<ProgramLimits['onOutput']>;
  stop(): void;
} {
  let timer: NodeJS.Timeout | undefined;
  return {
    onOutput: (output) => {
      timer ??= setTimeout(() => {
        timer = undefined;
        const text = plainText(output.end(4_000).toString('utf8'));
        call.output({ type: 'terminal_output', text, totalBytes: output.totalBytes });
      }, updateMs);
    },
    stop: () => clearTimeout(timer),
  };
}
