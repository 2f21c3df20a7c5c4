import type { AgentLathe } from '@lathe/agent';
import type { Finding } from './finding.js';

type Status = Awaited<ReturnType<AgentLathe['languages']['status']>>[number];

/** Starts the language servers of the project. */
export async function languages({ languages: servers }: Pick<AgentLathe, 'languages'>): Promise<Finding[]> {
  return (await servers.status()).map(finding);
}

function finding({ language, command, state }: Status): Finding {
  const title = `${language} server`;
  switch (state.status) {
    case 'missing':
      return { state: 'note', title, detail: state.reason };
    case 'failed':
      return { state: 'bad', title, detail: `${command}: ${state.reason}` };
    case 'ready':
      return { state: 'ok', title, detail: `${command}, started in ${state.startMs} ms` };
    case 'found':
    case 'starting':
    case 'stopped':
      return { state: 'note', title, detail: `${command} (${state.status})` };
  }
}
