// A language server for tests. Every BAD(text) in a document is an error with that text. The first argument is how it
// misbehaves; see `faults` below.
import { writeFileSync } from 'node:fs';

const [, , fault = 'none', mark = ''] = process.argv;
const documents = new Map();
const pushedTexts = new Map();
let nextId = 1000;
let slowAnswers = 4;

const faults = {
  none: {},
  'hangs-at-start': { initialize: () => {} },
  hangs: { 'textDocument/diagnostic': () => {} },
  crashes: { 'textDocument/didChange': () => process.exit(3) },
  'lies-about-versions': { push: (uri) => publish(uri, { version: 999 }) },
  'old-versions': { push: (uri, { version }) => publish(uri, { version: version - 1, items: [problem(0, 'STALE')] }) },
  'pushes-versions': { push: (uri, { version }) => publish(uri, { version }) },
  'pushes-late': { push: (uri, { version }) => setTimeout(() => publish(uri, { version }), 300) },
  // Like clangd, it says nothing about a text that it has just checked.
  'pushes-once': {
    push: (uri, { version, text }) => {
      if (pushedTexts.get(uri) !== text) publish(uri, { version });
      pushedTexts.set(uri, text);
    },
  },
  'pushes-without-versions': { push: (uri) => setTimeout(() => publish(uri, {}), 20) },
  'starts-late': {
    'textDocument/diagnostic': (message) => setTimeout(() => diagnose(message), slowAnswers-- > 0 ? 700 : 0),
  },
  floods: { initialized: flood },
  'floods-requests': { initialized: () => flood({ id: 1 }) },
  'huge-message': {
    initialized: () => process.stdout.write(`Content-Length: 9999999999\r\n\r\n${'x'.repeat(80 << 20)}`),
  },
  'endless-header': { initialized: () => writeForever('x'.repeat(64 << 10)) },
  'tiny-messages': { initialized: () => writeForever(framed('{"jsonrpc":"2.0","method":"a"}').repeat(1_000)) },
  'eats-memory': { initialized: eatMemory },
  'deep-message': { 'textDocument/diagnostic': () => process.stdout.write(framed('['.repeat(8 << 20))) },
  'no-json': { 'textDocument/diagnostic': () => process.stdout.write(framed('{{{{{{{')) },
  'wrong-types': { 'textDocument/diagnostic': ({ id }) => send({ id, result: { items: [7, { range: 1 }, null] } }) },
  'ignores-term': { initialize: (message) => (process.on('SIGTERM', () => {}), initialize(message)) },
  asks: { initialized: askForEverything },
  'dies-at-start': { initialize: () => process.exit(4) },
  'refuses-to-start': {
    initialize: ({ id }) => send({ id, error: { code: 1, message: 'no \u001b[31mlicence\nhere' } }),
  },
  'prints-megabytes': { initialized: () => process.stderr.write('x'.repeat(64 << 20)) },
  'writes-rubbish': { initialized: () => process.stdout.write(`Content-Length: none\r\n\r\n${'\0'.repeat(1000)}`) },
  'answers-hugely': { 'textDocument/diagnostic': ({ id }) => send({ id, result: { items: manyProblems(100_000) } }) },
  'pushes-hugely': { push: (uri, { version }) => publish(uri, { version, items: manyProblems(100_000) }) },
  'control-characters': {
    'textDocument/diagnostic': ({ id, params }) => {
      const items = problemsOf(params.textDocument.uri);
      send({
        id,
        result: { items: items.map((item) => ({ ...item, code: '\u001b[2J', message: 'a\u0007\nb\u202e' })) },
      });
    },
  },
};

const behaviour = faults[fault];
if (behaviour === undefined) throw new Error(`no fault ${fault}`);
if (mark !== '') writeFileSync(mark, String(process.pid));

