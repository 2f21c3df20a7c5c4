import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { drained, group, toolCase } from '../case.mjs';
import { textLine } from '../corpora.mjs';

const little = { metric: 'memory', limit: 64, guard: 128 };
const notBlocked = { metric: 'stall', limit: 50 };
const than = (other, limit, guard) => ({ metric: 'time', than: other, limit, guard });
const file = ({ scratch }) => join(scratch, 'file.txt');
const wasChanged = (output) => output !== '';
const large = 10 * 2 ** 20;

export const cases = group('edit', [
  editCase({
    name: 'edit one hit in 88 KB',
    note: 'raw writes, flushes and renames',
    size: 88 * 2 ** 10,
    raw: (place) => replaceFile(file(place), textOf(88 * 2 ** 10, 'new')),
    call: (tools, place) => tools.edit(file(place), '000000800 ', 'EDITED '),
    verify: wasChanged,
    goals: [than('raw', 1.8, 40), notBlocked],
    rounds: 20,
  }),
  editCase({
    name: 'edit one hit in 10 MB',
    raw: sed('s/000080000 /EDITED /'),
    call: editOne,
    verify: wasChanged,
    goals: [than('qwen-code', 0.15), than('raw', 4, 20), little, notBlocked],
  }),
  editCase({
    name: 'edit every one of 11,000 hits in 10 MB',
    raw: sed('s/ alpha alpha / ALPHA ALPHA /'),
    call: (tools, place) => tools.edit(file(place), ' alpha alpha ', ' ALPHA ALPHA ', hits),
    contestants: { 'lathe: one hit': contestant('lathe', editOne, large) },
    verify: wasChanged,
    goals: [than('lathe: one hit', 5, 20), than('raw', 3), little, notBlocked],
  }),
  editCase({
    name: 'edit what is not in 10 MB',
    note: 'raw is sed finding nothing; we look for the nearest region too',
    isRefusal: true,
    raw: sed('s/not there at all//'),
    call: (tools, place) => tools.edit(file(place), 'not\n  there at\n all zzz', 'EDITED '),
    goals: [than('qwen-code', 0.5), little, notBlocked],
  }),
  editCase({
    name: 'write 10 MB over 10 MB',
    note: 'raw writes, flushes and renames; the others overwrite in place',
    raw: (place) => replaceFile(file(place), newText()),
    call: (tools, place) => tools.write(file(place), newText()),
    verify: wasChanged,
    goals: [than('qwen-code', 0.5), than('raw', 3, 20), little, notBlocked],
  }),
]);

function editCase({ size = large, contestants, ...rest }) {
  return toolCase({
    root: ({ scratch }) => scratch,
    prepare: (place) => fill(place, size),
    isQuick: true,
    contestants: { 'qwen-code': contestant('qwen-code', rest.call, size), ...contestants },
    ...rest,
  });
}

function contestant(library, call, size) {
  return async (place) => {
    const { open } = await import(`../tools/${library}.mjs`);
    const tools = await open({ ...place, root: place.scratch });
    return { run: () => call(tools, place), prepare: () => fill(place, size) };
  };
}

function editOne(tools, place) {
  return tools.edit(file(place), '000080000 ', 'EDITED ');
}

function sed(script) {
  return (place) => drained('sed', ['-i', script, file(place)]);
}

/** A fresh file, on the disk, that is never the same twice: nobody can know its content already. */
function fill(place, size) {
  replaceFile(file(place), textOf(size, `round ${++rounds}`));
}

let rounds = 0;
const hits = 11_203;
const bodies = new Map();

function textOf(size, head) {
  if (!bodies.has(size)) bodies.set(size, lines(size));
  // Flat as a parsed string is: joining the parts is nobody's work here.
  return Buffer.from(`${head}\n${bodies.get(size)}`).toString();
}

let written;

/** Made in the first round, which does not count. */
function newText() {
  written ??= textOf(large, 'new');
  return written;
}

function lines(size) {
  let text = '';
  for (let n = 0; text.length < size; n++) text += textLine(n);
  return text;
}

function replaceFile(path, text) {
  const temp = `${path}.new`;
  const fd = openSync(temp, 'w');
  writeSync(fd, text);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temp, path);
}
