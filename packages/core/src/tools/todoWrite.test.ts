import fc from 'fast-check';
import { expect, test } from 'vitest';
import { schedulerOf } from '../../../../testing/scheduler-kit.js';
import { type TodoStore, TodoWriteTool } from './todoWrite.js';

const never = new AbortController().signal;
const todo = (id: string, status = 'pending', content = `do ${id}`) => ({ id, content, status });

async function write(todos: unknown, store: TodoStore = { todos: [] }) {
  const { scheduler } = schedulerOf([new TodoWriteTool(store)]);
  const [outcome] = await scheduler.run([{ name: 'todo_write', args: { todos } }], never);
  return { outcome, store };
}

test('the whole list is replaced and shown as a list', async () => {
  const store: TodoStore = { todos: [{ id: 'old', content: 'x', status: 'pending' }] };
  const { outcome } = await write([todo('a', 'completed'), todo('b', 'in_progress'), todo('c')], store);
  expect(outcome).toMatchObject({
    status: 'success',
    llmContent: 'Todos saved: 1 completed, 1 in progress, 1 pending. In progress: do b',
    returnDisplay: { type: 'todo_list', todos: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
  });
  expect(store.todos.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

test('an empty list empties it', async () => {
  const { outcome, store } = await write([]);
  expect([outcome?.llmContent, store.todos]).toEqual(['The todo list is empty now.', []]);
});

// SK10
test.each([
  ['the same id twice', [todo('a'), todo('a')], /"a" twice/],
  ['no content', [todo('a', 'pending', '  ')], /no content/],
  ['an unknown status', [todo('a', 'done')], /status/],
  ['no id', [{ content: 'x', status: 'pending' }], /id/],
  ['more than a hundred items', Array.from({ length: 101 }, (_, n) => todo(`${n}`)), /100/],
  ['a long text', [todo('a', 'pending', 'x'.repeat(501))], /500/],
  ['extra fields', [{ ...todo('a'), owner: 'me' }], /owner/],
])('%s is refused and the list stays', async (_title, todos, message) => {
  const store: TodoStore = { todos: [{ id: 'old', content: 'x', status: 'pending' }] };
  const { outcome } = await write(todos, store);
  expect(outcome?.error).toEqual({ type: 'invalid_tool_params', message: expect.stringMatching(message) });
  expect(store.todos.map(({ id }) => id)).toEqual(['old']);
});

// SK10
test('whatever a model sends, the list stays a list of whole todos', async () => {
  await fc.assert(
    fc.asyncProperty(fc.anything(), async (todos) => {
      const { store } = await write(todos);
      for (const item of store.todos) expect(Object.keys(item)).toEqual(['id', 'content', 'status']);
    }),
    { numRuns: 300 },
  );
});
