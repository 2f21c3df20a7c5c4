import { readFile } from 'node:fs/promises';
import { defineTool, ToolError } from '@lathe/core';

export const wordCount = defineTool({
  name: 'word_count',
  displayName: 'Word count',
  description: 'Counts the words of a text file.',
  kind: 'read',
  parameterSchema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Absolute path of the file' },
      minimum_length: { type: 'integer', minimum: 1, description: 'Count only words at least this long' },
    },
    required: ['path'],
    additionalProperties: false,
  },

  // `params` is { path: string; minimum_length?: number }: inferred from the schema above.
  validate: ({ path }) => (path.startsWith('/') ? null : `path must be absolute, got ${path}`),
  describe: ({ path }) => `Count the words of ${path}`,
  // What it touches: rules such as read_file(*.env) hold for this tool too.
  targets: ({ path }) => [{ type: 'path', access: 'read', path, asks: false }],

  async execute({ path, minimum_length: minimum = 1 }, signal) {
    const text = await readFile(path, { encoding: 'utf8', signal }).catch((cause: unknown) => {
      throw new ToolError('file_not_found', `Cannot read ${path}; check the path with list_directory.`, { cause });
    });
    const count = text.split(/\s+/).filter((word) => word.length >= minimum).length;
    return { llmContent: `${path} has ${count} words.`, returnDisplay: `**${count}** words` };
  },
});
