// The live page: sessions, questions, the prompt box and the settings of the session.
import { ApiError, LatheClient } from '@lathe/agent/client';
import { data, keys, redraw, rows } from './page.client.js';
import { byId, drawDiff, fill, make } from './page-dom.client.js';
import { PageRows, visible } from './page-rows.ts';

const [prompt, cancel, status] = ['prompt', 'cancel', 'status'].map(byId);
const timeline = new PageRows(rows, redraw);
const questions = new Map();
/** The token is in the fragment of the address, which browsers never send. */
let client;
let session;
let stop = new AbortController();
let newest = stop;
/** The question on the screen. */
let asked;

const fragment = () => new URLSearchParams(location.hash.slice(1));

/** Keeps token and session in the address, so that a reload shows the same. */
function setFragment(values) {
  const next = new URLSearchParams({ ...Object.fromEntries(fragment()), ...values });
  history.replaceState(null, '', `#${next}`);
}

const isAtWork = () => session?.status === 'working' || session?.status === 'waiting';

/** Runs what a person asked for, and says what went wrong. */
async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    status.textContent = error.status ? visible(error.message) : 'The server does not answer. Is it still running?';
    if (error.status === 401) byId('token-dialog').showModal();
  }
}

function setSession(next) {
  const before = session;
  session = next;
  const { id, title, cwd = '', model, notes = [], mode = '', effort = '' } = session;
  const texts = { title: visible(title), directory: visible(cwd), model: visible(model) };
  Object.assign(data, { id, ...texts, notes: notes.map(visible) });
  const hasChanged = ['id', 'mode', 'model', 'effort'].some((name) => before?.[name] !== session[name]);
  if (hasChanged) for (const [name, value] of Object.entries({ mode, model, effort })) byId(name).value = value;
  drawControls(session);
  redraw();
  if (before?.id !== id || before.status !== session.status || before.title !== title) void attempt(listSessions);
}

function drawControls({ mode = 'mode', model, effort = '', status: state }) {
  fill(byId('settings-now'), `${mode} · ${visible(model)}${effort && ` · ${effort}`}`);
  fill(byId('send'), isAtWork() ? 'Add' : 'Send');
  cancel.disabled = !isAtWork();
  const words = { idle: 'Ready.', working: 'At work…', waiting: 'A question needs your answer.', stored: 'Closed.' };
  fill(status, words[state] ?? '');
}

async function listSessions() {
  const sessions = await client.sessions();
  const items = sessions.map(({ id, title, status: state, updated }) => {
    const item = make('li');
    const button = makeButton(visible(title) || 'New session', () => attempt(() => show(id)), state);
    button.dataset.id = id;
    if (id === session?.id) button.setAttribute('aria-current', 'true');
    button.append(make('small', '', `${state} · ${new Date(updated).toLocaleString()}`));
    item.append(button);
    return item;
  });
  const focused = document.activeElement?.dataset.id;
  fill(byId('session-items'), ...items);
  if (focused) items.find(({ firstChild }) => firstChild.dataset.id === focused)?.firstChild.focus();
  return sessions;
}

async function show(id) {
  const own = new AbortController();
  newest = own;
  const opened = await client.openSession(id);
  const known = await client.messages(id);
  if (newest !== own) return;
  stop.abort();
  stop = own;
  questions.clear();
  drawQuestion();
  setFragment({ session: id });
  timeline.reset([]);
  setSession(opened);
  void attempt(() => follow(id, known, own.signal));
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
  /** The events that the server kept, until all of them are here. */
  let replayed = known.lastEventId > 0 ? [] : undefined;
  let done = 0;
  if (!replayed) timeline.reset(known.messages);
  for await (const event of client.events(id, { signal, onConnection })) {
    if (signal.aborted) return;
    if (event.type === 'gap') {
      const now = await client.messages(id);
      timeline.reset(now.messages);
      timeline.addNote('Some steps are missing here: the server no longer has them.');
      await readQuestions(id);
      [done, replayed] = [now.lastEventId, undefined];
    } else if (!replayed) {
      if (event.id > done) take(event);
    } else {
      replayed.push(event);
      if (event.id < known.lastEventId) continue;
      timeline.reset(earlier(known, replayed));
      replayed.forEach(take);
      replayed = undefined;
    }
  }
}

/** Reads the questions in full. */
async function readQuestions(id) {
  const open = await client.questions(id);
  if (id !== session.id) return;
  questions.clear();
  for (const question of open) questions.set(question.id, question);
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
  else if (event.type === 'usage') data.usage = event.usage;
  timeline.apply(event);
  drawQuestion();
}

