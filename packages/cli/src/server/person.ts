import type { Approver, Asker } from '@lathe/core';
import { approvalText, visibleText } from '@lathe/core/host';
import type { Elicitation, ElicitationAnswer } from '@lathe/core/mcp';
import type { Io } from '../command-line/io.js';
import { type AnswerOption, answerOptions } from '../drivers/answer-options.js';
import { elicit, parseField, quoted } from '../mcp/elicit.js';
import { startBrowser } from '../mcp/open-browser.js';
import type { OpenQuestions } from './open-questions.js';

/** Nobody reads more, and a truncated question would be approved without being seen. */
const maxQuestionChars = 200_000;

const writeOption = { id: 'write', label: 'Write an answer', takesText: true };
const yesNo = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
];

/** Puts the questions of the scheduler, the model and MCP servers to the clients that follow the session. */
export class Person implements Approver, Asker {
  readonly #questions: OpenQuestions;
  readonly #io: Io;

  constructor(questions: OpenQuestions, io: Io) {
    this.#questions = questions;
    this.#io = io;
  }

  decide: Approver['decide'] = async (request, signal) => {
    const text = visibleText(approvalText(request));
    if (text.length > maxQuestionChars) return { outcome: 'deny', message: 'The question is too long to show.' };
    const options = answerOptions(request);
    const { callId, tool, confirmation, isGuarded } = request;
    const asked = { kind: 'approval' as const, text, options: options.map(shown), callId, tool, confirmation };
    const answer = await this.#questions.ask({ ...asked, ...(isGuarded && { isGuarded }) }, signal);
    const option = options.find(({ id }) => id === answer?.option);
    return option?.decide(answer?.text) ?? { outcome: 'deny', message: 'Nobody was there to answer.' };
  };

  ask: Asker['ask'] = async (questions, signal) => {
    const answers: (string | undefined)[] = [];
    for (const { question, options } of questions) {
      const listed = options.map((label, index) => ({ id: String(index + 1), label: visibleText(label) }));
      const none = { id: 'none', label: 'No answer' };
      const asked = { kind: 'question' as const, text: visibleText(question), options: [...listed, writeOption, none] };
      const answer = await this.#questions.ask(asked, signal);
      answers.push(answer?.option === 'write' ? answer.text : options[Number(answer?.option) - 1]);
    }
    return answers;
  };

  elicit = (request: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer> =>
    elicit(request, {
      openPage: (url) => startBrowser(url, this.#io),
      confirm: async ({ server, message, action, content }) => {
        const text = visibleText(`The MCP server "${server}" asks:\n${quoted(message)}\n\n${action}\n${content}`);
        const answer = await this.#questions.ask({ kind: 'consent', text, options: yesNo, isGuarded: true }, signal);
        return answer?.option === 'yes';
      },
      readField: async ({ server, message, field, step }) => {
        const text = visibleText(`The MCP server "${server}" asks (${step}):\n${quoted(message)}\n\n${field.label}`);
        const asked = { kind: 'field' as const, text, options: [writeOption, { id: 'cancel', label: 'Cancel' }] };
        const answer = await this.#questions.ask(asked, signal, ({ option, text: typed = '' }) => {
          const result = parseField(field, typed);
          return option === 'write' && 'problem' in result ? result.problem : undefined;
        });
        const result = answer?.option === 'write' ? parseField(field, answer.text ?? '') : undefined;
        if (!result || 'problem' in result) throw new Error('the person cancelled the form');
        return result.value;
      },
    });
}

function shown({ id, label, takesText, isLasting }: AnswerOption) {
  return { id, label, ...(takesText && { takesText }), ...(isLasting && { isLasting }) };
}
