/** Decodes numeric entities and the named ones that authors commonly write. Other names stay as they are. */
export function decodeEntities(text: string): string {
  return text.includes('&') ? text.replace(entity, decode) : text;
}

/** Only the oldest names may lack their semicolon, except where a URL continues with a parameter of that name. */
const entity = /&(?:#(\d{1,7});?|#x([0-9a-f]{1,6});?|([a-z][a-z0-9]{1,10});|(amp|lt|gt|quot|nbsp)(?![\w=]))/gi;

function decode(all: string, decimal?: string, hex?: string, name?: string, bare?: string): string {
  if (decimal !== undefined) return character(Number(decimal));
  if (hex !== undefined) return character(Number.parseInt(hex, 16));
  const known = name ?? bare?.toLowerCase() ?? '';
  return names.get(known) ?? names.get(known.toLowerCase()) ?? all;
}

function character(code: number): string {
  if (code >= 0x80 && code < 0xa0) return windows.charAt(code - 0x80);
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : '\ufffd';
}

/** Browsers decode the numbers from 128 to 159 as windows-1252. */
const windows = '€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ';

/** Names of consecutive characters, with the code of the first one. */
const runs: readonly [number, string][] = [
  [
    160,
    'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml',
  ],
  [913, 'Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho'],
  [931, 'Sigma Tau Upsilon Phi Chi Psi Omega'],
  [945, 'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau'],
  [965, 'upsilon phi chi psi omega'],
];

const single =
  'amp& lt< gt> quot" apos\' lbrace{ lcub{ rbrace} rcub} lsqb[ lbrack[ rsqb] rbrack] lpar( rpar) colon: comma, period. num# excl! quest? semi; sol/ bsol\\ lowbar_ grave` vert| verbar| ast* plus+ equals= dollar$ percnt% commat@ Hat^ hyphen‐ OEligŒ oeligœ ScaronŠ scaronš YumlŸ fnofƒ circˆ tilde˜ ndash– mdash— lsquo‘ rsquo’ sbquo‚ ldquo“ rdquo” bdquo„ dagger† Dagger‡ bull• hellip… permil‰ prime′ Prime″ lsaquo‹ rsaquo› frasl⁄ euro€ trade™ larr← uarr↑ rarr→ darr↓ harr↔ crarr↵ lArr⇐ rArr⇒ hArr⇔ forall∀ part∂ exist∃ empty∅ nabla∇ isin∈ notin∉ prod∏ sum∑ minus− radic√ prop∝ infin∞ ang∠ and∧ or∨ cap∩ cup∪ int∫ there4∴ sim∼ cong≅ asymp≈ ne≠ equiv≡ le≤ ge≥ sub⊂ sup⊃ loz◊ check✓ cross✗ star☆ starf★';

const names = new Map<string, string>([
  ...runs.flatMap(([first, list]) =>
    list.split(' ').map((name, index): [string, string] => [name, String.fromCharCode(first + index)]),
  ),
  ...single.split(' ').map((each): [string, string] => [each.slice(0, -1), each.slice(-1)]),
  // Invisible characters, which the list above could not show.
  ['Tab', '\t'],
  ['NewLine', '\n'],
  ['ensp', ' '],
  ['emsp', ' '],
  ['thinsp', ' '],
  ['zwnj', '\u200c'],
  ['zwj', '\u200d'],
]);
