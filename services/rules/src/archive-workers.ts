import type * as Keeper from './counters/keeper.ts';
import type * as Recalculator from './recalculation/recalculator.ts';

/*
 * What works on the archive is loaded where one is created. The thread of the rules has none of it: the registry alone
 * would be 1.3 MB of source there, and twice that in memory.
 */

export async function createCounterKeeper(parts: Keeper.CounterKeeperParts): Promise<Keeper.CounterKeeper> {
  return (await import('./counters/keeper.ts')).createCounterKeeper(parts);
}

export async function createRecalculator(parts: Recalculator.RecalculatorParts): Promise<Recalculator.Recalculator> {
  return (await import('./recalculation/recalculator.ts')).createRecalculator(parts);
}
