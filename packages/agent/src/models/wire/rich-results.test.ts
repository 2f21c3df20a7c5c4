import type { CallOutcome } from '@lathe/core';
import { defineTool } from '@lathe/core';
import { runCalls } from '@lathe/core/testing';
import { expect, test } from 'vitest';
import type { Message, ModelRequest } from '../model.js';
import { anthropic } from './anthropic/anthropic.js';
import { gemini } from './gemini/gemini.js';
import { openai } from './openai/openai.js';
import { responses } from './responses/responses.js';
import type { Endpoint } from './wire-format.js';

const image = (data: string) => ({ inlineData: { mimeType: 'image/png', data } });
const audio = { inlineData: { mimeType: 'audio/wav', data: 'SOUND' } };

const shots = defineTool({
  name: 'shots',
  description: 'Takes screenshots.',
  kind: 'read',
  parameterSchema: { type: 'object' },
  execute: async () => ({
    llmContent: ['Screenshot one', image('ONE'), 'Screenshot two', image('TWO'), 'sound', audio, 'end'],
    returnDisplay: '',
  }),
});

function endpoint(provider: string, audioInput = true): Endpoint {
  const supports = { tools: true, images: true, pdf: true, audio: audioInput };
  return { provider, baseUrl: 'https://example.org', model: 'm', supports };
}

async function request(): Promise<ModelRequest> {
  const { outcomes } = await runCalls({ tools: [shots], calls: [{ id: 'c1', name: 'shots' }] });
  return { system: '', tools: [], history: historyOf(outcomes[0]) };
}

function historyOf(outcome: CallOutcome | undefined): Message[] {
  return [
    { role: 'user', parts: [{ text: 'look' }] },
    { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'shots', args: {} } }] },
    { role: 'tool', parts: [{ functionResponse: outcome?.response ?? {} }] },
  ];
}

test('the result of a call has every part in its order', async () => {
  const { outcomes } = await runCalls({ tools: [shots], calls: [{ id: 'c1', name: 'shots' }] });
  expect(outcomes[0]?.response).toEqual({
    id: 'c1',
    name: 'shots',
    response: { output: '' },
    parts: [
      { text: 'Screenshot one' },
      image('ONE'),
      { text: 'Screenshot two' },
      image('TWO'),
      { text: 'sound' },
      audio,
      { text: 'end' },
    ],
  });
});

test('Anthropic receives separate blocks in order, and a sentence for a sound', async () => {
  const png = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
  expect(anthropic.body(await request(), endpoint('anthropic', false))).toMatchObject({
    messages: [
      {},
      {},
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            content: [
              { type: 'text', text: 'Screenshot one' },
              png('ONE'),
              { type: 'text', text: 'Screenshot two' },
              png('TWO'),
              { type: 'text', text: 'sound' },
              { type: 'text', text: '[audio/wav: this model does not accept it]' },
              { type: 'text', text: 'end' },
            ],
          },
        ],
      },
    ],
  });
});

const withMarks = [
  'Screenshot one',
  '[part 2: image/png, sent below]',
  'Screenshot two',
  '[part 4: image/png, sent below]',
  'sound',
  '[part 6: audio/wav, sent below]',
  'end',
].join('\n');

test('servers with the interface of OpenAI receive the text with marks, then the media in one message', async () => {
  const url = (data: string) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } });
  expect(openai.body(await request(), endpoint('openai'))).toMatchObject({
    messages: [
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 'c1', content: withMarks },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From shots, part 2: image/png:' },
          url('ONE'),
          { type: 'text', text: 'From shots, part 4: image/png:' },
          url('TWO'),
          { type: 'text', text: 'From shots, part 6: audio/wav:' },
          { type: 'input_audio', input_audio: { data: 'SOUND', format: 'wav' } },
        ],
      },
    ],
  });
});

test('Gemini receives the text with marks and the media as inline data beside it', async () => {
  expect(gemini.body(await request(), endpoint('gemini'))).toMatchObject({
    contents: [
      {},
      {},
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'shots', response: { output: withMarks } } },
          { text: 'From shots, part 2: image/png:' },
          image('ONE'),
          { text: 'From shots, part 4: image/png:' },
          image('TWO'),
          { text: 'From shots, part 6: audio/wav:' },
          audio,
        ],
      },
    ],
  });
});

test('the Responses API receives every part in its order', async () => {
  const text = (value: string) => ({ type: 'input_text', text: value });
  const shot = (data: string) => ({ type: 'input_image', image_url: `data:image/png;base64,${data}`, detail: 'auto' });
  expect(responses.body(await request(), endpoint('openai'))).toMatchObject({
    input: [
      {},
      {},
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: [
          text('Screenshot one'),
          shot('ONE'),
          text('Screenshot two'),
          shot('TWO'),
          text('sound'),
          text('[audio/wav: this model does not accept it]'),
          text('end'),
        ],
      },
    ],
  });
});
