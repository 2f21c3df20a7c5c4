import { isExactRule } from '../process/rules/exact-rule.js';
import { kindOfSpec, parseRule } from './rule.js';

/** A rule as a person reads it: `edit(/src/**)` is "edits in src". The text itself if it is not a rule. */
export function describeRule(text: string): string {
  const rule = parseRule(text);
  if (typeof rule === 'string') return text;
  const { tool, spec } = rule;
  if (spec === undefined) return `every use of ${tool}`;
  switch (kindOfSpec(tool)) {
    case 'command':
      return describeCommand(spec);
    case 'host':
      return `pages from ${spec}`;
    case 'read':
      return `${reading[tool] ?? 'reading'} ${describePlace(spec)}`;
    case 'write':
      return `edits ${describePlace(spec)}`;
    case undefined:
      return text;
  }
}

const reading: Readonly<Record<string, string>> = {
  list_directory: 'listing files',
  glob: 'finding files',
  grep_search: 'searching',
};

function describeCommand(spec: string): string {
  if (isExactRule(spec)) {
    const [, background = '', place = '', command = ''] = /^=(&?)(?:\[([^\]]*)\] )?([\s\S]*)$/.exec(spec) ?? [];
    const where = place === '' || place === '.' ? '' : ` in ${place}`;
    return `exactly ${command}${where}${background === '' ? '' : ' in the background'}`;
  }
  const words = spec.replace(/:\*$/, ' *').replace(/ \*$/, '');
  return words === '*' ? 'every command' : `${words} …`;
}

/** Where the files of a rule are. */
function describePlace(spec: string): string {
  const path = spec
    .replace(/^\.\//, '')
    .replace(/^\/(?!\/)/, '')
    .replace(/^\/\//, '/');
  if (/^(\*\*|\*\*\/\*)?$/.test(path)) return 'in this folder';
  const folder = /^([^*?[{]+)\/\*\*(?:\/\*)?$/.exec(path);
  return folder ? `in ${folder[1]}` : `of ${path}`;
}
