import { field, type Problem, problemsIn } from './problem.js';

const commands = ['syntacticDiagnosticsSync', 'semanticDiagnosticsSync'];
const severities: Readonly<Record<string, number>> = { error: 1, warning: 2 };

/**
 * What tsserver says about a file, through `typescript-language-server`. That one pushes problems without a version, the
 * syntax of the new text together with the types of the old one; here the answer is for the text as it is.
 */
export async function tsserverProblems(
  path: string,
  execute: (params: { command: string; arguments: unknown[] }) => Promise<unknown>,
): Promise<Problem[]> {
  const lists = await Promise.all(
    commands.map(async (command) => {
      const answer = await execute({ command: 'typescript.tsserverRequest', arguments: [command, { file: path }, {}] });
      const body = field(answer, 'body');
      return Array.isArray(body) ? body.map(toDiagnostic) : [];
    }),
  );
  return problemsIn(path, lists.flat());
}

/** tsserver counts lines and columns from 1. */
function toDiagnostic(entry: unknown): unknown {
  const start = field(entry, 'start');
  const position = { line: Number(field(start, 'line')) - 1, character: Number(field(start, 'offset')) - 1 };
  return {
    range: { start: position, end: position },
    severity: severities[String(field(entry, 'category'))] ?? 3,
    code: field(entry, 'code'),
    source: 'ts',
    message: field(entry, 'text'),
  };
}
