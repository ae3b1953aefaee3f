import type { EcoDrivingRow } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { readTripScore } from '../../drivers/eco-driving.ts';
import { ecoWords } from '../../drivers/eco-words.ts';
import { PointList } from '../../drivers/points.tsx';
import { ScoreChip } from '../../drivers/score-chip.tsx';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { Panel } from '../../parts/panel.tsx';
import { route, setQuery } from '../../router.ts';
import type { ReplayClock } from '../../track/clock.ts';
import type { Mark } from '../../track/marks.ts';
import { OrderVideo } from '../../video/order-video.tsx';
import { t } from '../../words/words.ts';
import type { Part } from './load.ts';
import { describeMark, nameOf } from './names.ts';
import { trackWords } from './words.ts';

/** Details of the chosen mark: a trip, a stop, an event, or a gap. */
export function MarkCard({ parts, clock }: { parts: readonly Part[]; clock: ReplayClock }) {
  const key = route.value.query.get('mark');
  const mark = parts.flatMap(({ marks }) => marks).find((one) => one.key === key);
  if (mark === undefined) return null;
  const { vehicleId, fromMs, toMs, longitude, latitude } = mark;
  const format = formats();
  return (
    <Panel
      kind="panel card"
      label={trackWords().details}
      onClose={() => setQuery({ mark: null })}
      head={
        <div>
          <h2>{describeMark(mark)}</h2>
          <small>
            <bdi>{nameOf(vehicleId)}</bdi>
          </small>
        </div>
      }
    >
      <div class="body">
        <dl class="facts">
          {factsOf(mark).map(([label, value]) => (
            <>
              <dt key={`${label} term`}>{label}</dt>
              <dd key={label}>
                <bdi>{value}</bdi>
              </dd>
            </>
          ))}
          <dt>{t().place}</dt>
          <dd>
            <bdi>{format.coordinates(latitude, longitude)}</bdi>
          </dd>
        </dl>
        {mark.kind === 'trip' && <TripScore key={mark.key} vehicleId={vehicleId} startedAtMs={fromMs} />}
        <div class="actions">
          <button type="button" onClick={() => clock.seek(fromMs)}>
            {trackWords().toBegin}
          </button>
          <OrderVideo vehicleId={vehicleId} atMs={fromMs} />
          {toMs !== null && toMs > fromMs && (
            <>
              <button type="button" onClick={() => clock.seek(toMs)}>
                {trackWords().toEnd}
              </button>
              <a class="button" href={trackLink({ vehicleId, fromMs, toMs: toMs + 1000 })}>
                {trackWords().onlyThis}
              </a>
            </>
          )}
        </div>
      </div>
    </Panel>
  );
}

/** Driving score of the trip, and the causes of penalty points. */
function TripScore({ vehicleId, startedAtMs }: { vehicleId: string; startedAtMs: number }) {
  const found = useSignal<EcoDrivingRow | null>(null);
  useEffect(() => {
    const ending = new AbortController();
    readTripScore(vehicleId, startedAtMs, ending.signal).then(
      (row) => (found.value = row),
      // The trip is shown without its score.
      () => {},
    );
    return () => ending.abort();
  }, [vehicleId, startedAtMs]);
  const row = found.value;
  if (row === null) return null;
  return (
    <section class="trip-score" aria-label={ecoWords().score}>
      <p>
        {ecoWords().score} <ScoreChip score={row.ecoScore} />
      </p>
      <PointList points={row} />
    </section>
  );
}

function factsOf({ fromMs, toMs, durationSeconds, distanceM, row }: Mark): [string, string][] {
  const format = formats();
  const event = row !== null && 'phase' in row ? row : null;
  const facts: [string, string | null][] = [
    [trackWords().begin, format.dateTimeWithSeconds(fromMs)],
    [trackWords().end, toMs === null ? t().ongoing : format.dateTimeWithSeconds(toMs)],
    [trackWords().duration, format.duration(durationSeconds)],
    [t().distance, distanceM === null ? null : format.distance(distanceM)],
    [t().geofence, event?.geozoneName ?? null],
    [trackWords().limit, event?.limitKmh == null ? null : format.speed(event.limitKmh)],
    [t().highestSpeed, event?.peakKmh == null ? null : format.speed(event.peakKmh)],
    [t().alarms, event?.alarm ?? null],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}
