import { parseFrontMatter } from '@lathe/core/host';
import { plainText } from '../definition-files.js';

/** What a SKILL.md says. */
export interface SkillText {
  name: string;
  /** What the skill is for and when to use it: the model sees this before it loads the skill. */
  description: string;
  body: string;
  /** Only the person can load it. */
  isForPersonOnly: boolean;
}

const maxName = 64;
const maxDescription = 1_024;

/** Phonetic letters, and all letters that are neither Latin nor of East Asia, whose scripts have no look-alikes. */
const besidesLatin =
  /[\u0250-\u02af\u1d00-\u1dbf]|[^\p{sc=Latin}\p{sc=Common}\p{sc=Inherited}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}]/u;

/**
 * Reads a SKILL.md. More lenient than the specification where that is harmless: other fields, broken YAML, a name that is
 * missing or differs from the folder's, a description that is too long. `allowed-tools` and the like grant nothing.
 * Throws what is wrong.
 */
export function parseSkill(text: string, folder: string): SkillText {
  const parsed = parseFrontMatter(plainText(text));
  if (!parsed) throw new Error('SKILL.md must begin with front matter: name and description between lines of ---');
  const field = (name: string) => {
    const value = parsed.fields.get(name);
    return typeof value === 'string' ? value.trim() : '';
  };
  const name = (field('name') || plainText(folder)).normalize('NFKC');
  if (name.length > maxName || !/^[\p{Ll}\p{Lo}\p{M}\p{Nd}]+(?:-[\p{Ll}\p{Lo}\p{M}\p{Nd}]+)*$/u.test(name))
    throw new Error(`its name must have 1 to ${maxName} lowercase letters, digits and single hyphens`);
  if (name.split('-').some((word) => /\p{Script=Latin}/u.test(word) && besidesLatin.test(word)))
    throw new Error('its name mixes letters of two alphabets in one word, which can pass for another name');
  const description = field('description').replaceAll(/\s+/g, ' ');
  if (description === '') throw new Error('it has no description');
  return {
    name,
    description: description.length > maxDescription ? `${description.slice(0, maxDescription - 1)}…` : description,
    body: parsed.body.trim(),
    isForPersonOnly: field('disable-model-invocation') === 'true',
  };
}
