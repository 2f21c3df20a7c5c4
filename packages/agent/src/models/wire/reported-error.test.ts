import { expect, test } from 'vitest';
import { explainStatus, reportedError, retryAfter } from './reported-error.js';

const now = Date.parse('2026-01-01T00:00:00Z');

// RN04
test.each([
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a fraction', { 'retry-after': '0.5' }, 500],
  ['zero', { 'retry-after': '0' }, 0],
  ['negative', { 'retry-after': '-3' }, undefined],
  ['a date', { 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9_000],
  ['a date gone by', { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, 0],
  ['garbage', { 'retry-after': 'soon' }, undefined],
  ['nothing', {}, undefined],
  ['milliseconds', { 'retry-after-ms': '250', 'retry-after': '7' }, 250],
])('Retry-After as %s', (_, headers, expected) => {
  expect(retryAfter(headers, '', now)).toBe(expected);
});

test('the delay inside an error of Google counts too', () => {
  const body = '{"error":{"code":429,"details":[{"@type":"x"},{"@type":"RetryInfo","retryDelay":"34.5s"}]}}';
  expect(retryAfter({}, body, now)).toBe(34_500);
});

const endpoint = {
  provider: 'x',
  baseUrl: 'https://host/v1',
  apiKey: 'my-own-key-1',
  model: 'm',
  supports: { images: false, tools: true, pdf: false },
};

// SL06
test('messages of a server are cleaned of keys and control characters, and cut', () => {
  const { message } = explainStatus(
    400,
    {},
    JSON.stringify({ error: { message: `\u001b[31mbad my-own-key-1 ${'x'.repeat(2_000)}` } }),
    endpoint,
  );
  expect(message).not.toContain('my-own-key-1');
  expect(message).not.toContain('\u001b');
  expect(message.length).toBeLessThan(600);
});

test.each([
  [{ type: 'overloaded_error', message: 'Overloaded' }, 'overloaded', true],
  [{ code: 429, status: 'RESOURCE_EXHAUSTED' }, 'rate-limit', true],
  [{ code: 'context_length_exceeded', message: 'too long' }, 'too-long', false],
  [{ type: 'invalid_request_error', message: 'prompt is too long: 210000 tokens > 200000 maximum' }, 'too-long', false],
  [{ code: 400, message: 'API key not valid. Please pass a valid API key.' }, 'auth', false],
  ['plain words', 'overloaded', true],
])('an error inside a stream: %j', (error, kind, isTransient) => {
  expect(reportedError(error, endpoint)).toMatchObject({ kind, isTransient });
});
