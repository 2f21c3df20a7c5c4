import { type AgentLathe, SessionStore } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import { errorMessage } from '../command-line/error-message.js';
import { historyItems } from '../drivers/history-items.js';
import type { Choice } from '../screen/choice-list.js';
import type { SlashContext } from './slash-command.js';

/** The earlier sessions of this directory, newest first. */
export async function sessionChoices({
  home,
  workspace,
}: Pick<AgentLathe, 'home' | 'workspace'>): Promise<Choice<string>[]> {
  const store = await SessionStore.open(home, workspace.root);
  return (await store.list()).map(({ id, updated, title }) => ({
    label: `${id.slice(0, 8)}  ${updated.slice(0, 16).replace('T', ' ')}`,
    detail: visibleText(title.trim().split('\n')[0] ?? '').slice(0, 100) || '(no prompt)',
    value: id,
  }));
}

/** `/sessions` lets the person choose an earlier session; `/sessions ID` resumes that one. */
export async function resumeSession(id: string, context: SlashContext): Promise<void> {
  const { lathe, driver, print, show } = context;
  const { conversation } = driver;
  if (!conversation) return print('  The console has no model, so it cannot resume a session.');
  const wanted = id || (await chooseOther(context, conversation.id));
  if (wanted === undefined) return undefined;
  const notes = await conversation.resume(wanted).catch((error: unknown) => {
    const reason = errorMessage(error);
    throw new Error(reason.replace('see lathe sessions', 'see /sessions'), { cause: error });
  });
  if (notes.length > 0) print(notes.map((line) => visibleText(`  ${line}`)).join('\n'));
  return show(historyItems(driver.conversation?.history ?? [], lathe.tools));
}

async function chooseOther({ lathe, choose, print }: SlashContext, current?: string): Promise<string | undefined> {
  const choices = (await sessionChoices(lathe)).filter(({ value }) => value !== current);
  if (choices.length > 0) return choose({ title: 'Which session?', choices });
  print('  No other sessions in this directory yet.');
  return undefined;
}
