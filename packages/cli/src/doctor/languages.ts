import type { AgentLathe } from '@lathe/agent';
import type { Finding } from './finding.js';

type Status = Awaited<ReturnType<AgentLathe['languages']['status']>>[number];

/** Starts the language servers of the project. */
export async function languages({ languages: servers }: Pick<AgentLathe, 'languages'>): Promise<Finding[]> {
  return (await servers.status()).map(finding);
}

function finding(server: Status): Finding {
  const title = `${server.language} server`;
  switch (server.status) {
    case 'missing':
      return { state: 'note', title, detail: server.reason };
    case 'failed':
      return { state: 'bad', title, detail: `${server.command}: ${server.reason}` };
    case 'ready':
      return { state: 'ok', title, detail: `${server.command}, started in ${server.startMs} ms` };
  }
}
