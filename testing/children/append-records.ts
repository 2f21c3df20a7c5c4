import { Transcript } from '../../packages/agent/src/session/transcript.js';

/** `append-records PATH NAME COUNT`: appends messages to a transcript and prints how many are written. */
const [path = '', name = '', count = '0'] = process.argv.slice(2);
const transcript = new Transcript({
  path,
  opening: { type: 'resume', writer: '', number: 0, model: 'scripted', time: '' },
  secrets: [],
  onProblem: (message) => process.stderr.write(message),
});
for (let n = 0; n < Number(count); n++) {
  const text = `${name} ${n} ${'x'.repeat((n % 50) * 100)}`;
  transcript.append({ type: 'message', message: { role: 'user', parts: [{ text }] } });
  process.stdout.write(`${n + 1}\n`);
}
