// npm run walk -- <tool>: runs one real call in a scratch project and prints the source files in which a function ran.
//
// V8 counts which functions run (precise coverage) but not when. The counts are therefore read whenever an asynchronous
// step begins; files that first ran in the same step are in the order in which they were loaded.
// A file counts when one of its functions ran in the second of two calls: loading modules does not count.
import { createHook } from 'node:async_hooks';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { setup } from './setup.mjs';

const root = join(import.meta.dirname, '..');
const never = new AbortController().signal;

const projectFiles = { 'notes.txt': 'one\ntwo\nthree\n', 'src/main.js': 'console.log("two");\n' };

/** The arguments of one call of each tool in the project. */
const calls = {
  edit: (project) => ({ file_path: join(project, 'notes.txt'), old_string: 'two', new_string: 'second' }),
  write_file: (project) => ({ file_path: join(project, 'new.txt'), content: 'new\n' }),
  read_file: (project) => ({ absolute_path: join(project, 'notes.txt') }),
  list_directory: (project) => ({ path: project }),
  glob: () => ({ pattern: '**/*.js' }),
  grep_search: () => ({ pattern: 'two' }),
  run_shell_command: () => ({ command: 'echo hi' }),
  example__hello: () => ({}),
};

/** The MCP server that brings `example__hello`. */
const serverSource = `
import { McpServer } from '${import.meta.resolve('@modelcontextprotocol/server')}';
import { StdioServerTransport } from '${import.meta.resolve('@modelcontextprotocol/server/stdio')}';
const server = new McpServer({ name: 'example', version: '1.0.0' });
server.registerTool('hello', { description: 'Says hello.' }, () => ({ content: [{ type: 'text', text: 'hello' }] }));
await server.connect(new StdioServerTransport());
`;

const [tool = ''] = process.argv.slice(2);
if (!Object.hasOwn(calls, tool)) {
  console.error(`Usage: npm run walk -- <tool>, where <tool> is one of ${Object.keys(calls).join(', ')}`);
  process.exit(2);
}
setup();
const home = realpathSync(mkdtempSync(join(tmpdir(), 'lathe-walk-')));
try {
  const files = await walk();
  const rooms = files.map((file) => dirname(file).replace(/^packages\/\w+\/src\/?/, ''));
  const width = Math.max(...rooms.map(({ length }) => length));
  for (const [index, file] of files.entries()) console.log(`${rooms[index].padEnd(width)}  ${file}`);
  console.log(`${tool}: ${files.length} files`);
} finally {
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
}

/** Runs the call and returns the sources, as paths from the root. */
async function walk() {
  const project = join(home, 'project');
  const spare = join(project, 'spare');
  for (const folder of [project, spare]) {
    mkdirSync(join(folder, 'src'), { recursive: true });
    for (const [name, text] of Object.entries(projectFiles)) writeFileSync(join(folder, name), text);
  }
  const server = join(home, 'server.mjs');
  writeFileSync(server, serverSource);
  const { createLathe } = await import(pathToFileURL(join(root, 'packages/core/dist/index.js')).href);
  const lathe = await createLathe({
    cwd: project,
    env: process.env,
    home,
    latheHome: join(home, '.lathe'),
    flags: { mcpServers: { example: { command: process.execPath, args: [server] } } },
    approver: { decide: async () => ({ outcome: 'once' }) },
  });
  try {
    if (tool.includes('__')) await lathe.discover(never, tool);
    // Once before it counts, on another project, so that loading modules is not part of the call.
    const warmUp = await lathe.run([{ name: tool, args: calls[tool](spare) }], never);
    if (warmUp[0].status !== 'success') throw new Error(`${tool} failed: ${warmUp[0].error?.message}`);
    const call = { name: tool, args: calls[tool](project) };
    const [[outcome], urls] = await recordScripts(() => lathe.run([call], never));
    if (outcome.status !== 'success') throw new Error(`${tool} failed: ${outcome.error?.message}`);
    return urls.flatMap(sourceOf);
  } finally {
    await lathe.close();
  }
}

/** Returns the result of `work` and the URLs of the scripts in which a function ran meanwhile. */
async function recordScripts(work) {
  const urls = new Set();
  const session = new Session();
  session.connect();
  // The answer arrives before `post` returns, and starts the counts from zero.
  const read = () =>
    session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      for (const { url, functions } of result) if (functions.some(hasRun)) urls.add(url);
    });
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const hook = createHook({ before: read }).enable();
  const result = await work();
  hook.disable();
  read();
  session.disconnect();
  return [result, [...urls]];
}

/** The function that starts at 0 is the top level of the module; static members are set up by it. */
function hasRun({ functionName, ranges: [range] }) {
  return range.count > 0 && range.startOffset > 0 && functionName !== '<static_initializer>';
}

/** `packages/core/src/a/b.ts` for the script compiled from it; nothing for any other script. */
function sourceOf(url) {
  if (!url.startsWith('file:')) return [];
  const path = relative(root, fileURLToPath(url)).replaceAll('\\', '/');
  const [, directory, name] = /^(packages\/\w+)\/dist\/(.+)\.js$/.exec(path) ?? [];
  return name === undefined ? [] : [`${directory}/src/${name}.ts`];
}
