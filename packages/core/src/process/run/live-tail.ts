import type { CapturedOutput } from './captured-output.js';

const updateMs = 100;

export interface LiveTail {
  /** Call it after each piece of output. */
  onOutput: (output: CapturedOutput) => void;
  /** Ends the updates. */
  stop: () => void;
}

/** Shows the last lines of a running command at most every 100 ms, and always after its last output. */
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
