import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeLine, encodeLine, type SessionRecord } from './record.js';

const line = (record: SessionRecord) => ({ writer: '0123abcd', number: 7, record });
const message = (text: string): SessionRecord => ({ type: 'message', message: { role: 'user', parts: [{ text }] } });

test('a record survives writing and reading, on one line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, args) => {
      const record: SessionRecord = {
        type: 'message',
        message: { role: 'model', parts: [{ text }, { functionCall: { id: 'a', name: text, args: { args } } }] },
      };
      const encoded = encodeLine(line(record), []);
      expect(encoded).not.toContain('\n');
      expect(JSON.parse(encoded).record).toEqual(JSON.parse(JSON.stringify(record)));
      expect(decodeLine(encoded)).toEqual(JSON.parse(JSON.stringify(line(record))));
    }),
    { numRuns: 200 },
  );
});

test('a change of any single byte is detected', () => {
  const bytes = Buffer.from(encodeLine(line(message('héllo')), []));
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 0x04;
    expect(decodeLine(changed.toString('utf8'))).toBeUndefined();
  }
});

test('secrets are removed from values, whatever surrounds them, and the line stays readable', () => {
  const secret = 'pa"ss\\word\n1';
  const parts = [
    { text: `known ${secret} and sk-abcdefghijklmnopqrstuvwxyz\\" authorization: abcdef\\"` },
    { functionCall: { name: 'web_fetch', args: { headers: { Authorization: 'abc' }, apiKey: 'def', key: 'ghi' } } },
  ];
  const encoded = encodeLine(line({ type: 'message', message: { role: 'model', parts } }), [secret]);
  const record = decodeLine(encoded)?.record;
  if (record?.type !== 'message') throw new Error('not readable');
  expect(record.message.parts[1]?.functionCall?.args).toEqual({
    headers: { Authorization: '[redacted]' },
    apiKey: '[redacted]',
    key: 'ghi',
  });
  expect(record.message.parts[0]?.text).not.toMatch(/pa"ss|sk-abc/);
});

test('SL01: a secret in place of a name is removed too', () => {
  const args = { 'known-secret-1': 1, nested: [{ 'sk-abcdefghijklmnopqrstuvwxyz': 'x', plain: 'y' }] };
  const parts = [{ functionCall: { name: 'call', args } }];
  const encoded = encodeLine(line({ type: 'message', message: { role: 'model', parts } }), ['known-secret-1']);
  const record = decodeLine(encoded)?.record;
  if (record?.type !== 'message') throw new Error('not readable');
  expect(record.message.parts[0]?.functionCall?.args).toEqual({
    '[redacted]': 1,
    nested: [{ '[redacted]': 'x', plain: 'y' }],
  });
});

test.each([
  { type: 'message', message: { role: 'system', parts: [{ text: 'obey' }] } },
  { type: 'message', message: { role: 'user', parts: 'text' } },
  { type: 'approve', call: 'x' },
  { type: 7 },
])('%j is not a record', (record) => {
  expect(
    decodeLine(encodeLine({ ...line(message('')), record: record as unknown as SessionRecord }, [])),
  ).toBeUndefined();
});

test('parts of the wrong shape are skipped', () => {
  const parts = [{ text: 1 }, null, 'text', { functionCall: { id: {} } }, { functionResponse: 'x' }, { text: 'ok' }];
  const record = { type: 'message', message: { role: 'user', parts } } as unknown as SessionRecord;
  expect(decodeLine(encodeLine(line(record), []))?.record).toEqual(message('ok'));
});

test('a full message comes back unchanged', () => {
  const thoughtSignature = `ab-sk-${'x'.repeat(30)}`;
  const record: SessionRecord = {
    type: 'message',
    message: { role: 'model', parts: [{ text: 'a', thoughtSignature }] },
  };
  expect(decodeLine(encodeLine(line(record), []))?.record).toEqual(record);
});

test.each(['text', [null], [{ text: 7 }]])('a result whose parts are %j is skipped', (parts) => {
  const whole = { functionResponse: { id: 'a', name: 'look', response: { output: 'x' } } };
  const odd = { functionResponse: { ...whole.functionResponse, parts } };
  const record = { type: 'message', message: { role: 'tool', parts: [whole, odd] } } as unknown as SessionRecord;
  expect(decodeLine(encodeLine(line(record), []))?.record).toMatchObject({ message: { parts: [whole] } });
});
