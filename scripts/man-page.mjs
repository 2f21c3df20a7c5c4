// The manual page lathe(1), made from the help pages of the command line.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

export async function writeManPage(root, version, path) {
  const { commandNames, helpText } = await helpPages(root);
  const [title, ...general] = helpText().split('\n');
  const page = [
    `.TH LATHE 1 "" "lathe ${version}" "User Commands"`,
    '.SH NAME',
    `lathe \\- ${roff(title.replace(/^lathe: /, ''))}`,
    '.SH SYNOPSIS',
    ...verbatim(general.join('\n').trim().replaceAll(/^ {2}/gm, '')),
    ...commandNames.flatMap((name) => [`.SH LATHE ${name.toUpperCase()}`, ...verbatim(helpText(name))]),
    '.SH FILES',
    '.TP\n~/.lathe\nsettings, sessions, undo journal and audit log; LATHE_HOME moves it',
    '.TP\n\\&.lathe/settings.json\nsettings of a project, used after \\fBlathe trust\\fP',
    '',
  ];
  writeFileSync(path, page.join('\n'));
}

/** The texts of `lathe --help` and of the help of each command, from the sources. */
export async function helpPages(root) {
  return { ...(await load('help.ts')), ...(await load('command-names.ts')) };

  async function load(name) {
    const { output } = await build({ input: join(root, 'packages/cli/src/command-line', name), write: false });
    return import(`data:text/javascript,${encodeURIComponent(output[0].code)}`);
  }
}

function verbatim(text) {
  return ['.nf', ...text.split('\n').map(roff), '.fi'];
}

/** Escapes what roff would interpret: backslashes, dashes that must stay dashes, and dots or quotes that begin a line. */
function roff(line) {
  const escaped = line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(aq').replaceAll('…', '...');
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
