import { isLong } from './long-run.js';

/**
 * What Unicode calls a control, a format character, a variation selector, a separator of lines or ignorable. Of the
 * thousands that have no meaning yet some, and all of them in the long run.
 */
export function invisibleCharacters(): string[] {
  const found: string[] = [];
  for (let code = 1; code <= 0x10ffff; code++) {
    const character = String.fromCodePoint(code);
    const isAssigned = !/\p{Cn}/u.test(character);
    if (invisible.test(character) && (isAssigned || isLong || code % 64 === 0)) found.push(character);
  }
  return found;
}

const invisible =
  /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}]/u;
