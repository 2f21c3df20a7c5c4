import { createRequire, isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { compileFunction, runInThisContext } from 'node:vm';
import { transform } from 'sucrase';
import { textOf, toParts } from '../contract/content.js';
import { ToolError } from '../contract/errors.js';
import { CallSlot } from '../contract/tool-call.js';
import { codeOf } from '../files/fs-error.js';
import { isWithin } from '../files/workspace.js';
import { type AnyTool, BaseTool, defineTool } from '../tools/tools.js';

/** What `import … from '@lathe/core'` gives a tool file, wherever the file is. */
const offered = { BaseTool, CallSlot, defineTool, textOf, toParts, ToolError };
const core = new Proxy<Exports>(offered, {
  get: (target, key) => {
    if (typeof key === 'symbol' || key === '__esModule' || Object.hasOwn(target, key)) return Reflect.get(target, key);
    throw new Error(`tool files get ${Object.keys(target).join(', ')} from @lathe/core, not ${key}`);
  },
});

/**
 * Runs the files and collects the tools they export. Each becomes a CommonJS module: unlike an ES module, it can be loaded
 * again after a change, and its imports are ours to resolve: packages only from below `packagesIn`. Files that begin with
 * `_` only help others.
 */
export async function loadToolFiles(
  folder: string,
  texts: Readonly<Record<string, string>>,
  packagesIn: string,
): Promise<{ tools: AnyTool[]; problems: { name: string; reason: string }[] }> {
  const load = loaderOf(folder, texts, packagesIn);
  const tools: AnyTool[] = [];
  const problems: { name: string; reason: string }[] = [];
  for (const name of Object.keys(texts).filter((each) => !each.startsWith('_'))) {
    try {
      const found = withinTime(() => toolsIn(load(name)));
      if (found.length === 0) throw new Error(`it exports no tool; write: export default ${exampleFor(load(name))}`);
      const reserved = found.find((tool) => tool.name.includes('__'));
      if (reserved) throw new Error(`"${reserved.name}": names with __ belong to MCP servers`);
      tools.push(...found);
    } catch (error) {
      problems.push({ name, reason: describe(error, join(folder, name)) });
    }
  }
  return { tools, problems };
}

/** A file that loads for longer is stopped, because nothing else can happen meanwhile. */
const loadMs = 5_000;

/** Runs `work`, but not for ever. Only code that `runInThisContext` runs, and what it calls, can be stopped. */
function withinTime<T>(work: () => T): T {
  const results: T[] = [];
  const key = 'lathe load tool file';
  Object.defineProperty(globalThis, key, { value: () => results.push(work()), configurable: true });
  try {
    runInThisContext(`globalThis['${key}']()`, { timeout: loadMs });
  } catch (error) {
    const isLate = codeOf(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    throw isLate ? new Error(`it did not finish loading within ${loadMs / 1000} s`) : error;
  } finally {
    Reflect.deleteProperty(globalThis, key);
  }
  const [result] = results;
  if (result === undefined) throw new Error('it did not load');
  return result;
}

/** The tools that a file exports, or that it is, as CommonJS has it. */
function toolsIn(exported: Exports): AnyTool[] {
  const all = isTool(exported) ? [exported] : Object.values(exported).flat();
  return [...new Set(all)].filter(isTool);
}

type Exports = Record<string, unknown>;

function loaderOf(
  folder: string,
  texts: Readonly<Record<string, string>>,
  packagesIn: string,
): (name: string) => Exports {
  const modules = new Map<string, { exports: Exports }>();
  const requirePackage = createRequire(join(folder, 'tool.js'));
  const place = isWithin(packagesIn, dirname(folder)) ? dirname(folder) : packagesIn;
  const resolvePackage = (specifier: string): string | undefined => {
    try {
      return requirePackage.resolve(specifier);
    } catch (error) {
      if (codeOf(error) === 'MODULE_NOT_FOUND') return undefined;
      throw error;
    }
  };
  const requireFrom = (specifier: string): unknown => {
    if (specifier === '@lathe/core') return core;
    if (isBuiltin(specifier)) return requirePackage(specifier);
    if (!specifier.startsWith('.')) {
      const path = resolvePackage(specifier);
      if (path === undefined || !isWithin(packagesIn, path)) throw new Error(installAdvice(specifier, place));
      return requirePackage(path);
    }
    const stem = basename(specifier).replace(/\.(?:js|mjs|ts)$/, '');
    const name = Object.keys(texts).find((each) => each.replace(/\.(?:js|mjs|ts)$/, '') === stem);
    // Only these files are part of what the user agreed to.
    if (name === undefined || join(folder, specifier, '..') !== folder)
      throw new Error(`cannot import ${specifier}: only files of ${folder}, packages and Node's own modules`);
    return load(name);
  };
  const load = (name: string): Exports => {
    const known = modules.get(name);
    if (known) return known.exports;
    const module: { exports: Exports } = { exports: {} };
    modules.set(name, module);
    try {
      const filename = join(folder, name);
      const run = compileFunction(toCommonJs(texts[name] ?? '', name), ['require', 'exports', 'module'], { filename });
      run(requireFrom, module.exports, module);
    } catch (error) {
      modules.delete(name);
      throw error;
    }
    return module.exports;
  };
  return load;
}

function toCommonJs(text: string, filePath: string): string {
  const transforms = filePath.endsWith('.ts') ? (['typescript', 'imports'] as const) : (['imports'] as const);
  return transform(text, { transforms: [...transforms], disableESTransforms: true, filePath }).code;
}

function installAdvice(specifier: string, place: string): string {
  const [name] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [specifier];
  return `cannot import ${specifier}: install it in ${place}, with: npm install --prefix ${place} ${name}`;
}

/** A class is often exported where an instance was meant. */
function exampleFor(exports: Exports): string {
  const [name] =
    Object.entries(exports).find(([, value]) => typeof value === 'function' && value.prototype instanceof BaseTool) ??
    [];
  if (name === undefined) return 'defineTool({ … })';
  return `new ${name === 'default' ? 'TheClass' : name}(), an instance instead of the class`;
}

/** By its shape, because a package may bring its own copy of the base class. */
function isTool(value: unknown): value is AnyTool {
  if (value instanceof BaseTool) return true;
  const isFunction = (key: string) =>
    typeof value === 'object' && value !== null && key in value && typeof Reflect.get(value, key) === 'function';
  return ['execute', 'validateToolParams', 'shouldConfirmExecute', 'getTargets', 'getDescription'].every(isFunction);
}

/** The message, with the line of the file where it arose. */
function describe(error: unknown, path: string): string {
  if (!(error instanceof Error)) return inspect(error, { depth: 0 });
  const line = error.stack?.split(`${path}:`)[1]?.match(/^\d+/)?.[0];
  return `${error.message}${line === undefined ? '' : ` (line ${line})`}`;
}
