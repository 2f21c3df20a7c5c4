import { defineTool } from '@lathe/core';

export const wordCount = defineTool({
  name: 'word_count',
  description: 'Counts the words of a text file.',
  kind: 'read',
  parameterSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path of the file' },
      minimum_length: { type: 'integer', minimum: 1, description: 'Count only words at least this long' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  describe: ({ path }) => `Count the words of ${path}`,

  // `params` is { path: string; minimum_length?: number }: inferred from the schema above.
  async execute({ path, minimum_length: minimum = 1 }, _signal, call) {
    const text = await call.readText(path);
    const count = text.split(/\s+/).filter((word) => word.length >= minimum).length;
    return { llmContent: `${path} has ${count} words.`, returnDisplay: `**${count}** words` };
  },
});
