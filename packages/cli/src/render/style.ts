import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** Text styles by meaning. All coloured output uses them, so that `NO_COLOR` works everywhere. */
export interface Style {
  readonly isPlain: boolean;
  dim: (text: string) => string;
  bold: (text: string) => string;
  italic: (text: string) => string;
  underline: (text: string) => string;
  inverse: (text: string) => string;
  added: (text: string) => string;
  removed: (text: string) => string;
  accent: (text: string) => string;
  code: (text: string) => string;
  warning: (text: string) => string;
  failure: (text: string) => string;
  success: (text: string) => string;
}

/** Colours, unless `NO_COLOR` is set or `TERM` is `dumb`. */
export function styleFor(env: Readonly<Record<string, string | undefined>>): Style {
  const isPlain = Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb';
  const paint = (format: Format) =>
    isPlain ? (text: string) => text : (text: string) => styleText(format, text, { validateStream: false });
  return {
    isPlain,
    dim: paint('dim'),
    bold: paint('bold'),
    italic: paint('italic'),
    underline: paint('underline'),
    inverse: paint('inverse'),
    added: paint('green'),
    removed: paint('red'),
    accent: paint('cyan'),
    code: paint('yellow'),
    warning: paint('yellow'),
    failure: paint('red'),
    success: paint('green'),
  };
}
