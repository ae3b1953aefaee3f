import type { TerminalId, UserId, Vehicle } from '@outrider/domain';
import { OperatorOnlyError } from './errors.ts';
import { inChunks } from './lists.ts';
import type { Writer } from './store.ts';

type Fitted = Pick<Vehicle, 'terminalId' | 'terminalAccess' | 'dealerId'>;

/** A vehicle before and after a write; null where there is none. */
export interface Refitted {
  current: Fitted | null;
  next: Fitted | null;
}

/**
 * Terminals that these writes fit to vehicles, and that sent data for a vehicle of another dealer before: such a terminal still sends, and a vehicle that
 * gets its id gets its data. Operators may move them, and so may the service itself.
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
    const rows = await writer.tx.selectFrom('terminal_holders').selectAll().where('terminal_id', 'in', some).execute();
    for (const { terminal_id, dealer_id } of rows)
      if (dealer_id !== fitted.get(terminal_id as TerminalId))
        refused.set(terminal_id as TerminalId, new OperatorOnlyError('terminalId'));
  }
  return refused;
}

/** Writes down who had the terminals that vehicles gave up, of those that sent data; forgets it of those that vehicles got. */
export async function noteHolders({ tx, nowMs }: Writer, writes: readonly Refitted[]): Promise<void> {
  const released: { terminal_id: TerminalId; dealer_id: UserId | null; released_at_ms: number }[] = [];
  const gained: TerminalId[] = [];
  for (const { current, next } of writes) {
    if (current?.terminalId === next?.terminalId) continue;
    if (current?.terminalId && current.terminalAccess.seen)
      released.push({ terminal_id: current.terminalId, dealer_id: current.dealerId, released_at_ms: nowMs });
    if (next?.terminalId) gained.push(next.terminalId);
  }
  for (const some of inChunks(released))
    await tx
      .insertInto('terminal_holders')
      .values(some)
      .onConflict((conflict) =>
        conflict.column('terminal_id').doUpdateSet((e) => ({
          dealer_id: e.ref('excluded.dealer_id'),
          released_at_ms: e.ref('excluded.released_at_ms'),
        })),
      )
      .execute();
  for (const some of inChunks(gained))
    await tx.deleteFrom('terminal_holders').where('terminal_id', 'in', some).execute();
}
