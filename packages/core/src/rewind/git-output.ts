import type { PrivateGit } from './private-git.js';

/** The records of an output in which a zero byte ends each. */
export function splitZero(output: Buffer): Buffer[] {
  const records: Buffer[] = [];
  for (let from = 0; from < output.length; ) {
    const end = output.indexOf(0, from);
    records.push(output.subarray(from, end < 0 ? output.length : end));
    from = end < 0 ? output.length : end + 1;
  }
  return records;
}

export function joinZero(records: readonly Buffer[]): Buffer {
  return Buffer.concat(records.flatMap((record) => [record, zero]));
}

const zero = Buffer.from([0]);

/** The records of `diff-files` and `diff-tree`: modes, ids and kind of a change, then the path. */
export function changeRecords(output: Buffer): { head: string; path: Buffer }[] {
  const fields = splitZero(output);
  return fields.flatMap((head, at) =>
    at % 2 === 0 ? [{ head: head.toString('latin1'), path: fields[at + 1] ?? Buffer.alloc(0) }] : [],
  );
}

/** The sizes of objects, by id. One that is not kept is missing. */
export async function objectSizes(
  git: PrivateGit,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, number>> {
  const args = ['cat-file', '--buffer', '--batch-check=%(objectsize)'];
  const output = await git.run(args, { input: ids.map((id) => `${id}\n`).join(''), signal, borrows: true });
  const sizes = output.toString('latin1').split('\n');
  return new Map(ids.map((id, at) => [id, Number(sizes[at])] as const).filter(([, size]) => Number.isInteger(size)));
}

/** The contents that `cat-file --batch` prints, by id. Those it does not find are missing. */
export function batchContents(output: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0x0a, at);
    const [id = '', kind, size = ''] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (kind === 'missing') continue;
    contents.set(id, output.subarray(at, at + Number(size)));
    at += Number(size) + 1;
  }
  return contents;
}
