import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SessionStore } from '../../packages/agent/dist/index.js';
import { LatheHome } from '../../packages/core/dist/files/lathe-home.js';
import { group } from '../case.mjs';
import { lathe } from '../clis.mjs';
import { modelStub } from '../model-stub.mjs';

/** What there may be a lot of. Each puts so many of it into the home directory before the program starts. */
const kinds = {
  'permission rules': (scratch, count) => {
    const deny = Array.from({ length: count }, (_, n) => `run_shell_command(program-${n} *)`);
    changeSettings(scratch, { permissions: { deny } });
  },
  'sessions kept': async (scratch, count) => {
    const store = await SessionStore.open(new LatheHome(join(scratch, '.lathe')), scratch);
    for (let n = 0; n < count; n++) {
      const { transcript } = store.create({ model: 'stub', secrets: [], onProblem: () => {} });
      transcript.append({ type: 'message', message: { role: 'user', parts: [{ text: `prompt ${n}` }] } });
      await transcript.close();
    }
  },
  skills: (scratch, count) => {
    for (let n = 0; n < count; n++) {
      const folder = join(scratch, '.lathe', 'skills', `skill-${n}`);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const text = `---\nname: skill-${n}\ndescription: Knows how to do thing ${n}.\n---\nSteps.\n`;
      writeFileSync(join(folder, 'SKILL.md'), text, { mode: 0o600 });
    }
  },
  'tool files': (scratch, count) => {
    const folder = join(scratch, '.lathe', 'tools');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (let n = 0; n < count; n++) {
      const text = `export default { name: 'tool_${n}', description: 'Says hello.', execute: () => 'hello' };\n`;
      writeFileSync(join(folder, `tool_${n}.mjs`), text, { mode: 0o600 });
    }
  },
};

export const cases = group(
  'growth',
  Object.entries(kinds).flatMap(([kind, fill]) =>
    [1, 10, 100].map((count) => ({
      name: `from the start to the first request with ${count} ${kind}`,
      contestants: { lathe: (place) => firstRequest(place, (scratch) => fill(scratch, count)) },
      growth: { of: `start, by ${kind}`, size: count },
      goals: [],
      rounds: 5,
    })),
  ),
);

/** The program from its start until a model server gets its first request. */
async function firstRequest(place, fill) {
  const stub = await modelStub();
  const { command, args, env } = lathe.open(place, stub.url);
  await fill(place.scratch);
  const project = join(place.scratch, 'project');
  mkdirSync(project);
  const run = async () => {
    stub.reset({ turns: 0, width: 1 });
    const started = performance.now();
    const child = spawn(command, [...args, ...lathe.ask('go')], { cwd: project, env, stdio: 'ignore' });
    await new Promise((resolve) => child.on('close', resolve));
    return { time: stub.requests[0].arrived - started, memory: 0, stall: 0, output: '' };
  };
  return { run, close: () => stub.close() };
}

function changeSettings(scratch, change) {
  const path = join(scratch, '.lathe', 'settings.json');
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }), { mode: 0o600 });
}
