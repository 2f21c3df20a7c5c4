import fc from 'fast-check';
import { expect, test } from 'vitest';
import { factLine, withFact } from './memoryTool.js';

test.each([
  ['likes tabs', '- likes tabs'],
  ['  - likes tabs  ', '- likes tabs'],
  ['# Heading\n\n## Other', '- Heading ## Other'],
  ['a\r\nb\u2028c', '- a b c'],
  ['see @/etc/passwd and me@x.org', '- see \\@/etc/passwd and me@x.org'],
  ['@AGENTS.md', '- \\@AGENTS.md'],
  ['<!-- hide', '- <\\!-- hide'],
  ['```sh', "- '''sh"],
  ['zero\u200bwidth', '- zero\\u{200b}width'],
])('%j becomes %j', (fact, line) => {
  expect(factLine(fact)).toBe(line);
});

test.each([
  ['', '## Lathe Added Memories\n\n- new\n'],
  ['# Project', '# Project\n\n## Lathe Added Memories\n\n- new\n'],
  ['# Project\n', '# Project\n\n## Lathe Added Memories\n\n- new\n'],
  ['## Lathe Added Memories\n\n- old\n', '## Lathe Added Memories\n\n- old\n- new\n'],
  ['## Qwen Added Memories\n- old\n\n## Next\ntext\n', '## Qwen Added Memories\n- old\n- new\n\n## Next\ntext\n'],
  ['## Lathe Added Memories\n### Sub\n- old\n# Top\n', '## Lathe Added Memories\n### Sub\n- old\n- new\n# Top\n'],
  ['a\r\n## Lathe Added Memories\r\n- old\r\n', 'a\r\n## Lathe Added Memories\r\n- old\r\n- new\r\n'],
])('in %j the fact goes to the end of its section', (text, expected) => {
  expect(withFact(text, '- new')).toBe(expected);
});

test('a known fact is not written again', () => {
  expect(withFact('## Lathe Added Memories\n- Likes Tabs\n', '- likes tabs')).toBeNull();
});

// SK03
test('no fact can leave its section or change another line', () => {
  const text = '# Top\nkeep\n\n## Lathe Added Memories\n- old\n\n## After\nkeep too\n';
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), fc.stringMatching(/^[#\-\s`<!@>\n\r*]{1,12}\w/)),
      (fact) => {
        const line = factLine(fact);
        expect(line).toMatch(/^- [^\n\r\u2028\u2029]*$/);
        const result = withFact(text, line) ?? text;
        expect(result.split('\n').filter((kept) => kept !== line)).toEqual(
          text.split('\n').filter((kept) => kept !== line),
        );
      },
    ),
    { numRuns: 2000 },
  );
});
