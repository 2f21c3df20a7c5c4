import { BaseTool, type Confirmation, type ToolCall, ToolError } from '@lathe/core';

interface DeployParams {
  environment?: string;
}

const environments = ['staging', 'production'];

export class DeployTool extends BaseTool<DeployParams> {
  readonly #deploy: (version: string, environment: string, signal: AbortSignal) => Promise<void>;

  constructor(deploy: (version: string, environment: string, signal: AbortSignal) => Promise<void>) {
    super({
      name: 'deploy',
      description: 'Deploys this project.',
      kind: 'execute',
      parameterSchema: { type: 'object', properties: { environment: { enum: environments } } },
      timeoutMs: 600_000,
    });
    this.#deploy = deploy;
  }

  override getDescription({ environment = 'a place to be chosen' }: DeployParams): string {
    return `Deploy to ${environment}`;
  }

  // Step 5: what a person must see before the call runs.
  override async shouldConfirmExecute(
    params: DeployParams,
    _signal: AbortSignal,
    call: ToolCall,
  ): Promise<Confirmation> {
    const prompt = `${this.getDescription(params)}: version ${await versionOf(call)}`;
    return { type: 'info', title: 'Deploy?', prompt, rules: ['deploy'] };
  }

  async execute({ environment }: DeployParams, signal: AbortSignal, call: ToolCall): Promise<string> {
    const version = await versionOf(call);
    const place = environment ?? (await chosen(call));
    call.output(`Deploying ${version} to ${place} …`);
    await this.#deploy(version, place, signal);
    const log = await call.readText('deployments.md');
    await call.write('deployments.md', `${log}- ${version} to ${place}\n`);
    return `Deployed ${version} to ${place}.`;
  }
}

async function versionOf(call: ToolCall): Promise<string> {
  const { version }: { version?: string } = JSON.parse(await call.readText('package.json'));
  if (version === undefined) throw new ToolError('execution_failed', 'package.json has no version; add one.');
  return version;
}

async function chosen(call: ToolCall): Promise<string> {
  const answer = await call.ask('Where to?', environments);
  if (answer.status === 'answered' && environments.includes(answer.text)) return answer.text;
  throw new ToolError('execution_denied', 'Nobody chose an environment; call it again with one.');
}
