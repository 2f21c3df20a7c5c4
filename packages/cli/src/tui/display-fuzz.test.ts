import type { AgentEvent } from '@lathe/agent';
import { type Confirmation, type Display } from '@lathe/core';
import { hasHiddenText, visibleText } from '@lathe/core/host';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { foreignControls } from '../../../../testing/terminal-sequences.js';
import type { Io } from '../command-line/io.js';
import { sanitizeOutput } from '../command-line/sanitize-output.js';
import { TextOutput } from '../headless/text-output.js';
import { renderItem } from '../render/history-item.js';
import { renderMarkdown } from '../render/markdown.js';
import { styleFor } from '../render/style.js';
import type { ViewContext } from '../render/view-context.js';
import { liveLines, spinnerLine, statusLine } from './live-lines.js';
import { promptText } from './prompt/prompt-text.js';
import { optionsOf } from './questions/confirmation-options.js';
import { confirmationText } from './questions/confirmation-text.js';
import { emptyScreen, nextScreen, type ScreenEvent, type ScreenState } from './screen-state.js';

const style = styleFor({ TERM: 'xterm-256color' });
const contextOf = (width: number): ViewContext => ({
  style,
  width,
  markdown: (text, columns) => renderMarkdown(text, columns, style),
  isScreenReader: false,
  toolName: (name) => name,
});

/** Terminal sequences, characters that hide or reorder text, and syntax of Markdown, diffs and JSON. */
const pieces = [
  '\u001b[2J',
  '\u001b[3J\u001b[H',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://evil\u001b\\label\u001b]8;;\u001b\\',
  '\u001b]52;c;aGk=\u0007',
  '\u001b]9;notify\u0007',
  '\u001bPq#0;2;0;0;0\u001b\\',
  '\u001b_Gf=100;AAAA\u001b\\',
  '\u001bc',
  '\u001b[?1049h',
  '\u001b[31m',
  '\u001b',
  '\u009b2J',
  '\u009d0;x\u009c',
  '\u0090q',
  '\r',
  '\b\b',
  '\u0007',
  '\u000e',
  '\u202e',
  '\u2066',
  '\u200b',
  '\u{e0041}',
  '\ud800',
  '\u007f',
  '\n',
  '\t',
  '```',
  '**',
  '`',
  '[a](b)',
  '| a |\n|---|\n| b |',
  '- ',
  '> ',
  '# ',
  '+',
  '-',
  '@@ -1 +1 @@\n',
  '\\ ',
  '漢字',
  '👩‍👩‍👧',
  'e\u0301',
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 6 })), { maxLength: 8 })
  .map((parts) => parts.join(''));

/** The same text in every kind of display. */
function displaysOf(text: string): Display[] {
  const diffStat = {
    model_added_lines: 0,
    model_removed_lines: 0,
    model_added_chars: 0,
    model_removed_chars: 0,
    user_added_lines: 0,
    user_removed_lines: 0,
    user_added_chars: 0,
    user_removed_chars: 0,
  };
  const fileDiff = `--- ${text}\n+++ ${text}\n@@ -1 +1 @@\n-${text}\n+${text}x\n ${text}\n`;
  return [
    text,
    { type: 'file_diff', fileName: text, filePath: text, fileDiff, diffStat },
    { type: 'todo_list', todos: [{ id: text, content: text, status: 'in_progress' }] },
    { type: 'plan_summary', message: text, plan: text },
    {
      type: 'task_execution',
      subagentName: text,
      taskDescription: text,
      taskPrompt: text,
      status: 'completed',
      result: text,
      toolCalls: [{ callId: '1', name: text, description: text, status: text }],
    },
    { type: 'terminal_output', text, totalBytes: text.length },
  ];
}

function confirmationsOf(text: string): Confirmation[] {
  const base = { title: text, warnings: [text], rules: [text], choices: [{ id: 'a', label: text }] };
  return [
    { ...base, type: 'edit', fileName: text, filePath: text, fileDiff: `--- ${text}\n@@ -1 +1 @@\n-${text}\n+${text}` },
    { ...base, type: 'exec', command: text, rootCommand: text, directory: text },
    { ...base, type: 'info', prompt: text, urls: [text] },
    { ...base, type: 'mcp', serverName: text, toolName: text, toolDisplayName: text, args: { [text]: text } },
    { ...base, type: 'plan', plan: text },
  ];
}

