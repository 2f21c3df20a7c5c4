import type { AgentLathe } from '@lathe/agent';
import type { StateSize } from '@lathe/core/host';
import type { Finding } from './finding.js';

/** How much Lathe keeps of earlier work. */
export async function state({ retention, settings }: Pick<AgentLathe, 'retention' | 'settings'>): Promise<Finding[]> {
  const sizes = await retention.sizes();
  const { days, megabytes } = settings.retention;
  const rule = `kept for ${days < 0 ? 'ever' : `${days} days`}, up to ${megabytes < 0 ? 'any size' : `${megabytes} MB`} each`;
  const list = sizes.map((size) => `${size.kind} ${describeSize(size)}`).join(', ');
  return [{ state: 'ok', title: 'state', detail: `${list} (${rule}; lathe clean removes more)` }];
}

export function describeSize({ files, bytes }: Pick<StateSize, 'files' | 'bytes'>): string {
  const size = bytes < 1024 * 1024 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
  return `${size} in ${files} ${files === 1 ? 'file' : 'files'}`;
}
