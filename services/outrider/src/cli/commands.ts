import type { CliCommand } from './command.ts';
import { archiveCommands } from './commands/archive.ts';
import { driverCommands } from './commands/drivers.ts';
import { eventCommands } from './commands/events.ts';
import { feedCommands } from './commands/feed.ts';
import { geofenceCommands } from './commands/geofences.ts';
import { groupCommands } from './commands/groups.ts';
import { loginCommands } from './commands/login.ts';
import { protectionCommands } from './commands/protection.ts';
import { userCommands } from './commands/users.ts';
import { vehicleCommands } from './commands/vehicles.ts';

/** All commands that use a running service through its API, in the order of the help. */
export const CLI_COMMANDS: readonly CliCommand[] = [
  ...loginCommands,
  ...vehicleCommands,
  ...groupCommands,
  ...driverCommands,
  ...geofenceCommands,
  ...userCommands,
  ...protectionCommands,
  ...eventCommands,
  ...feedCommands,
  ...archiveCommands,
];
