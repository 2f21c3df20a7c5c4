/** Says where a path of a workspace leads, when told to. */
import { Workspace } from '../../packages/core/src/files/workspace.js';
import { whenTold } from './when-told.js';

async function main(root: string, path: string): Promise<void> {
  const workspace = await Workspace.open(root);
  await whenTold(process.pid, () => workspace.locate(path), 'located');
}

void main(process.argv[2] ?? '', process.argv[3] ?? '');
