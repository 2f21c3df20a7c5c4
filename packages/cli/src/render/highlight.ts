import { common, createLowlight } from 'lowlight';
import type { Style } from './style.js';

const lowlight = createLowlight(common);
/** Longer code is shown without colours, because highlighting would block the screen. */
const maxChars = 20_000;

/** Colours code; unchanged if the language is unknown. */
export function highlight(code: string, language: string, style: Style): string {
  if (style.isPlain || code.length > maxChars || !lowlight.registered(language)) return code;
  const { children } = lowlight.highlight(language, code);
  return children.map((node) => paint(node, style)).join('');
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

function paint(node: Node, style: Style): string {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return '';
  const text = node.children.map((child) => paint(child, style)).join('');
  const classes = node.properties['className'];
  const kind = Array.isArray(classes) ? String(classes[0]).replace('hljs-', '') : '';
  return perLine(text, painters[kind]?.(style));
}

/** Colours each line separately, so that splitting lines never leaves a colour open. */
function perLine(text: string, apply: ((text: string) => string) | undefined): string {
  return apply
    ? text
        .split('\n')
        .map((line) => (line === '' ? '' : apply(line)))
        .join('\n')
    : text;
}

const painters: Record<string, (style: Style) => (text: string) => string> = {
  keyword: ({ accent }) => accent,
  built_in: ({ accent }) => accent,
  type: ({ accent }) => accent,
  literal: ({ code }) => code,
  number: ({ code }) => code,
  string: ({ success }) => success,
  regexp: ({ success }) => success,
  comment: ({ dim }) => dim,
  title: ({ bold }) => bold,
  attr: ({ accent }) => accent,
  deletion: ({ removed }) => removed,
  addition: ({ added }) => added,
};