function drawQuestion() {
  const [next] = questions.values();
  if (next?.id === asked?.id) return;
  asked = next;
  byId('question').hidden = !asked;
  if (!asked) return;
  // The server has made the text visible. Its last lines, warnings and the reason, stay in sight however long it is.
  const { kind, tool = '', text, confirmation = {} } = asked;
  const lines = text.split('\n');
  const notes = kind === 'approval' ? lines.splice(-1 - (confirmation.warnings?.length ?? 0)) : [];
  const titles = { approval: `Allow ${tool}?`, question: 'The model asks' };
  byId('question-title').textContent = visible(titles[kind] ?? 'A server asks');
  const rest = lines.join('\n');
  byId('question-text').replaceChildren(confirmation.fileDiff ? drawDiff(rest) : make('pre', '', rest));
  fill(byId('question-notes'), ...notes.map((note) => make('li', note.startsWith('! ') ? 'state' : '', note)));
  drawOptions(asked);
}

const makeButton = (label, onClick, className) =>
  Object.assign(make('button', className, label), { type: 'button', onclick: onClick });

function drawOptions(question) {
  const choose = (option) => attempt(() => (option.takesText ? drawTextStep : answer)(question, option));
  // Answers for this call come before those that last.
  const buttons = question.options
    .toSorted((a, b) => Boolean(a.isLasting) - Boolean(b.isLasting))
    .map((option) => makeButton(visible(option.label), () => choose(option), option.isLasting && 'lasting'));
  byId('options').replaceChildren(...buttons);
  // A click that was meant for what was here before must not answer.
  for (const button of buttons) button.disabled = true;
  setTimeout(() => buttons.forEach((button) => (button.disabled = false)), 400);
}

/** The words that go with an option; for a change of a file, the whole new text. */
async function drawTextStep(question, option) {
  const isFile = option.id === 'edit';
  const listed = isFile ? await client.questions(session.id) : [];
  if (question !== asked) return;
  const label = make('label', '', isFile ? 'The new text of the file' : 'Your words (may stay empty)');
  const value = listed.find(({ id }) => id === question.id)?.confirmation?.newContent ?? '';
  const field = Object.assign(make('textarea'), { rows: isFile ? 8 : 2, value });
  label.append(field);
  const words = () => (isFile || field.value.trim() !== '' ? { text: field.value } : {});
  const send = makeButton(visible(option.label), () => answer(question, option, words()));
  const back = makeButton('Back', () => drawOptions(question));
  byId('options').replaceChildren(label, send, back);
  field.focus();
}

async function answer(question, option, words = {}) {
  await attempt(() => client.answer(session.id, question.id, { option: option.id, ...words }));
  // On a touch screen the prompt box would bring up the keyboard.
  byId(matchMedia('(pointer: coarse)').matches ? 'rows' : 'prompt').focus();
}

const create = async (settings) => show((await client.createSession(settings)).id);

async function sendPrompt() {
  const text = prompt.value;
  if (text.trim() === '') return;
  // Another Enter must not send it again.
  prompt.value = '';
  try {
    if (!session) await create();
    else if (session.status === 'stored') await show(session.id);
    await (isAtWork() ? client.steer(session.id, text) : client.prompt(session.id, text));
  } catch (error) {
    prompt.value = [text, prompt.value].filter(Boolean).join('\n');
    throw error;
  }
}

/** Does what a person asks for instead of what the browser would do. */
function on(id, event, action) {
  byId(id).addEventListener(event, (happened) => {
    happened.preventDefault();
    void attempt(action);
  });
}

on('composer', 'submit', sendPrompt);
on('settings', 'submit', async () => {
  const [mode, model, effort] = ['mode', 'model', 'effort'].map((id) => byId(id).value.trim());
  const wanted = { mode, effort, ...(model !== session?.model && { model }) };
  const settings = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value));
  if (session) setSession(await client.updateSession(session.id, settings));
  else await create(settings);
  byId('settings-box').open = false;
});
prompt.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  void attempt(sendPrompt);
});
on('cancel', 'click', () => client.cancel(session.id));
on('new', 'click', () => create());
on('token-dialog', 'close', () => {
  const token = byId('token').value.trim();
  setFragment({ token: token.replace(/^.*#token=/, '') });
  return start();
});
Object.assign(keys, {
  i: ['write a prompt, which Enter sends', () => prompt.focus()],
  s: ['sessions', () => byId('session-list').firstElementChild.focus()],
  q: ['the question that waits', () => byId(asked ? 'question-text' : 'prompt').focus()],
});

async function start() {
  client = new LatheClient({ url: location.href });
  const sessions = await listSessions();
  const id = fragment().get('session') || sessions.find(({ status: state }) => state !== 'stored')?.id;
  if (id)
    await show(id).catch((error) => (error instanceof ApiError ? setFragment({ session: '' }) : Promise.reject(error)));
}

byId('session-list').open = matchMedia('(min-width: 801px)').matches;
setInterval(() => document.hidden || byId('token-dialog').open || void attempt(listSessions), 5000);
setInterval(() => isAtWork() && redraw(), 1000);
prompt.focus();
void attempt(start);
