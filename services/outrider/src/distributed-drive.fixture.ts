import type { LngLat, Position, Shape, VehicleId } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import { generateDrive } from '@outrider/simulator';
import { callAt, type Instance } from './distributed.fixture.ts';
import { type Happening, happening } from './plain-rules.fixture.ts';

/** What the plain rules know. */
const PLAIN_KINDS: ReadonlySet<string> = new Set(['geofence-visit', 'speeding']);
const YEARS_LATER_MS = 16 * 365.25 * 86_400_000;

/** A generated drive as a Teltonika terminal carries it: whole speeds, seven decimals. */
export function teltonikaDrive(seed: number, fixes: number): Position[] {
  const kept: Position[] = [];
  for (const generated of generateDrive(fixes, seed)) {
    const position = {
      ...generated,
      fixTimeMs: generated.fixTimeMs + YEARS_LATER_MS,
      latitude: Math.round(generated.latitude * 1e7) / 1e7,
      longitude: Math.round(generated.longitude * 1e7) / 1e7,
    };
    const last = kept.at(-1);
    const seconds = last ? (position.fixTimeMs - last.fixTimeMs) / 1000 : 1;
    const metres = last ? distanceM(last.longitude, last.latitude, position.longitude, position.latitude) : 0;
    const speedKmh = seconds > 0 ? Math.round((metres / seconds) * 3.6) : 0;
    if (seconds <= 0 || speedKmh > 250) continue;
    kept.push({ ...position, speedKmh, courseDeg: 90, altitudeM: 100, satellites: 9, ignition: true });
  }
  return kept;
}

/** On the way of a drive, so that it enters and leaves them. */
export function shapesOn(positions: readonly Position[]): Shape[] {
  const at = (share: number): LngLat => {
    const { longitude, latitude } = positions[Math.floor(positions.length * share)] as Position;
    return [longitude, latitude];
  };
  return [0.15, 0.35, 0.55, 0.75, 0.9].map((share) => ({ type: 'circle', center: at(share), radiusM: 150 }));
}

export function heard(live: { of(type: string): Record<string, unknown>[] }, vehicleId: VehicleId): Happening[] {
  return live
    .of('event')
    .filter((event) => event.vehicleId === vehicleId && PLAIN_KINDS.has(String(event.kind)))
    .map((event) =>
      happening(
        String(event.kind),
        String(event.phase),
        event.geofenceId as string | null,
        Date.parse(String(event.fixTime)),
      ),
    );
}

export async function track(api: Instance, jwt: string, vehicleId: VehicleId): Promise<string[]> {
  const fixTimes: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: { fixTime: string }[]; nextCursor: string | null } = await callAt(
      api,
      jwt,
      'GET',
      `/api/v1/reports/track?vehicleId=${vehicleId}&from=2005-01-01T00:00:00.000Z&to=2045-01-01T00:00:00.000Z&limit=1000${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    );
    fixTimes.push(...page.items.map(({ fixTime }) => fixTime));
    cursor = page.nextCursor;
  }
  return fixTimes;
}

export async function counted({ ports }: Instance, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ports.health}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'gm'))].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
