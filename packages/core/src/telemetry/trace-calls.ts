import { responseText } from '../contract/content.js';
import { type CallWatcher, callSpan, parentSpan, type Tracer } from '../contract/trace.js';

/** Records each call as an `execute_tool` span. */
export function traceCalls(tracer: Tracer): CallWatcher {
  return (call, outer) => {
    const { id, name, request } = call;
    const parent = outer ? callSpan.get(outer) : parentSpan.get(call);
    const span = tracer.begin(
      `execute_tool ${name}`,
      {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': id,
        'gen_ai.tool.type': 'function',
        'gen_ai.conversation.id': tracer.conversation,
        ...(tracer.recordsContent && { 'gen_ai.tool.call.arguments': JSON.stringify(request.args ?? {}) }),
      },
      { parent },
    );
    callSpan.set(call, span);
    return ({ status, error, verdict, decision, response, durationMs }) => {
      span.set({
        'lathe.call.status': status,
        'lathe.call.verdict': verdict?.verdict,
        'lathe.call.decision': decision?.outcome,
        ...(tracer.recordsContent && { 'gen_ai.tool.call.result': responseText(response) }),
      });
      span.end(status === 'success' ? undefined : (error?.type ?? status));
      tracer.measure('gen_ai.client.operation.duration', durationMs / 1000, {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'error.type': status === 'success' ? undefined : (error?.type ?? status),
      });
    };
  };
}