const usual = {
  initialize,
  'textDocument/didOpen': ({ params: { textDocument } }) => show(textDocument.uri, textDocument),
  'textDocument/didChange': ({ params: { textDocument, contentChanges } }) =>
    show(textDocument.uri, { version: textDocument.version, text: contentChanges[0].text }),
  'textDocument/didClose': ({ params }) => documents.delete(params.textDocument.uri),
  'textDocument/diagnostic': diagnose,
  // The places that the file itself lists.
  'textDocument/references': ({ id, params }) => {
    const start = { line: 0, character: 0 };
    const uris = (documents.get(params.textDocument.uri)?.text ?? '').match(/file:\S+/g) ?? [];
    send({ id, result: uris.map((uri) => ({ uri, range: { start, end: start } })) });
  },
  'textDocument/rename': ({ id, params }) => {
    const { uri } = params.textDocument;
    const range = { start: params.position, end: { ...params.position, character: params.position.character + 3 } };
    const outside = 'file:///etc/passwd';
    send({
      id,
      result: { changes: { [params.newName === 'escape' ? outside : uri]: [{ range, newText: params.newName }] } },
    });
  },
};

function initialize({ id }) {
  const capabilities = {
    textDocumentSync: 1,
    renameProvider: true,
    referencesProvider: true,
    ...(behaviour.push ? {} : { diagnosticProvider: {} }),
  };
  send({ id, result: { capabilities } });
}

function show(uri, document) {
  documents.set(uri, document);
  behaviour.push?.(uri, document);
}

function publish(uri, { version, items = problemsOf(uri) }) {
  send({ method: 'textDocument/publishDiagnostics', params: { uri, version, diagnostics: items } });
}

function diagnose({ id, params }) {
  send({ id, result: { kind: 'full', items: problemsOf(params.textDocument.uri) } });
}

function problemsOf(uri) {
  const lines = (documents.get(uri)?.text ?? '').split(/\r\n|\r|\n/);
  return lines.flatMap((line, at) =>
    [...line.matchAll(/BAD\((\w+)\)/g)].map(({ 1: text, index }) => problem(at, text, index)),
  );
}

function problem(line, message, character = 0) {
  const start = { line, character };
  return { range: { start, end: start }, severity: 1, code: 'bad', message };
}

function manyProblems(count) {
  return Array.from({ length: count }, (_, at) => problem(at, `old problem number ${at}`));
}

function flood(extra = {}) {
  const step = () => {
    for (let i = 0; i < 2000; i++)
      send({ ...extra, method: 'window/logMessage', params: { message: 'x'.repeat(200) } });
    setImmediate(step);
  };
  step();
}

function writeForever(text) {
  const step = () => process.stdout.write(text, step);
  step();
}

function eatMemory() {
  const kept = [];
  const step = () => {
    kept.push(Buffer.alloc(16 << 20, 1));
    setTimeout(step, 5);
  };
  step();
}

/** What a client that obeys would change or show. */
function askForEverything() {
  const uri = [...documents.keys()][0] ?? `file://${process.cwd()}/victim.txt`;
  const range = { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } };
  const victim = `file://${process.cwd()}/victim.txt`;
  ask('workspace/applyEdit', { edit: { changes: { [victim]: [{ range, newText: 'changed by a server' }] } } });
  ask('window/showMessageRequest', { type: 1, message: 'Run it?', actions: [{ title: 'Yes' }] });
  ask('window/showDocument', { uri, external: true });
  ask('workspace/executeCommand', { command: 'rm' });
  ask('client/registerCapability', { registrations: [{ id: '1', method: 'workspace/didChangeWatchedFiles' }] });
}

const answers = [];

function ask(method, params) {
  const id = nextId++;
  answers.push(id);
  send({ id, method, params });
}

function send(message) {
  process.stdout.write(framed(JSON.stringify({ jsonrpc: '2.0', ...message })));
}

function framed(body) {
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

let buffer = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/Content-Length: (\d+)/.exec(buffer.toString('latin1', 0, end))[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.toString('utf8', end + 4, end + 4 + length));
    buffer = buffer.subarray(end + 4 + length);
    (behaviour[message.method] ?? usual[message.method])?.(message);
  }
});
process.stdin.on('end', () => fault === 'ignores-term' || process.exit(0));
