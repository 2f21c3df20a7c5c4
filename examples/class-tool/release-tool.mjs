import { BaseTool, ToolError } from '@lathe/core';

/** Sets a new version in package.json, after a person has seen the old and the new one. */
export class ReleaseTool extends BaseTool {
  constructor() {
    super({
      name: 'release',
      description: 'Sets a new version in package.json.',
      kind: 'edit',
      parameterSchema: {
        type: 'object',
        properties: { version: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+$' } },
        required: ['version'],
      },
    });
  }

  getDescription({ version }) {
    return `Release ${version}`;
  }

  async shouldConfirmExecute({ version }, _signal, call) {
    const { current } = await readVersion(call);
    return { type: 'info', title: 'Release?', prompt: `${current} becomes ${version}` };
  }

  async execute({ version }, _signal, call) {
    const { text, current } = await readVersion(call);
    if (current === version) throw new ToolError('execution_failed', `The version is ${version} already.`);
    return call.write('package.json', text.replace(`"${current}"`, `"${version}"`));
  }
}

async function readVersion(call) {
  const text = await call.readText('package.json');
  return { text, current: JSON.parse(text).version };
}
