import { expect, test } from 'vitest';
import { omissionIn } from './plan-edit.js';

test.each([
  '// ... existing code ...',
  '  # ... rest of the code unchanged',
  '/* ... rest of file ... */',
  '<!-- rest of the file unchanged -->',
  '... (rest of the code omitted)',
  '// rest of code unchanged',
  '# … remaining methods …',
  '-- rest of the implementation remains the same',
  '{/* ... existing imports ... */}',
  '// (existing code here)',
  '# Rest of the file stays unchanged.',
])('%s is a placeholder', (line) => {
  expect(omissionIn(`a\n${line}\nb`)).toBe(line);
});

test.each([
  '// the rest of the arguments are parsed below by yargs',
  'const rest = [...other];',
  'f(...args)',
  '...rest',
  '...',
  '# unchanged',
  'The code is the same.',
  '// existing code',
  'other methods',
  'expect(x).toBe("... existing code ..." + y)',
  '// Loads the file here',
])('%s is not', (line) => {
  expect(omissionIn(line)).toBeUndefined();
});
