// Uses Lathe as a program that installed it does: `node dist/main.js` runs all checks with node:test.
import './own-tools.js';
import './parts.js';
import './lathe.js';
import './agent.js';
