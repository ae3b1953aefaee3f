import { type Config, type Variables, whole } from '@outrider/runtime';
import type { RulesConfig } from './rules.ts';

/** What the rules are set up by. */
export const rulesVariables = {
  CHECKPOINT_MS: whole(50, 60_000, 5000, 'How often the rules write down how far they got.'),
} satisfies Variables;

const CHECKPOINT_PACKETS = 100_000;

/** The rules' configuration as it stands in the settings. */
export function rulesConfigOf(config: Config<typeof rulesVariables>): RulesConfig {
  return { checkpointMs: config.CHECKPOINT_MS, checkpointPackets: CHECKPOINT_PACKETS };
}
