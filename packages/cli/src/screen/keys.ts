/** The key and its modifiers. */
export interface Key {
  upArrow: boolean;
  downArrow: boolean;
  leftArrow: boolean;
  rightArrow: boolean;
  pageUp: boolean;
  pageDown: boolean;
  home: boolean;
  end: boolean;
  return: boolean;
  escape: boolean;
  tab: boolean;
  backspace: boolean;
  delete: boolean;
  ctrl: boolean;
  shift: boolean;
  meta: boolean;
}

/** A key and its text: empty for named keys, the letter for keys with Ctrl or Alt. */
export interface KeyPress {
  input: string;
  key: Key;
}

type Name = Exclude<keyof Key, 'ctrl' | 'shift' | 'meta'>;

const noKey: Key = {
  upArrow: false,
  downArrow: false,
  leftArrow: false,
  rightArrow: false,
  pageUp: false,
  pageDown: false,
  home: false,
  end: false,
  return: false,
  escape: false,
  tab: false,
  backspace: false,
  delete: false,
  ctrl: false,
  shift: false,
  meta: false,
};

const characters: Record<string, Name> = { '\r': 'return', '\t': 'tab', '\b': 'backspace', '\u007f': 'backspace' };

/** The last letter of `CSI … letter` and `SS3 letter`. */
const letters: Record<string, Name> = {
  A: 'upArrow',
  B: 'downArrow',
  C: 'rightArrow',
  D: 'leftArrow',
  F: 'end',
  H: 'home',
  Z: 'tab',
};

/** The number of `CSI number ~`. */
const numbers: Record<string, Name> = {
  1: 'home',
  3: 'delete',
  4: 'end',
  5: 'pageUp',
  6: 'pageDown',
  7: 'home',
  8: 'end',
};

/** Decodes one key from `KeySplitter`. Unknown keys are empty. */
export function keyOf(sent: string): KeyPress {
  const [first = '', second] = sent;
  if (first !== '\u001b') return plainKey(sent);
  if (second === undefined) return named('escape');
  if (second === '\u001b') return sent.length === 2 ? named('escape', { meta: true }) : withMeta(keyOf(sent.slice(1)));
  if ((second === '[' || second === 'O') && sent.length > 2) return sequenceKey(sent);
  return withMeta(plainKey(sent.slice(1)));
}

function plainKey(text: string): KeyPress {
  const name = characters[text];
  if (name) return named(name);
  const code = text.charCodeAt(0);
  if (text.length === 1 && code > 0 && code < 27 && text !== '\n')
    return { input: String.fromCharCode(code + 96), key: { ...noKey, ctrl: true } };
  if (code < 32 && text !== '\n') return { input: '', key: noKey };
  return { input: text, key: { ...noKey, shift: /^[A-Z]$/.test(text) } };
}

function sequenceKey(sent: string): KeyPress {
  const [, number = '', modifiers = '1', final = ''] =
    // oxlint-disable-next-line no-control-regex -- control characters are what this matches
    /^\u001b(?:\[|O)(\d*)(?:;(\d+))?(?:[;:][\d;:]*)?([~A-Za-z])$/.exec(sent) ?? [];
  const bits = Number(modifiers) - 1;
  const held = { shift: (bits & 1) > 0 || final === 'Z', meta: (bits & 2) > 0, ctrl: (bits & 4) > 0 };
  if (final === 'u' && number !== '') return unicodeKey(Number(number), held);
  const name = final === '~' ? numbers[number] : letters[final];
  return name ? named(name, held) : { input: '', key: noKey };
}

type Held = Pick<Key, 'shift' | 'meta' | 'ctrl'>;

/** `CSI code ; modifiers u`, which newer terminals send for keys without a classic code, such as Shift+Enter. */
function unicodeKey(code: number, held: Held): KeyPress {
  if (code > 0x10_ff_ff) return { input: '', key: noKey };
  const character = String.fromCodePoint(code);
  const { input, key } = keyOf(character);
  return { input, key: { ...key, ...held } };
}

const named = (name: Name, held: Partial<Held> = {}): KeyPress => ({
  input: '',
  key: { ...noKey, [name]: true, ...held },
});
const withMeta = ({ input, key }: KeyPress): KeyPress => ({ input, key: { ...key, meta: true } });
