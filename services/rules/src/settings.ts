import { type Config, type Variables, whole } from '@outrider/runtime';
import type { RulesConfig } from './rules.ts';

/** Settings of the rules. */
export const rulesVariables = {
  CHECKPOINT_MS: whole(50, 60_000, 5000, 'Interval at which the rules save their progress.'),
} satisfies Variables;

const CHECKPOINT_PACKETS = 100_000;

/** Configuration of the rules, from the settings. */
export function rulesConfigOf(config: Config<typeof rulesVariables>): RulesConfig {
  return { checkpointMs: config.CHECKPOINT_MS, checkpointPackets: CHECKPOINT_PACKETS };
}
