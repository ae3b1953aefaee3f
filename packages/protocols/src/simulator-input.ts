import type { Position, TerminalId } from '@outrider/domain';

/** @throws {TypeError} when the terminal's id is not an IMEI */
export function requireImei(terminalId: TerminalId): void {
  if (!/^\d{15}$/.test(terminalId)) throw new TypeError(`an IMEI has 15 digits: ${terminalId}`);
}

/**
 * The position of a packet that holds one.
 *
 * @throws {RangeError} unless there is exactly one
 */
export function onlyPosition(positions: readonly Position[]): Position {
  const [position] = positions;
  if (position === undefined || positions.length > 1) throw new RangeError(`${positions.length} positions in a packet`);
  return position;
}