const agent = (event: AgentEvent): ScreenEvent => ({ type: 'agent', event, now: 1 });
const usage = { inputTokens: 1, outputTokens: 2, cachedInputTokens: 0, reasoningTokens: 0 };
const statuses = ['validating', 'awaiting_approval', 'scheduled', 'executing'] as const;
const ends = ['success', 'error', 'cancelled'] as const;

/** Every event that can carry the text to the screen. */
function eventsOf(text: string, index: number): ScreenEvent[] {
  const callId = String(index);
  const displays = displaysOf(text);
  const display = displays[index % displays.length] ?? text;
  const status = statuses[index % statuses.length] ?? 'executing';
  const end = ends[index % ends.length] ?? 'error';
  const error = { type: 'unknown', message: text } as const;
  const times = { startedAt: 0, durationMs: 1 };
  const outcome = {
    callId,
    name: text,
    description: text,
    llmContent: text,
    response: {},
    returnDisplay: display,
    ...times,
  };
  const finish: AgentEvent =
    end === 'success'
      ? { type: 'call-end', outcome: { ...outcome, status: end } }
      : { type: 'call-end', outcome: { ...outcome, status: end, error } };
  return [
    { type: 'begin', prompt: text, now: 0 },
    agent({ type: 'call-update', callId, name: text, description: text, status, args: {} }),
    agent({ type: 'call-output', callId, display }),
    ...(index % 2 === 0 ? [agent(finish)] : []),
    agent({ type: 'reasoning-delta', text }),
    agent({ type: 'text-delta', text: `${text}\n\nx\n` }),
    agent({ type: 'retry', attempt: 1, delayMs: 1, reason: text }),
    agent({ type: 'notice', level: 'warning', message: text }),
    agent({ type: 'message-add', message: { role: 'model', parts: [{ text }] } }),
    agent({
      type: 'prompt-end',
      end: { reason: 'error', text, message: text, turns: 1, usage, durationMs: 1, modelMs: 1 },
    }),
    agent({ type: 'text-delta', text }),
  ];
}

/** All outputs: scrollback, expanded cards, live part, prompt, questions, and output without a screen. */
const paths: ((text: string, index: number, context: ViewContext) => string[])[] = [
  (text, index, context) => screenOf(text, index).items.map((item) => renderItem(item, context)),
  (text, index, context) =>
    screenOf(text, index).items.map((item) =>
      item.type === 'call' || item.type === 'reasoning' ? renderItem({ ...item, isExpanded: true }, context) : '',
    ),
  (text, index, context) => {
    const screen = screenOf(text, index);
    return [
      ...liveLines(screen, context, { now: 5, rows: 30, isExpanded: index % 2 === 0 }),
      spinnerLine(screen, context, 5),
      statusLine(screen, { model: text, mode: text, sandbox: text }, context),
    ];
  },
  (text, index, context) => questionOf(text, index, context),
  (text, index) => [promptText({ text, cursor: index % (text.length + 1) }, text, { style, width: 80 })],
  (text) => [...headless(text), sanitizeOutput(JSON.stringify({ text })), sanitizeOutput(text)],
];

const screenOf = (text: string, index: number) => eventsOf(text, index).reduce<ScreenState>(nextScreen, emptyScreen);

function questionOf(text: string, index: number, context: ViewContext): string[] {
  const confirmation = confirmationsOf(text)[index % 5];
  if (!confirmation) return [];
  const request = {
    callId: '1',
    tool: text,
    displayName: text,
    description: text,
    args: {},
    reason: text,
    confirmation,
  };
  const { title, body, warnings } = confirmationText(request, context);
  const options = optionsOf({
    request,
    answer: () => undefined,
    offersAlways: true,
    explain: () => undefined,
  });
  return [...title, ...body, ...warnings, ...options.map(({ label }) => label)];
}

/** The output of `lathe -p`. */
function headless(text: string): string[] {
  const printed: string[] = [];
  const print = (line: string) => void printed.push(line);
  const output = new TextOutput({ out: print, err: print } as unknown as Io);
  output.event({ type: 'notice', level: 'warning', message: text });
  output.end({ text, message: text } as Parameters<TextOutput['end']>[0]);
  return printed;
}

const perRun = 20;
/** Ten thousand strings in the long test run. */
const runs = process.env['LATHE_LONG'] ? 500 : 50;

