import { type Config, type Variables, whole } from '@outrider/runtime';

/** Settings that the API and the notifier, which sends commands, must share. */
export const commandVariables = {
  ENGINE_BLOCK_MAX_KMH: whole(
    0,
    100,
    20,
    'An engine is blocked by a command only while the vehicle is not faster; commands may name a lower speed.',
  ),
  ENGINE_BLOCK_POSITION_SECONDS: whole(
    10,
    3600,
    120,
    'How old the position may be that says how fast a vehicle is whose engine is to be blocked.',
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
