import { expect, test } from 'vitest';
import { questionContent } from './permission-approver.js';

test('a question about a long diff shows all of it', () => {
  const fileDiff = `${'+a\n'.repeat(20_000)}+hidden in the middle\n${'+b\n'.repeat(20_000)}`;
  const confirmation = { type: 'edit' as const, title: 'Apply?', fileName: '2 files', filePath: '/work', fileDiff };
  const about = { callId: '1', tool: 'apply_changes', displayName: 'Apply', description: '', args: {}, reason: '' };
  const [shown] = questionContent({ ...about, confirmation });
  expect(JSON.stringify(shown)).toContain('+hidden in the middle');
});
