export { type FleetIo, FleetUsageError } from './commands/io.js';
export { runFleet } from './commands/run-fleet.js';
export { type FleetStatus, followStatus } from './commands/status-commands.js';
