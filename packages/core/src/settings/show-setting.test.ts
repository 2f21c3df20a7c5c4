import { expect, test } from 'vitest';
import type { JsonValue } from './parse-jsonc.js';
import { showSetting } from './show-setting.js';

// SL05
test.each<[string, JsonValue, JsonValue]>([
  ['model.name', 'qwen', 'qwen'],
  ['model.apiKey', 'sk-123', '***'],
  ['model.apiKey', '$KEY', '$KEY'],
  ['model.apiKey', '${KEY}', '${KEY}'],
  ['model.apiKey', 'sk-${KEY}', '***'],
  ['model.baseUrl', 'https://me:pass@host/v1', 'https://***@host/v1'],
  ['model.headers', { A: 'x', B: 'Bearer $T' }, { A: '***', B: 'Bearer $T' }],
  ['webSearch.provider', [{ type: 'tavily', apiKey: 'k' }], [{ type: 'tavily', apiKey: '***' }]],
  ['mcpServers.a', { command: 'x', env: { T: 'y' } }, { command: 'x', env: { T: '***' } }],
  [
    'mcpServers',
    { a: { url: 'http://u:p@h/', headers: { A: 'b' } } },
    { a: { url: 'http://***@h/', headers: { A: '***' } } },
  ],
  ['SOME_VARIABLE', 'value', '***'],
])('%s written as %j is shown as %j', (key, written, shown) => {
  expect(showSetting(key, written)).toEqual(shown);
});
