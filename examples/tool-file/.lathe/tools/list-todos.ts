import { defineTool } from '@lathe/core';

export default defineTool({
  name: 'list_todos',
  description: 'Lists the lines of a file that contain TODO, with their numbers.',
  kind: 'read',
  parameterSchema: {
    type: 'object',
    properties: { path: { type: 'string', description: 'Path of the file' } },
    required: ['path'],
  },
  describe: ({ path }) => `List the TODOs of ${path}`,
  async execute({ path }, _signal, call) {
    const lines = (await call.readText(path)).split('\n');
    const found = lines.flatMap((line, index) => (line.includes('TODO') ? [`${index + 1}: ${line.trim()}`] : []));
    return found.length > 0 ? found.join('\n') : `${path} has no TODO.`;
  },
});
