import type { ShapeVisitsRow } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { TimeRangeField } from '../../parts/forms/time-range-field.tsx';
import { useFresh } from '../../parts/loading/fresh.ts';
import { Failure } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { presetRange, type TimeRange } from '../../time-range.ts';
import { t } from '../../words/words.ts';
import { bodyOf, type Draft } from './draft.ts';
import { byVehicle, type VehicleVisits } from './visits.ts';
import { geofenceWords } from './words.ts';

const PAGE = 1000;
/** Beyond this number, a report is the right tool. */
const MOST_ROWS = 5000;
const INSIDE_POLL_MS = 10_000;
const INSIDE_LOOKED_BACK_MS = 60_000;

/** Past visits to the shape as it is drawn now, whether it is saved or not. */
export function WhatHappened({ draft }: { draft: Draft }) {
  const range = useSignal<TimeRange>(presetRange('last30days', preferences.value.timeZone, Date.now()));
  const shape = JSON.stringify([draft.geometry, draft.radiusM, draft.widthM, draft.minDwellSeconds]);
  // The result belongs to one shape, and is dropped when the shape changes.
  const result = useFresh<'asking' | { vehicles: VehicleVisits[]; isCut: boolean } | { error: string } | null>(null, [
    shape,
  ]);
  const ask = async () => {
    result.value = 'asking';
    try {
      result.value = await read(draft, range.value);
    } catch (error) {
      result.value = { error: describeError(error) };
    }
  };
  const { value } = result;
  return (
    <details class="happened">
      <summary>{geofenceWords().whatHappened}</summary>
      <TimeRangeField
        range={range.value}
        onChange={(next) => {
          range.value = next;
          result.value = null;
        }}
      />
      <button type="button" disabled={draft.geometry === null || value === 'asking'} onClick={ask}>
        {value === 'asking' ? t().loading : geofenceWords().ask}
      </button>
      {value !== null && typeof value === 'object' && 'error' in value && <Failure>{value.error}</Failure>}
      {value !== null && typeof value === 'object' && 'vehicles' in value && <Found {...value} />}
    </details>
  );
}

async function read(draft: Draft, { fromMs, toMs }: TimeRange) {
  const body = bodyOf(draft);
  if (body === null) throw new Error('nothing is drawn');
  const { shape, radiusM, widthM, minDwellSeconds } = body.properties;
  const properties = {
    shape,
    minDwellSeconds,
    ...(radiusM === undefined ? {} : { radiusM }),
    ...(widthM === undefined ? {} : { widthM }),
  };
  const rows: ShapeVisitsRow[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: ShapeVisitsRow[]; nextCursor: string | null } = await api.post(
      '/api/v1/reports/geozone-visits',
      {
        query: {
          from: new Date(fromMs).toISOString(),
          to: new Date(toMs).toISOString(),
          limit: PAGE,
          ...(cursor === null ? {} : { cursor }),
        },
        body: { type: 'Feature', geometry: body.geometry, properties },
      },
    );
    rows.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && rows.length < MOST_ROWS);
  return { vehicles: byVehicle(rows), isCut: cursor !== null };
}

function Found({ vehicles, isCut }: { vehicles: readonly VehicleVisits[]; isCut: boolean }) {
  const format = formats();
  if (vehicles.length === 0) return <p role="status">{geofenceWords().nobody}</p>;
  return (
    <>
      <p role="status">
        {geofenceWords().summary(
          vehicles.length,
          vehicles.reduce((sum, { visits }) => sum + visits.length, 0),
        )}
        {isCut && ` ${geofenceWords().cut}`}
      </p>
      {vehicles.map(({ vehicleId, vehicleName, seconds, visits }) => (
        <details key={vehicleId} class="visits">
          <summary>
            <strong>
              <bdi>{vehicleName}</bdi>
            </strong>{' '}
            {geofenceWords().visits(visits.length)}, {format.duration(seconds)}
          </summary>
          <ol class="timeline">
            {visits.map(({ fromMs, toMs, seconds: stayed }) => (
              <li key={fromMs}>
                <a href={trackLink({ vehicleId, atMs: fromMs, ...(toMs === null ? {} : { toMs: toMs + 600_000 }) })}>
                  <time dateTime={new Date(fromMs).toISOString()}>{format.dateTime(fromMs)}</time>
                </a>
                <span>{toMs === null ? t().ongoing : format.duration(stayed)}</span>
              </li>
            ))}
          </ol>
        </details>
      ))}
    </>
  );
}

interface Inside {
  vehicleId: string;
  vehicleName: string;
  sinceMs: number;
}

/** The vehicles that are in a geofence now, updated regularly. */
export function InsideNow({ geofenceId }: { geofenceId: string }) {
  const inside = useSignal<readonly Inside[] | null>(null);
  useEffect(() => {
    const ending = new AbortController();
    const ask = async () => {
      const now = Date.now();
      const query = {
        geozoneId: geofenceId,
        from: new Date(now - INSIDE_LOOKED_BACK_MS).toISOString(),
        to: new Date(now + 1000).toISOString(),
        limit: PAGE,
      };
      try {
        const { items } = await api.get('/api/v1/reports/geozone-visits', { query, signal: ending.signal });
        inside.value = items
          .filter(({ part, endedAt }) => part === 'inside' && endedAt === null)
          .map(({ vehicleId, vehicleName, startedAt }) => ({ vehicleId, vehicleName, sinceMs: Date.parse(startedAt) }));
      } catch {
        // Ignored: the next poll may succeed.
      }
    };
    void ask();
    const timer = setInterval(() => document.visibilityState === 'visible' && void ask(), INSIDE_POLL_MS);
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [geofenceId]);
  if (inside.value === null) return null;
  return (
    <section aria-live="polite">
      <h3>{geofenceWords().insideNow(inside.value.length)}</h3>
      <ol class="timeline">
        {inside.value.map(({ vehicleId, vehicleName, sinceMs }) => (
          <li key={vehicleId}>
            <a href={`/?vehicle=${vehicleId}`}>
              <bdi>{vehicleName}</bdi>
            </a>
            <small>{t().since(formats().moment(sinceMs))}</small>
          </li>
        ))}
      </ol>
    </section>
  );
}
