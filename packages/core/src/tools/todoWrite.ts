import type { XStatic } from 'typebox/schema';
import type { Todo } from '../contract/display.js';
import { BaseTool, type ToolResult } from './tools.js';

const parameterSchema = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      maxItems: 100,
      items: {
        type: 'object',
        properties: {
          id: { type: 'string', minLength: 1, maxLength: 100 },
          content: { type: 'string', minLength: 1, maxLength: 500 },
          status: { enum: ['pending', 'in_progress', 'completed'] },
        },
        required: ['id', 'content', 'status'],
        additionalProperties: false,
      },
    },
  },
  required: ['todos'],
  additionalProperties: false,
} as const;

type TodoParams = XStatic<typeof parameterSchema>;

/** The list of the session, which front ends show too. */
export interface TodoStore {
  todos: readonly Todo[];
}

/** `todo_write`: the model's plan of work, replaced as a whole. It lives in the session and touches nothing else. */
export class TodoWriteTool extends BaseTool<TodoParams> {
  readonly #store: TodoStore;

  constructor(store: TodoStore) {
    super({
      name: 'todo_write',
      displayName: 'TodoWrite',
      description: 'Replace the todo list. Use it for work of several steps; keep one item in progress.',
      kind: 'think',
      parameterSchema,
    });
    this.#store = store;
  }

  protected override validateToolParamValues({ todos }: TodoParams): string | null {
    const ids = new Set<string>();
    for (const { id, content } of todos) {
      if (ids.has(id)) return `todos has the id ${JSON.stringify(id)} twice; each item needs its own`;
      if (content.trim() === '') return `the todo ${JSON.stringify(id)} has no content`;
      ids.add(id);
    }
    return null;
  }

  override getDescription({ todos }: TodoParams): string {
    return this.#store.todos.length === 0 ? `Create ${todos.length} todos` : 'Update todos';
  }

  /** Only the session's own list changes, so it may run in plan mode. */
  override isReadOnly(): boolean {
    return true;
  }

  async execute({ todos }: TodoParams): Promise<ToolResult> {
    const list = todos.map(({ id, content, status }): Todo => ({ id, content, status }));
    this.#store.todos = list;
    return { llmContent: summary(list), returnDisplay: { type: 'todo_list', todos: list } };
  }
}

function summary(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The todo list is empty now.';
  const count = (status: Todo['status']) => todos.filter((todo) => todo.status === status).length;
  const current = todos.find(({ status }) => status === 'in_progress');
  const now = current ? ` In progress: ${current.content}` : '';
  return `Todos saved: ${count('completed')} completed, ${count('in_progress')} in progress, ${count('pending')} pending.${now}`;
}
