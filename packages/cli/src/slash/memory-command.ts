import { join } from 'node:path';
import { openContextFiles } from '@lathe/agent';
import { visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

/** `/memory`: the context files that the model was given in this conversation, or will be with the first prompt. */
export async function showMemory({
  lathe,
  driver,
  say,
}: Pick<SlashContext, 'lathe' | 'driver' | 'say'>): Promise<void> {
  const given = driver.conversation?.contextFiles ?? [];
  const next = openContextFiles(lathe);
  const { notices } = given.length > 0 ? { notices: [] } : await next.opening();
  const files = given.length > 0 ? given : next.loaded;
  const lines = files.map(({ path, owner, characters }) => {
    const whose = owner === 'person' ? 'yours' : lathe.loaded.isTrusted ? 'this project' : 'this project, not trusted';
    return `${path} (${whose}, ${characters} characters)`;
  });
  const title = given.length > 0 ? 'Loaded in this conversation:' : 'Loaded with the first prompt:';
  const names = lathe.settings.context.fileName.join(', ');
  const text = [
    ...(lines.length > 0 ? [title, ...lines.map((line) => `  ${line}`)] : ['No context files.']),
    ...notices.filter(({ level }) => level === 'warning').map(({ message }) => message),
    `Looked for: ${names} in ${lathe.home.path}, in ${join(lathe.userHome, '.qwen')}, and from the root of the project down to where you work.`,
  ];
  say(text.map((line) => visibleText(`  ${line}`)).join('\n'));
}
