import type { CapturedOutput } from './captured-output.js';

const updateMs = 100;

export interface LiveTail {
  /** To be called with each piece of output. */
  onOutput: (output: CapturedOutput) => void;
  /** After this nothing is shown any more. */
  stop: () => void;
}

/** Shows the last lines of a running command now and then, and once more when it falls silent. */
export function liveTail(show: (tail: { text: string; totalBytes: number }) => void): LiveTail {
  let timer: NodeJS.Timeout | undefined;
  const onOutput = (output: CapturedOutput) => {
    timer ??= setTimeout(() => {
      timer = undefined;
      const text = output.isBinary ? `[receiving binary output, ${output.totalBytes} bytes]` : output.tailText();
      show({ text, totalBytes: output.totalBytes });
    }, updateMs);
  };
  return { onOutput, stop: () => clearTimeout(timer) };
}
