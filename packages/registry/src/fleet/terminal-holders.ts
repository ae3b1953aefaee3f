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
 * Terminals that these writes fit to vehicles, and that sent data for a vehicle of another dealer before: such a
 * terminal still sends, and a vehicle that gets its id gets its data. Operators may move them, and so may the service
 * itself.
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
 * Writes down who had the terminals that vehicles gave up, of those that sent data; forgets it of those that vehicles
 * got.
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
