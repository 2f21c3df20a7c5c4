import type { Model, ModelEvent, ModelRequest } from '../model.js';
import { ModelError } from '../model-error.js';
import type { RecordingWriter } from './recording.js';

/** Wraps a model so that its answers are recorded, except interrupted ones. */
export function recordModel(model: Model, recording: RecordingWriter): Model {
  return {
    get id() {
      return model.id;
    },
    get provider() {
      return model.provider;
    },
    get contextWindow() {
      return model.contextWindow;
    },
    get supports() {
      return model.supports;
    },
    get effortLevels() {
      return model.effortLevels;
    },
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      let problems: Record<string, string> = {};
      try {
        for await (const event of model.stream(request, signal)) {
          if (event.type === 'retry' || event.type === 'fallback') problems = {};
          if (event.type === 'broken-call') problems[event.id] = event.problem;
          if (event.type === 'finish') {
            const { message, reason, usage } = event;
            recording.write(model, request, { answer: { message, reason, usage, problems } });
          }
          yield event;
        }
      } catch (error) {
        if (error instanceof ModelError && !signal.aborted)
          recording.write(model, request, { error: { kind: error.kind, message: error.message } });
        throw error;
      }
    },
  };
}
