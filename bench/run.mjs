// npm run bench: our figures as ratios to a raw limit, measured side by side. Exits with 1 when a limit is exceeded.
import { setup } from '../scripts/setup.mjs';
import { startup } from './startup.mjs';

setup();
const rows = startup();
for (const { name, ms, ratio, limit } of rows)
  console.log(`${name.padEnd(20)} ${ms.toFixed(0).padStart(5)} ms  ${ratio.toFixed(2)} × node -e 0  (limit ${limit})`);
process.exitCode = rows.some(({ ratio, limit }) => ratio > limit) ? 1 : 0;
