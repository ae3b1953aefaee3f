import type { TerminalId, UserId, Vehicle } from '@outrider/domain';
import { OperatorOnlyError } from '../store/errors.ts';
import { inChunks } from '../store/lists.ts';
import type { Writer } from '../store/store.ts';

type Fitted = Pick<Vehicle, 'terminalId' | 'terminalAccess' | 'dealerId'>;

/** A vehicle before and after a write; null before it is created and after it is deleted. */
export interface Refitted {
  current: Fitted | null;
  next: Fitted | null;
}

/**
 * Finds terminals that these writes fit to vehicles although they sent data for a vehicle of another dealer before.
 * Such a terminal may still be sending, and its data would go to the new vehicle. Operators and the service itself may
 * move terminals.
 *
 * @returns by the id of the terminal, why the write is refused
 */
export async function heldByOthers(
  writer: Writer,
  writes: readonly Refitted[],
): Promise<Map<TerminalId, OperatorOnlyError>> {
  const { user } = writer.actor;
  const refused = new Map<TerminalId, OperatorOnlyError>();
  if (user === null || user.role === 'operator') return refused;
  const fitted = new Map<TerminalId, UserId | null>();
  for (const { current, next } of writes)
    if (next?.terminalId && next.terminalId !== current?.terminalId) fitted.set(next.terminalId, next.dealerId);
  for (const some of inChunks([...fitted.keys()])) {
    const rows = await writer.tx.selectFrom('terminalHolders').selectAll().where('terminalId', 'in', some).execute();
    for (const { terminalId, dealerId } of rows)
      if (dealerId !== fitted.get(terminalId as TerminalId))
        refused.set(terminalId as TerminalId, new OperatorOnlyError('terminalId'));
  }
  return refused;
}

/**
 * Records the former holders of terminals that vehicles gave up and that had sent data. Deletes this record for
 * terminals that are fitted to a vehicle again.
 */
export async function noteHolders({ tx, nowMs }: Writer, writes: readonly Refitted[]): Promise<void> {
  const released: { terminalId: TerminalId; dealerId: UserId | null; releasedAtMs: number }[] = [];
  const gained: TerminalId[] = [];
  for (const { current, next } of writes) {
    if (current?.terminalId === next?.terminalId) continue;
    if (current?.terminalId && current.terminalAccess.seen)
      released.push({ terminalId: current.terminalId, dealerId: current.dealerId, releasedAtMs: nowMs });
    if (next?.terminalId) gained.push(next.terminalId);
  }
  for (const some of inChunks(released))
    await tx
      .insertInto('terminalHolders')
      .values(some)
      .onConflict((conflict) =>
        conflict.column('terminalId').doUpdateSet((e) => ({
          dealerId: e.ref('excluded.dealerId'),
          releasedAtMs: e.ref('excluded.releasedAtMs'),
        })),
      )
      .execute();
  for (const some of inChunks(gained)) await tx.deleteFrom('terminalHolders').where('terminalId', 'in', some).execute();
}
