import { spawn } from '@lydell/node-pty';
import { group } from '../case.mjs';
import { clis, lathe } from '../clis.mjs';
import { modelStub } from '../model-stub.mjs';

const keys = 120;
/** Between two keys; a fast typist. */
const pauseMs = 25;
/** 50 MB in a hundred pieces, over all of the typing. */
const flood =
  'for i in $(seq 100); do yes 0123456789012345678901234567890123456789012345678 | head -c 500000; sleep 0.03; done; sleep 8';
/** What each shows when it waits for a prompt, and how it is started for a person. */
const prompts = {
  lathe: { cli: lathe, args: [], text: 'Ask for anything' },
  'qwen-cli': { cli: clis['qwen-cli'], args: ['--auth-type', 'openai', '-m', 'stub'], text: 'Type your message' },
  'gemini-cli': { cli: clis['gemini-cli'], args: ['--skip-trust'], text: 'Type your message' },
};

/** From the start to the prompt. */
const untilPrompt =
  ({ cli, args, text }) =>
  async (place) => {
    const stub = await modelStub();
    const program = cli.open(place, stub.url);
    return {
      run: async () => {
        const screen = open(program, args, place.scratch);
        await screen.shows(text);
        screen.kill();
        return { memory: 0, stall: 0 };
      },
    };
  };

/** From a key to its echo: the slowest but one in a hundred, after `begin` has brought the program that far. */
const untilEcho = (begin) => async (place) => {
  const stub = await modelStub();
  const call = () => ({ name: 'run_shell_command', args: { command: flood } });
  return {
    run: async () => {
      stub.reset({ turns: 1, width: 1, call });
      const screen = await begin(place, stub.url);
      const times = [];
      let typed = '';
      for (let index = 0; index < keys; index++) {
        typed += String.fromCharCode(97 + (index % 26));
        const started = performance.now();
        screen.type(typed.at(-1));
        await screen.shows(typed);
        times.push(performance.now() - started);
        await pause(pauseMs);
      }
      screen.kill();
      return { time: times.toSorted((a, b) => a - b)[Math.floor(keys * 0.99)], memory: 0, stall: 0 };
    },
  };
};

async function cat({ scratch }) {
  const screen = open({ command: 'cat', args: [], env: process.env }, [], scratch);
  await pause(200);
  // It shows the key alone, and no line that is drawn anew.
  return { ...screen, shows: (text) => screen.shows(text.at(-1)) };
}

async function idle(place, url) {
  const screen = open(lathe.open(place, url), [], place.scratch);
  await screen.shows(prompts.lathe.text);
  await pause(1000);
  return screen;
}

async function flooded(place, url) {
  const screen = open(lathe.open(place, url), ['--yolo', 'go'], place.scratch);
  await screen.shows('Shell');
  await pause(300);
  return screen;
}

const busy = 'lathe, while 50 MB are printed';

export const cases = group('terminal', [
  {
    name: 'from the start to the prompt',
    contestants: Object.fromEntries(Object.entries(prompts).map(([name, one]) => [name, untilPrompt(one)])),
    goals: [{ metric: 'time', than: 'qwen-cli', limit: 0.4 }],
    rounds: 5,
    timeoutMs: 30_000,
  },
  {
    name: 'from a key to its echo, 99 of 100',
    note: 'raw is the echo of the terminal itself',
    contestants: { raw: untilEcho(cat), lathe: untilEcho(idle), [busy]: untilEcho(flooded) },
    goals: [
      { metric: 'time', limit: 16 },
      { metric: 'time', who: busy, limit: 16 },
    ],
    rounds: 2,
    timeoutMs: 40_000,
  },
]);

/** A program in a terminal of its own. */
function open({ command, args, env }, more, cwd) {
  const { CI: _, ...rest } = env;
  const child = spawn(command, [...args, ...more], {
    cols: 200,
    rows: 40,
    cwd,
    env: { ...rest, TERM: 'xterm-256color' },
  });
  let seen = '';
  let wanted;
  child.onData((data) => {
    seen = (seen + data).slice(-20_000);
    if (!wanted || !seen.includes(wanted.text)) return;
    wanted.resolve();
    wanted = undefined;
  });
  return {
    type(text) {
      seen = '';
      child.write(text);
    },
    kill: () => child.kill('SIGKILL'),
    shows: (text) =>
      new Promise((resolve) => {
        if (seen.includes(text)) return resolve();
        wanted = { text, resolve };
      }),
  };
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
