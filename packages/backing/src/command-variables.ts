import { type Config, type Variables, whole } from '@outrider/runtime';

/** Settings that the API and the notifier, which sends commands, must share. */
export const commandVariables = {
  ENGINE_BLOCK_MAX_KMH: whole(
    0,
    100,
    20,
    'Highest speed at which a command may block the engine. A command may set a lower one.',
  ),
  ENGINE_BLOCK_POSITION_SECONDS: whole(
    10,
    3600,
    120,
    'Maximum age of the position that shows the speed of the vehicle before its engine is blocked.',
  ),
} satisfies Variables;

/** The conditions for blocking an engine, from the settings. */
export function engineBlockOf(config: Config<typeof commandVariables>): {
  maxSpeedKmh: number;
  positionMaxAgeMs: number;
} {
  return {
    maxSpeedKmh: config.ENGINE_BLOCK_MAX_KMH,
    positionMaxAgeMs: config.ENGINE_BLOCK_POSITION_SECONDS * 1000,
  };
}
