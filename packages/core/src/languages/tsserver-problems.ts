import { type Problem, problemsIn } from './problem.js';
import { field } from './protocol.js';

/**
 * What tsserver says about a file, through `typescript-language-server`. That one pushes problems without a version, the
 * syntax of the new text together with the types of the old one; here the answer is for the text as it is.
 */
export async function tsserverProblems(
  path: string,
  execute: (params: { command: string; arguments: unknown[] }) => Promise<unknown>,
): Promise<Problem[]> {
  const requests = ['syntacticDiagnosticsSync', 'semanticDiagnosticsSync'].map(async (request) => {
    const answer = await execute({ command: 'typescript.tsserverRequest', arguments: [request, { file: path }, {}] });
    const body = field(answer, 'body');
    return Array.isArray(body) ? body.map(toDiagnostic) : [];
  });
  return problemsIn(path, (await Promise.all(requests)).flat());
}

/** tsserver counts lines and columns from 1. */
function toDiagnostic(entry: unknown): unknown {
  const start = field(entry, 'start');
  return {
    range: { start: { line: Number(field(start, 'line')) - 1, character: Number(field(start, 'offset')) - 1 } },
    severity: ['error', 'warning'].indexOf(String(field(entry, 'category'))) + 1 || 3,
    code: field(entry, 'code'),
    source: 'ts',
    message: field(entry, 'text'),
  };
}
