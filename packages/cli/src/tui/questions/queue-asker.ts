import type { Asker } from '@lathe/core';
import { visibleText } from '@lathe/core/host';
import type { QuestionQueue } from './question-queue.js';

/** Puts the questions of a model into the question queue, one after the other. */
export function queueAsker(queue: QuestionQueue): Asker {
  return {
    async ask(questions, signal) {
      const answers: (string | undefined)[] = [];
      for (const [index, { question, options }] of questions.entries()) {
        const step = questions.length > 1 ? ` (${index + 1} of ${questions.length})` : '';
        const title = `The model asks${step}: ${visibleText(question)}`;
        const choices = options.map((option) => ({ label: visibleText(option), value: option }));
        answers.push(await queue.choose({ title, choices, takesText: true, isModels: true }, signal));
      }
      return answers;
    },
  };
}
