import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { playDrive } from '@outrider/simulator';
import type { RunningService } from './service.fixture.ts';

/** A few minutes ago. */
const T0 = Date.now() - 20 * 60_000;

/** Minutes of a drive along a parallel, at these longitudes: a depot at 13.405 E may lie on its way. */
export function depotDrive(fromMinute: number, ...longitudes: number[]): Position[] {
  return longitudes.map((longitude, nth) => ({
    ...blankPosition(T0 + (fromMinute + nth) * 60_000, 52.52, longitude),
    speedKmh: 40,
    satellites: 9,
  }));
}

/** Sends it as a Teltonika terminal does. Resolves when all is acknowledged. */
export function playTo({ ports }: RunningService, terminalId: TerminalId, positions: readonly Position[]) {
  return playDrive({ protocol: 'teltonika', host: '127.0.0.1', port: ports.teltonika, terminalId, positions });
}
