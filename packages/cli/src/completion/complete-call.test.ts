import { defineTool, type ToolResult } from '@lathe/core';
import { expect, test } from 'vitest';
import { completeCall } from './complete-call.js';

const nothing = async (): Promise<ToolResult> => ({ llmContent: '', returnDisplay: '' });
const tools = [
  defineTool({
    name: 'paint',
    displayName: 'Paint',
    kind: 'other',
    description: 'Paint a wall.\nSlowly.',
    parameterSchema: {
      type: 'object',
      properties: {
        coats: { type: 'integer' },
        colour: { type: 'string', enum: ['red', 'rose'], description: 'Of the \u001b[31mwall' },
        glossy: { type: 'boolean' },
      },
      required: ['colour'],
    },
    execute: nothing,
  }),
  defineTool({
    name: 'print',
    displayName: 'Print',
    kind: 'other',
    description: 'Print.',
    parameterSchema: { type: 'object' },
    execute: nothing,
  }),
];

/** The texts after each completion. */
const becomes = (typed: string) => {
  const completion = completeCall(typed, tools);
  return completion?.candidates.map(({ insert }) => typed.slice(0, completion.start) + insert);
};

test.each<[string, string[] | undefined]>([
  ['', undefined],
  ['!ls', undefined],
  ['p', ['paint ', 'print ']],
  ['pri', ['print ']],
  ['print', []],
  ['paint ', ['paint colour=', 'paint coats=', 'paint glossy=']],
  ['paint colour=red co', ['paint colour=red coats=']],
  ['paint colour=r', ['paint colour=red ', 'paint colour=rose ']],
  ['paint colour=red', []],
  ['paint glossy=', ['paint glossy=true ', 'paint glossy=false ']],
  ['paint {', ['paint {"colour": ', 'paint {"coats": ', 'paint {"glossy": ']],
  ['paint {"co', ['paint {"colour": ', 'paint {"coats": ']],
  ['paint {"colour": "r', ['paint {"colour": "red"', 'paint {"colour": "rose"']],
  ['paint {"colour": "red", gl', ['paint {"colour": "red", "glossy": ']],
  ['paint {"glossy": t', ['paint {"glossy": true']],
  ['paint {"colour": "red"}', undefined],
  ['nothing ', undefined],
  ['paint constructor=', []],
])('%j completes to %j', (typed, expected) => {
  expect(becomes(typed)).toEqual(expected);
});

test('SF01 text from a schema is shown without control characters', () => {
  const labels = completeCall('paint ', tools)?.candidates.map(({ label, detail = '' }) => `${label} ${detail}`);
  expect(labels?.[0]).toBe('colour required: Of the \\x1b[31mwall');
});
