import type { Span, Tracer } from '@lathe/core/host';
import type { Message, Model, ModelEvent, ModelRequest, Usage } from '../models/model.js';
import { ModelError } from '../models/model-error.js';
import type { AgentEvent } from './agent-event.js';

export interface AgentTraceOptions {
  /** Of the agent: `lathe`, or a subagent's name. */
  name: string;
  /** The span of the call that a subagent works for. */
  parent?: Span | undefined;
}

/** Records an agent's prompts as `invoke_agent` spans, and its requests to models as `chat` spans in them. */
export class AgentTrace {
  /** Of the prompt that is worked on now. */
  span: Span | undefined;
  readonly #tracer: Tracer;
  readonly #options: AgentTraceOptions;

  constructor(tracer: Tracer, options: AgentTraceOptions) {
    this.#tracer = tracer;
    this.#options = options;
  }

  /** Passes the events of a prompt on, and records it from the first to the last. */
  async *watch(events: AsyncGenerator<AgentEvent>, model: Model): AsyncGenerator<AgentEvent> {
    const { name, parent } = this.#options;
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': name,
      'gen_ai.conversation.id': this.#tracer.conversation,
      ...modelAttributes(model),
    };
    const span = this.#tracer.begin(`invoke_agent ${name}`, attributes, { parent });
    this.span = span;
    const startedAt = performance.now();
    let failure: string | undefined = 'abandoned';
    try {
      for await (const event of events) {
        if (event.type === 'prompt-end') {
          const { reason, usage, turns } = event.end;
          failure = reason === 'done' ? undefined : reason;
          span.set({ ...usageAttributes(usage), 'lathe.turns': turns });
        }
        yield event;
      }
    } finally {
      this.span = undefined;
      span.end(failure);
      this.#measure('invoke_agent', model, startedAt, failure);
    }
  }

  /** The model, with each request recorded. */
  around(model: Model): Model {
    return {
      id: model.id,
      provider: model.provider,
      contextWindow: model.contextWindow,
      supports: model.supports,
      stream: (request, signal) => this.#chat(model, request, signal),
    };
  }

  async *#chat(model: Model, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const attributes = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.conversation.id': this.#tracer.conversation,
      'gen_ai.request.max_tokens': request.maxOutputTokens,
      ...modelAttributes(model),
      ...(this.#tracer.recordsContent && {
        'gen_ai.system_instructions': JSON.stringify([{ type: 'text', content: request.system }]),
        'gen_ai.input.messages': JSON.stringify(request.history.slice(-maxMessages)),
      }),
    };
    const span = this.#tracer.begin(`chat ${model.id}`, attributes, { parent: this.span, isClient: true });
    const startedAt = performance.now();
    let failure: string | undefined = 'abandoned';
    try {
      for await (const event of model.stream(request, signal)) {
        if (event.type === 'finish') {
          failure = undefined;
          this.#finish(span, model, event);
        }
        yield event;
      }
    } catch (error) {
      failure = signal.aborted ? 'aborted' : error instanceof ModelError ? error.kind : 'unexpected';
      throw error;
    } finally {
      span.end(failure);
      this.#measure('chat', model, startedAt, failure);
    }
  }

  #finish(span: Span, model: Model, { reason, usage, message }: FinishEvent): void {
    span.set({
      ...usageAttributes(usage),
      'gen_ai.response.model': model.id,
      'gen_ai.response.finish_reasons': [reason],
      ...(this.#tracer.recordsContent && { 'gen_ai.output.messages': JSON.stringify([message] satisfies Message[]) }),
    });
    const attributes = { 'gen_ai.operation.name': 'chat', ...modelAttributes(model) };
    for (const [type, tokens] of [['input', usage.inputTokens] as const, ['output', usage.outputTokens] as const])
      this.#tracer.measure('gen_ai.client.token.usage', tokens, { ...attributes, 'gen_ai.token.type': type });
  }

  #measure(operation: string, model: Model, startedAt: number, failure: string | undefined): void {
    this.#tracer.measure('gen_ai.client.operation.duration', (performance.now() - startedAt) / 1000, {
      'gen_ai.operation.name': operation,
      ...modelAttributes(model),
      'error.type': failure,
    });
  }
}

type FinishEvent = Extract<ModelEvent, { type: 'finish' }>;

/** The last messages of a request: the earlier ones are in the spans before. */
const maxMessages = 4;

const modelAttributes = (model: Model) => ({
  'gen_ai.provider.name': model.provider,
  'gen_ai.request.model': model.id,
});

function usageAttributes({ inputTokens, outputTokens, cachedInputTokens }: Usage) {
  return {
    'gen_ai.usage.input_tokens': inputTokens,
    'gen_ai.usage.output_tokens': outputTokens,
    'gen_ai.usage.cache_read.input_tokens': cachedInputTokens,
  };
}