test('SF01, SF12: hostile strings in every display leave only our own colours', () => {
  fc.assert(
    fc.property(
      fc.array(hostile, { minLength: perRun, maxLength: perRun }),
      fc.integer({ min: 8, max: 120 }),
      (texts, width) => {
        const context = contextOf(width);
        const foreign: string[] = [];
        texts.forEach((text, index) => {
          for (const shown of paths.flatMap((path) => path(text, index, context))) {
            const isClean = foreignControls(shown.replaceAll('\t', '')).length === 0 && !shown.includes('\u202e');
            if (!isClean) foreign.push(`${JSON.stringify(text)} became ${JSON.stringify(shown)}`);
          }
        });
        expect(foreign).toEqual([]);
      },
    ),
    { numRuns: runs, seed: 20 },
  );
}, 300_000);

test('SF08: live lines and questions fit any width and height', () => {
  fc.assert(
    fc.property(
      fc.array(hostile, { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 10, max: 60 }),
      fc.integer({ min: 1, max: 40 }),
      (texts, width, rows) => {
        const context = contextOf(width);
        const screen = texts.flatMap(eventsOf).reduce<ScreenState>(nextScreen, emptyScreen);
        const live = liveLines(screen, context, { now: 5, rows, isExpanded: rows % 2 === 0 });
        expect(live.length).toBeLessThanOrEqual(rows);
        for (const line of [
          spinnerLine(screen, context, 5),
          statusLine(screen, { model: 'm', mode: 'x', sandbox: 'y' }, context),
        ])
          expect(stringWidth(line)).toBeLessThanOrEqual(width);
      },
    ),
    { numRuns: 200, seed: 21 },
  );
}, 60_000);

test('SF05: a question without a warning shows the command exactly as it runs', () => {
  fc.assert(
    fc.property(fc.oneof(hostile, fc.string()), (command) => {
      const { body, isPlain, warnings } = confirmationText(
        {
          reason: 'r',
          confirmation: { type: 'exec', title: 't', command, rootCommand: 'x', directory: '/d' },
        },
        { ...contextOf(1_000_000), style: styleFor({ NO_COLOR: '1' }) },
      );
      const shown = body.join('\n').slice(2, -'\nin /d'.length);
      // Wrapping may compose accents, which does not change how the text looks.
      if (isPlain) expect(shown.replaceAll('→   ', '\t').normalize()).toBe(command.normalize());
      else expect([hasHiddenText(command) || shown !== command, warnings.length]).toEqual([true, 2]);
    }),
    { numRuns: 2000, seed: 22 },
  );
});

test.each([
  0x00, 0x07, 0x08, 0x0d, 0x1b, 0x7f, 0x85, 0x9b, 0xa0, 0xad, 0x061c, 0x115f, 0x1160, 0x17b4, 0x180e, 0x2000, 0x200b,
  0x200e, 0x202a, 0x202e, 0x2028, 0x2060, 0x2066, 0x2069, 0x206f, 0x2800, 0x3000, 0x3164, 0xfeff, 0xffa0, 0xe0001,
  0xe0041, 0xe007f,
])('SF02: U+%s in a command is escaped, causes a warning, and excludes "always"', (code) => {
  const character = String.fromCodePoint(code);
  for (const confirmation of confirmationsOf(`a${character}b`).slice(1, 4)) {
    const request = { callId: '1', tool: 't', displayName: 't', description: 'd', args: {}, reason: 'r', confirmation };
    const { body, warnings, isPlain } = confirmationText(request, contextOf(200));
    expect(body.join('\n')).not.toContain(character);
    expect([isPlain, warnings.join('\n').includes('invisible')]).toEqual([false, true]);
  }
});

test('SF03: ten thousand spaces do not push a command out of sight', () => {
  for (const space of [' ', '\t', '\n']) {
    const command = `ls ${space.repeat(10_000)}CANARY`;
    const [, confirmation] = confirmationsOf(command);
    if (!confirmation) throw new Error('there are five');
    const request = { callId: '1', tool: 't', displayName: 't', description: 'd', args: {}, reason: 'r', confirmation };
    const { body, isPlain, warnings } = confirmationText(request, contextOf(80));
    expect(body.length).toBeLessThan(8);
    expect(visibleText(body.join('\n'))).toMatch(/⟨1000[01] whitespace characters⟩ CANARY/);
    expect([isPlain, warnings.join(' ').includes('long runs of whitespace')]).toEqual([false, true]);
  }
});
