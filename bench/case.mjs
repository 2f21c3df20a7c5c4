// What a benchmark is. A file in cases/ exports `cases`, a list of these; run.mjs measures them and report.mjs shows them.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} Place where a case finds things
 * @property {string} corpora what corpora.mjs made
 * @property {string} peers a folder per installed peer
 * @property {string} scratch an empty folder of this contestant's own
 * @property {boolean} isQuick with small corpora and without peers
 *
 * @typedef {object} Sample one run; what is left out is measured by the worker
 * @property {string} [output] what a model would be sent
 * @property {number} [time] in ms
 * @property {number} [memory] MB above the memory in use before the run
 * @property {number} [stall] the longest time in ms in which the event loop did not turn
 * @property {number} [count] of a case that counts something: tokens, packages …
 *
 * @typedef {object} Contestant
 * @property {() => Promise<Sample | string>} run what is measured
 * @property {() => unknown} [prepare] before each run, not measured
 * @property {() => unknown} [close]
 *
 * @typedef {object} Goal our figure is to be at most `limit` × that of `than`, or at most `limit` when there is no `than`
 * @property {'time' | 'memory' | 'stall' | 'output' | 'count'} metric
 * @property {string} [who] when it is not `lathe`
 * @property {string} [than] the name of another contestant
 * @property {number} limit
 * @property {number} [guard] the generous limit of a quick run; without one a quick run does not check this goal
 *
 * @typedef {object} Case
 * @property {string} name
 * @property {string} group the name of its file
 * @property {Record<string, (place: Place) => Promise<Contestant>>} contestants `raw` is the limit, `lathe` is ours
 * @property {string[]} [corpora] what it needs; it is left out where that is missing
 * @property {(output: string, place: Place) => boolean} [verify] whether an answer is right; wrong ones are marked
 * @property {boolean} [isRefusal] the right answer is an error
 * @property {string} [unit] of `count`
 * @property {Goal[]} goals
 * @property {number} [timeoutMs] of one run; 15 s when left out
 * @property {number} [rounds] how often at most; 7 when left out
 * @property {{ of: string, size: number }} [growth] one point of a curve: cost over size
 * @property {boolean} [isQuick] part of quick runs
 * @property {boolean} [isOnlyQuick] and of no others
 * @property {string} [note] what a reader of the results has to know
 */

/** @param {Omit<Case, 'group'>[]} cases */
export const group = (name, cases) => cases.map((one) => ({ group: name, ...one }));

const libraries = ['lathe', 'pi', 'gemini-core', 'qwen-core'];

/**
 * A case of one tool call, for every library that has the tool.
 * @param {Omit<Case, 'contestants' | 'group'> & {
 *   root: (place: Place) => string,
 *   call: (tools: object, place: Place) => Promise<string> | undefined,
 *   raw?: (place: Place) => Promise<unknown>,
 *   prepare?: (place: Place) => unknown,
 *   contestants?: Case['contestants'] }} options
 */
export function toolCase({ root, call, raw, prepare, contestants, ...rest }) {
  const before = (place) => prepare && (() => prepare(place));
  const ofLibrary = (name) => async (place) => {
    const { open } = await import(`./tools/${name}.mjs`);
    const tools = await open({ ...place, root: root(place) });
    return { run: () => call(tools, place), prepare: before(place) };
  };
  const ofRaw = async (place) => ({
    run: async () => {
      await raw(place);
      return '';
    },
    prepare: before(place),
  });
  return {
    ...rest,
    contestants: {
      ...(raw && { raw: ofRaw }),
      ...Object.fromEntries(libraries.map((name) => [name, ofLibrary(name)])),
      ...contestants,
    },
  };
}

/** A tool that a library does not have. */
export class NotThere extends Error {}

/** The folder of a package that a peer was installed with. */
export function peerPackage({ peers }, peer, name) {
  const path = join(peers, peer, 'node_modules', name);
  if (!existsSync(path)) throw new NotThere('not installed');
  return path;
}

/** Runs a program to its end and reads its output to the last byte without keeping it. */
export function drained(program, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'], ...options });
    child.stdout.on('data', () => {});
    child.on('close', () => resolve('')).on('error', reject);
  });
}
