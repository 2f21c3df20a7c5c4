// The live page: sessions, questions, the prompt box and the settings of the session.
import { data, keys, redraw } from './page.client.js';
import { ApiError, chosenSession, events, request, setFragment } from './page-connection.client.js';
import { byId, drawDiff, make } from './page-dom.client.js';
import { addNote, applyEvent, reset, visible } from './page-events.client.js';

const [prompt, cancel, status] = ['prompt', 'cancel', 'status'].map(byId);
const questions = new Map();
let session;
let stop = new AbortController();
/** The question on the screen. */
let asked;

const isAtWork = () => session?.status === 'working' || session?.status === 'waiting';

/** Runs what a person asked for, and says what went wrong. */
async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    status.textContent = visible(error.message);
    if (error.status === 401) byId('token-dialog').showModal();
  }
}

function setSession(next) {
  const before = session;
  session = next;
  const { id, title, cwd = '', model, notes = [], mode = '', effort = '' } = session;
  Object.assign(data, {
    id,
    title: visible(title),
    directory: visible(cwd),
    model: visible(model),
    notes: notes.map(visible),
  });
  const settings = { mode, model, effort };
  const hasChanged = ['id', 'mode', 'model', 'effort'].some((name) => before?.[name] !== session[name]);
  if (hasChanged) for (const [name, value] of Object.entries(settings)) byId(name).value = value;
  drawControls(session);
  redraw();
  if (before?.id !== id || before.status !== session.status || before.title !== title) void attempt(listSessions);
}

function drawControls({ mode = 'mode', model, effort = '', status: state }) {
  byId('settings-now').textContent = `${mode} · ${visible(model)}${effort && ` · ${effort}`}`;
  byId('send').textContent = isAtWork() ? 'Add' : 'Send';
  cancel.disabled = !isAtWork();
  const words = { idle: 'Ready.', working: 'At work…', waiting: 'A question needs your answer.', stored: 'Closed.' };
  status.textContent = words[state] ?? '';
}

async function listSessions() {
  const { sessions } = await request('GET', '');
  const items = sessions.map(({ id, title, status: state, updated }) => {
    const [item, button] = [make('li'), make('button', state, visible(title) || 'New session')];
    button.type = 'button';
    button.dataset.id = id;
    if (id === session?.id) button.setAttribute('aria-current', 'true');
    button.append(make('small', '', `${state} · ${new Date(updated).toLocaleString()}`));
    item.append(button);
    return item;
  });
  const focused = document.activeElement?.dataset.id;
  byId('session-items').replaceChildren(...items);
  if (focused) items.find(({ firstChild }) => firstChild.dataset.id === focused)?.firstChild.focus();
  return sessions;
}

async function show(id) {
  stop.abort();
  stop = new AbortController();
  const own = stop.signal;
  const opened = await request('POST', `/${id}/open`);
  const known = await request('GET', `/${id}/messages`);
  if (own.aborted) return;
  questions.clear();
  drawQuestion();
  setFragment({ session: id });
  reset([]);
  setSession(opened);
  void attempt(() => follow(id, known, own));
}

/** The messages from before the first event. All of them if what happened since cannot be told from them. */
function earlier({ messages, lastEventId }, replayed) {
  if (replayed.some(({ type }) => type === 'compaction-end')) return [];
  const added = replayed.filter(({ type, id }) => type === 'message-add' && id <= lastEventId);
  return messages.slice(0, Math.max(0, messages.length - added.length));
}

function onConnection(isConnected) {
  document.body.classList.toggle('cut', !isConnected);
  if (!isConnected) status.textContent = 'The connection was lost. Trying again…';
  else if (status.textContent.startsWith('The connection')) status.textContent = 'Connected again.';
}

async function follow(id, known, signal) {
  let { lastEventId } = known;
  let replayed = lastEventId > 0 ? [] : undefined;
  let done = 0;
  if (!replayed) reset(known.messages);
  for await (const event of events(id, { signal, onConnection })) {
    if (signal.aborted) return;
    if (event.type === 'gap') {
      const now = await request('GET', `/${id}/messages`);
      reset(now.messages);
      addNote('Some steps are missing here: the server no longer has them.');
      await readQuestions(id);
      [done, replayed] = [now.lastEventId, undefined];
    } else if (replayed && event.id < lastEventId) replayed.push(event);
    else if (replayed) {
      replayed.push(event);
      reset(earlier(known, replayed));
      for (const each of replayed) take(each);
      replayed = undefined;
      lastEventId = 0;
    } else if (event.id > done) take(event);
  }
}

/** Reads the questions in full. */
async function readQuestions(id) {
  const open = await request('GET', `/${id}/questions`);
  if (id !== session.id) return;
  questions.clear();
  for (const question of open.questions) questions.set(question.id, question);
  drawQuestion();
}

/** Events cut long texts, and nobody should approve what is not shown. */
const isWhole = ({ question }) => question && question.text.length < 65_000;

