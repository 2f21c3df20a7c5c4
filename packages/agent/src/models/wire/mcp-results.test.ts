import { join } from 'node:path';
import { createLathe } from '@lathe/core';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../../testing/temp-directory.js';
import type { ModelRequest } from '../model.js';
import { anthropic } from './anthropic/anthropic.js';
import { gemini } from './gemini/gemini.js';
import { openai } from './openai/openai.js';
import { responses } from './responses/responses.js';
import type { Endpoint } from './wire-format.js';

const server = join(import.meta.dirname, '../../../../../testing/children/rich-mcp-server.mjs');
const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** What a model is sent after a call of a real server that answers: one, an image, two, a sound, three. */
async function request(): Promise<ModelRequest> {
  const lathe = await createLathe({
    cwd: tempDirectory(),
    home: tempDirectory(),
    env: { PATH: process.env['PATH'] },
    isTrusted: true,
    flags: { mcpServers: { rich: { command: process.execPath, args: [server] } }, 'tools.approvalMode': 'yolo' },
  });
  const { signal } = new AbortController();
  expect(await lathe.discover(signal)).toEqual(new Map());
  const [outcome] = await lathe.run([{ id: 'c1', name: 'rich__show', args: {} }], signal);
  await lathe.close();
  return {
    system: '',
    tools: [],
    history: [
      { role: 'user', parts: [{ text: 'look' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'rich__show', args: {} } }] },
      { role: 'tool', parts: [{ functionResponse: outcome?.response ?? {} }] },
    ],
  };
}

function endpoint(provider: string): Endpoint {
  const supports = { tools: true, images: true, pdf: true, audio: provider !== 'anthropic' };
  return { provider, baseUrl: 'https://example.org', model: 'm', supports };
}

const text = (value: string) => ({ type: 'text', text: value });
const withMarks = 'one\n[part 2: image/png, sent below]\ntwo\n[part 4: audio/wav, sent below]\nthree';

test('Anthropic receives five blocks in order', async () => {
  const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } };
  const sound = text('[audio/wav: this model does not accept it]');
  const content = [text('one'), png, text('two'), sound, text('three')];
  expect(anthropic.body(await request(), endpoint('anthropic'))).toMatchObject({
    messages: [{}, {}, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] }],
  });
});

test('servers with the interface of OpenAI receive the texts with marks, then the media in order', async () => {
  expect(openai.body(await request(), endpoint('openai'))).toMatchObject({
    messages: [
      {},
      {},
      { role: 'tool', tool_call_id: 'c1', content: withMarks },
      {
        role: 'user',
        content: [
          text('From rich__show, part 2: image/png:'),
          { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
          text('From rich__show, part 4: audio/wav:'),
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
    ],
  });
});

test('Gemini receives the texts with marks and the media as inline data in order', async () => {
  expect(gemini.body(await request(), endpoint('gemini'))).toMatchObject({
    contents: [
      {},
      {},
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'c1', name: 'rich__show', response: { output: withMarks } } },
          { text: 'From rich__show, part 2: image/png:' },
          { inlineData: { mimeType: 'image/png', data } },
          { text: 'From rich__show, part 4: audio/wav:' },
          { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
        ],
      },
    ],
  });
});

test('the Responses API receives five items in order', async () => {
  const inputText = (value: string) => ({ type: 'input_text', text: value });
  const output = [
    inputText('one'),
    { type: 'input_image', image_url: `data:image/png;base64,${data}`, detail: 'auto' },
    inputText('two'),
    inputText('[audio/wav: this model does not accept it]'),
    inputText('three'),
  ];
  expect(responses.body(await request(), endpoint('openai'))).toMatchObject({
    input: [{}, {}, { type: 'function_call_output', call_id: 'c1', output }],
  });
});
