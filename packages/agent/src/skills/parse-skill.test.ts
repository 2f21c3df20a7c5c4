import { join } from 'node:path';
import { validate } from 'skills-ref';
import { expect, test } from 'vitest';
import { tempDirectory } from '../../../../testing/temp-directory.js';
import { findSkills } from './find-skills.js';
import { parseSkill } from './parse-skill.js';

const front = (fields: string, body = 'Do it.') => `---\n${fields}\n---\n${body}\n`;
const named = (name: string, description = 'Does it.') => front(`name: ${name}\ndescription: ${description}`);

/** Skills that the reference validator and our loader judge alike; the folder is `demo` unless the name is another. */
const agreed: Record<string, [text: string, isValid: boolean, folder?: string]> = {
  'the smallest one': [named('demo'), true],
  'with every field': [
    front(
      'name: demo\ndescription: Does it.\nlicense: MIT\ncompatibility: Needs git\nmetadata:\n  author: a\n  version: "1.0"\nallowed-tools: Bash(git:*) Read',
    ),
    true,
  ],
  'tools as a list': [front('name: demo\ndescription: Does it.\nallowed-tools:\n  - Read\n  - Bash(git:*)'), true],
  'a description in double quotes': [named('demo', '"Use when: always"'), true],
  'a description in single quotes': [named('demo', "'It''s: fine'"), true],
  'a folded description': [front('name: demo\ndescription: >-\n  Does it\n  well.'), true],
  'a literal description': [front('name: demo\ndescription: |\n  Does it\n  well.'), true],
  'a description over several lines': [front('name: demo\ndescription: Does it\n  well.'), true],
  'a comment': [front('# about\nname: demo # short\ndescription: Does it.'), true],
  'an empty body': ['---\nname: demo\ndescription: Does it.\n---\n', true],
  'Windows line endings': [named('demo').replaceAll('\n', '\r\n'), true],
  'the longest name': [named('a'.repeat(64)), true, 'a'.repeat(64)],
  digits: [named('pdf2text-3'), true, 'pdf2text-3'],
  'one letter': [named('a'), true, 'a'],
  Chinese: [named('翻译'), true, '翻译'],
  Cyrillic: [named('навык'), true, 'навык'],
  'the longest description': [named('demo', 'a'.repeat(1024)), true],
  'no front matter': ['# Demo\n', false],
  nothing: ['', false],
  'front matter that is not closed': ['---\nname: demo\ndescription: x\n', false],
  'text before the front matter': [`\n\n# Demo\n${named('demo')}`, false],
  'no description': [front('name: demo'), false],
  'an empty description': [front('name: demo\ndescription: ""'), false],
  'a blank description': [front('name: demo\ndescription: "   "'), false],
  'only a list': [front('- name\n- description'), false],
  'capital letters': [named('Demo'), false, 'Demo'],
  'a space': [named('my demo'), false, 'my demo'],
  'an underscore': [named('my_demo'), false, 'my_demo'],
  'a hyphen first': [named('-demo'), false, '-demo'],
  'a hyphen last': [named('demo-'), false, 'demo-'],
  'two hyphens': [named('my--demo'), false, 'my--demo'],
  'a slash': [named('a/b'), false],
  'a way out': [named('..'), false],
  'a name that is too long': [named('a'.repeat(65)), false, 'a'.repeat(65)],
  'an exclamation mark': [named('demo!'), false, 'demo!'],
};

/** The loader accepts these by design: they are common, harmless, and what they mean is clear. */
const lenient: Record<string, string> = {
  'a colon without quotes': named('demo', 'Use this: when the person says so'),
  'a field of another agent': front('name: demo\ndescription: Does it.\nmodel: opus\ndisable-model-invocation: false'),
  'a name that is not the folder’s': named('other'),
  'no name': front('description: Does it.'),
  'a description that is too long': named('demo', 'a'.repeat(1025)),
  'a quote that is not closed': named('demo', '"Does it.'),
  'a key written twice': front('name: demo\nname: demo\ndescription: Does it.'),
  'a long compatibility': front(`name: demo\ndescription: Does it.\ncompatibility: ${'a'.repeat(501)}`),
  'a tab': front('name: demo\ndescription: Does it.\nmetadata:\n\tauthor: a'),
};

function accepts(text: string, folder: string): boolean {
  try {
    parseSkill(text, folder);
    return true;
  } catch {
    return false;
  }
}

test.each(Object.entries(agreed))(
  'the reference validator agrees: %s',
  async (_title, [text, isValid, folder = 'demo']) => {
    const root = tempDirectory({ [`${folder}/SKILL.md`]: text });
    const problems = await validate(join(root, folder));
    expect({ ours: accepts(text, folder), theirs: problems.length === 0 }).toEqual({ ours: isValid, theirs: isValid });
  },
);

test.each(Object.entries(lenient))('the loader is lenient by design: %s', async (_title, text) => {
  const root = tempDirectory({ 'demo/SKILL.md': text });
  expect(await validate(join(root, 'demo'))).not.toEqual([]);
  expect(accepts(text, 'demo')).toBe(true);
});

test('an unquoted colon stays part of the description', () => {
  expect(parseSkill(named('demo', 'Use this: when asked'), 'demo').description).toBe('Use this: when asked');
});

test('invisible characters become visible', () => {
  const { description, body } = parseSkill(front('name: demo\ndescription: a\u202eb', 'x\u200by'), 'demo');
  expect(description + body).not.toMatch(/[\u202e\u200b]/);
});

test.each([
  'rel\u034fease',
  'rel\ufe0fease',
  'rel\u3164ease',
  'rel\u115fease',
  'rel\u200bease',
  'r\u0435lease',
  // Armenian, Georgian and phonetic letters that look like o, y and a.
  'd\u0585cs',
  'cop\u10e7',
  'rele\u0251se',
])('a name that looks like another one is refused, as a field and as a folder: %j', (name) => {
  expect(() => parseSkill(named(name), 'demo')).toThrow('its name');
  expect(() => parseSkill(front('description: Does it.'), name)).toThrow('its name');
});

test.each(['отчет-pdf', 'pdf変換', 'prüfung', 'café-menü'])('words of two alphabets make a name: %s', (name) => {
  expect(parseSkill(named(name), 'demo').name).toBe(name);
});

test('a folder counts only with a file named exactly SKILL.md', () => {
  const root = tempDirectory({ '.agents/skills/a/skill.md': named('a'), '.agents/skills/b/SKILL.md': named('b') });
  const { skills } = findSkills({ root, isTrusted: true, personalFolders: [], plugins: [] });
  expect(skills.map(({ name }) => name)).toEqual(['b']);
});
