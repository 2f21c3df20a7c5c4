import { luminance } from '../render/theme.js';

/** The colour of the background, and then what the terminal is: every terminal answers the second question. */
const query = '\u001b]11;?\u0007\u001b[c';
/** Later answers are ignored. */
const limitMs = 100;

// oxlint-disable no-control-regex -- answers of a terminal are control sequences
const colourReply =
  /\u001b\]11;rgba?:([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})[^\u0007\u001b]*(?:\u0007|\u001b\\)/i;
const deviceReply = /\u001b\[\?[\d;]*c/;
// oxlint-enable no-control-regex

type Input = Pick<NodeJS.ReadStream, 'on' | 'off' | 'pause' | 'resume' | 'setRawMode' | 'unshift' | 'isTTY'>;

/** Asks the terminal whether its background is dark or light; `undefined` if it does not say so in time. */
export async function askBackground(
  input: Input,
  output: Pick<NodeJS.WriteStream, 'write'>,
): Promise<'dark' | 'light' | undefined> {
  if (!input.isTTY) return undefined;
  let received = '';
  input.setRawMode(true);
  await new Promise<void>((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      input.off('data', onData);
      input.pause();
      resolve();
    };
    const onData = (data: Buffer | string) => {
      received += String(data);
      if (deviceReply.test(received)) finish();
    };
    // When something kept the program busy, the answer may have arrived and not been read yet.
    const timer = setTimeout(() => setImmediate(finish), limitMs);
    input.on('data', onData);
    input.resume();
    output.write(query);
  });
  input.setRawMode(false);
  // Text that the person typed meanwhile goes to the next reader.
  const typed = received.replace(colourReply, '').replace(deviceReply, '');
  if (typed !== '') input.unshift(Buffer.from(typed));
  return themeOf(received);
}

function themeOf(reply: string): 'dark' | 'light' | undefined {
  const [, ...parts] = colourReply.exec(reply) ?? [];
  const [red = 0, green = 0, blue = 0] = parts.map(
    (part) => (255 * Number.parseInt(part, 16)) / (16 ** part.length - 1),
  );
  if (parts.length === 0) return undefined;
  return luminance({ red, green, blue }) > 0.4 ? 'light' : 'dark';
}