function take(event) {
  if (event.type === 'session-update') setSession(event.session);
  else if (event.type === 'session-end') setSession({ ...session, status: 'stored' });
  else if (event.type === 'question-add' && !isWhole(event)) void attempt(() => readQuestions(session.id));
  else if (event.type === 'question-add') questions.set(event.question.id, event.question);
  else if (event.type === 'question-end') questions.delete(event.questionId);
  else return applyEvent(event);
  drawQuestion();
}

function drawQuestion() {
  const [next] = questions.values();
  if (next?.id === asked?.id) return;
  asked = next;
  byId('question').hidden = !asked;
  byId('question-text').replaceChildren();
  byId('options').replaceChildren();
  if (!asked) return;
  // The server has made the text visible, and it must not be cut.
  const { kind, tool = '', text, confirmation } = asked;
  const titles = {
    approval: `Allow ${tool}?`,
    question: 'The model asks',
    field: 'A server asks',
    consent: 'A server asks',
  };
  byId('question-title').textContent = visible(titles[kind] ?? 'A question');
  byId('question-text').append(confirmation?.fileDiff ? drawDiff(text) : make('pre', '', text));
  drawOptions(asked);
}

function makeButton(label, onClick, className) {
  const button = make('button', className, label);
  button.type = 'button';
  button.addEventListener('click', onClick);
  return button;
}

function drawOptions(question) {
  const buttons = question.options.map((option) =>
    makeButton(
      visible(option.label),
      () => (option.takesText ? attempt(() => drawTextStep(question, option)) : answer(question, option)),
      option.isLasting ? 'lasting' : '',
    ),
  );
  byId('options').replaceChildren(...buttons);
  // A click that was meant for what was here before must not answer.
  for (const button of buttons) button.disabled = true;
  setTimeout(() => buttons.forEach((button) => (button.disabled = false)), 400);
}

/** The words that go with an option; for a change of a file, the whole new text. */
async function drawTextStep(question, option) {
  const isFile = option.id === 'edit';
  const listed = isFile ? (await request('GET', `/${session.id}/questions`)).questions : [];
  if (question !== asked) return;
  const [label, field] = [
    make('label', '', isFile ? 'The new text of the file' : 'Your words (may stay empty)'),
    make('textarea'),
  ];
  field.rows = isFile ? 8 : 2;
  field.value = listed.find(({ id }) => id === question.id)?.confirmation?.newContent ?? '';
  label.append(field);
  const words = () => (isFile || field.value.trim() !== '' ? { text: field.value } : {});
  const send = makeButton(visible(option.label), () => answer(question, option, words()));
  byId('options').replaceChildren(
    label,
    send,
    makeButton('Back', () => drawOptions(question)),
  );
  field.focus();
}

async function answer(question, option, words = {}) {
  const path = `/${session.id}/questions/${question.id}`;
  await attempt(() => request('POST', path, { option: option.id, ...words }));
  prompt.focus();
}

async function sendPrompt() {
  const text = prompt.value;
  if (text.trim() === '') return;
  if (!session) await show((await request('POST', '', {})).id);
  else if (session.status === 'stored') await show(session.id);
  await request('POST', `/${session.id}/${isAtWork() ? 'steer' : 'prompt'}`, { text });
  prompt.value = '';
}

function onSubmit(id, action) {
  byId(id).addEventListener('submit', (event) => {
    event.preventDefault();
    void attempt(action);
  });
}

onSubmit('composer', sendPrompt);
onSubmit('settings', async () => {
  const [mode, model, effort] = ['mode', 'model', 'effort'].map((id) => byId(id).value.trim());
  const wanted = { mode, effort, ...(model !== session?.model && { model }) };
  const settings = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value));
  if (session) setSession(await request('PATCH', `/${session.id}`, settings));
  else await show((await request('POST', '', settings)).id);
  byId('settings-box').open = false;
});
prompt.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void attempt(sendPrompt);
});
cancel.addEventListener('click', () => void attempt(() => request('POST', `/${session.id}/cancel`)));
byId('new').addEventListener('click', () => void attempt(async () => show((await request('POST', '', {})).id)));
byId('session-items').addEventListener('click', ({ target }) => {
  const id = target.closest('button')?.dataset.id;
  if (id) void attempt(() => show(id));
});
byId('token-dialog').addEventListener('close', () => {
  setFragment({ token: byId('token').value.trim() });
  void attempt(start);
});
Object.assign(keys, {
  i: () => prompt.focus(),
  s: () => byId('session-list').firstElementChild.focus(),
  q: () => byId(asked ? 'question-text' : 'prompt').focus(),
});

async function start() {
  const sessions = await listSessions();
  const id = chosenSession() || sessions.find(({ status: state }) => state !== 'stored')?.id;
  if (id)
    await show(id).catch((error) => (error instanceof ApiError ? setFragment({ session: '' }) : Promise.reject(error)));
}

byId('session-list').open = matchMedia('(min-width: 801px)').matches;
setInterval(() => document.hidden || byId('token-dialog').open || void attempt(listSessions), 5000);
setInterval(() => isAtWork() && redraw(), 1000);
prompt.focus();
void attempt(start);
