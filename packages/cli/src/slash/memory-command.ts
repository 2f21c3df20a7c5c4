import { openContextFiles } from '@lathe/agent';
import { personalFolders, visibleText } from '@lathe/core/host';
import type { SlashContext } from './slash-command.js';

/** `/memory` lists the context files that the model has received or will receive with the first prompt. */
export async function showMemory({
  lathe,
  driver,
  print,
}: Pick<SlashContext, 'lathe' | 'driver' | 'print'>): Promise<void> {
  const received = driver.conversation?.contextFiles ?? [];
  const next = openContextFiles(lathe);
  const { notices } = received.length > 0 ? { notices: [] } : await next.opening();
  const files = received.length > 0 ? received : next.loaded;
  const lines = files.map(({ path, owner, characters }) => {
    const origin = owner === 'person' ? 'yours' : lathe.loaded.isTrusted ? 'this project' : 'this project, not trusted';
    return `${path} (${origin}, ${characters} characters)`;
  });
  const title = received.length > 0 ? 'Loaded in this conversation:' : 'Will be loaded with the first prompt:';
  const names = lathe.settings.context.fileName.join(', ');
  const text = [
    ...(lines.length > 0 ? [title, ...lines.map((line) => `  ${line}`)] : ['No context files.']),
    ...notices.filter(({ level }) => level === 'warning').map(({ message }) => message),
    `Lathe looks for ${names} in ${personalFolders(lathe).join(', in ')}, and from the project root down to the current directory. A folder with none of them may have a CLAUDE.md.`,
  ];
  print(text.map((line) => visibleText(`  ${line}`)).join('\n'));
}
