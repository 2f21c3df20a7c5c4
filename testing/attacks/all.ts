import type { Attack } from './attack.js';
import { fileAttacks } from './files.js';
import { gitAttacks } from './git.js';
import { homeAttacks } from './homes.js';
import { deviceAttacks, kernelAttacks, processAttacks } from './kernel.js';
import { grantAttacks, sharedTreeAttacks } from './shared-tree.js';
import { networkAttacks, socketAttacks } from './sockets.js';

export const allAttacks: readonly Attack[] = [
  ...fileAttacks,
  ...homeAttacks,
  ...gitAttacks,
  ...sharedTreeAttacks,
  ...grantAttacks,
  ...socketAttacks,
  ...networkAttacks,
  ...kernelAttacks,
  ...processAttacks,
  ...deviceAttacks,
];
