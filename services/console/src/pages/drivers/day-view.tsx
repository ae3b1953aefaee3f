import type { Driver } from '@outrider/client';
import { addDays, dateOf, dayStart } from '../../days.ts';
import { ScoreChip } from '../../drivers/score-chip.tsx';
import { tripKey } from '../../drivers/scores.ts';
import { driverWords } from '../../drivers/words.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { route, setQuery } from '../../router.ts';
import { joined, t } from '../../words/words.ts';
import { type DayData, type Shift, shareOf, shiftsOf } from './day.ts';
import { loadDay } from './load-day.ts';

/** The hours that the timeline names. */
const HOURS = [0, 6, 12, 18, 24];
/** Refresh interval of the current day. */
const REFRESH_MS = 60_000;

/** A driver's day: vehicles, trips, violations. */
export function DayView({ driver }: { driver: Driver }) {
  const { timeZone } = preferences.value;
  const today = dateOf(Date.now(), timeZone);
  const wanted = route.value.query.get('day') ?? '';
  const date = /^\d{4}-\d\d-\d\d$/.test(wanted) && wanted <= today ? wanted : today;
  const span = { fromMs: dayStart(date, timeZone).getTime(), toMs: dayStart(addDays(date, 1), timeZone).getTime() };
  const data = useReading<DayData>(
    (ending) => loadDay(driver.id, span, ending),
    [driver.id, span.fromMs, span.toMs],
    date === today ? REFRESH_MS : null,
  );
  const go = (day: string) => setQuery({ day: day === today ? null : day });
  return (
    <div class="body">
      <Present driverId={driver.id} />
      <div class="day-choice">
        <IconButton icon="back" label={driverWords().dayBefore} onClick={() => go(addDays(date, -1))} />
        <input
          type="date"
          aria-label={driverWords().tabs.day}
          value={date}
          max={today}
          onChange={(event) => event.currentTarget.value !== '' && go(event.currentTarget.value)}
        />
        <button
          type="button"
          class="icon"
          aria-label={driverWords().dayAfter}
          disabled={date >= today}
          onClick={() => go(addDays(date, 1))}
        >
          <Icon name="forward" />
        </button>
        <a
          class="button"
          href={`/reports?kind=drivers&driver=${driver.id}&from=${iso(span.fromMs)}&to=${iso(span.toMs)}`}
        >
          <Icon name="chart" /> {driverWords().reports}
        </a>
      </div>
      <Loaded of={data}>{(day) => <Day data={day} span={span} />}</Loaded>
    </div>
  );
}

function TripScore({ score }: { score: number | undefined }) {
  return score === undefined ? null : <ScoreChip score={score} />;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}

/** The vehicle that the driver has now. */
function Present({ driverId }: { driverId: string }) {
  void fleet.version.value;
  const vehicle = fleet.vehiclesByDriver().get(driverId);
  if (vehicle === undefined) return <p class="present quiet">{driverWords().drivesNothing}</p>;
  const state = fleet.stateOf(fleet.indexOf(vehicle.id));
  return (
    <p class="present">
      <span>
        {driverWords().drivesNow}{' '}
        <a href={`/?vehicle=${vehicle.id}`}>
          <bdi>{vehicle.name}</bdi>
        </a>
      </span>
      <span class={`chip ${state}`}>{t().states[state]}</span>
    </p>
  );
}

function Day({ data, span }: { data: DayData; span: { fromMs: number; toMs: number } }) {
  const words = driverWords();
  const format = formats();
  const shifts = shiftsOf(data, span, Date.now());
  if (shifts.length === 0 && data.trips.length === 0)
    return <Message icon="driver" title={words.noShifts} hint={words.noShiftsHint} />;
  return (
    <>
      <section>
        <h3>{words.shifts}</h3>
        <Timeline shifts={shifts} span={span} />
        <ol class="timeline">
          {shifts.map((shift) => (
            <li key={`${shift.vehicleId} ${shift.fromMs}`}>
              <a href={trackLink({ vehicleId: shift.vehicleId, fromMs: shift.fromMs, toMs: shift.toMs })}>
                <time dateTime={iso(shift.fromMs)}>{format.time(shift.fromMs)}</time>–
                {shift.isOpen ? '…' : <time dateTime={iso(shift.toMs)}>{format.time(shift.toMs)}</time>}
              </a>
              <span>
                <bdi>{shift.vehicleName}</bdi>
                <small>
                  {[
                    format.duration((shift.toMs - shift.fromMs) / 1000),
                    format.distance(shift.distanceM),
                    words.tripCount(shift.trips),
                    shift.isByHand ? words.byHand : words.byCode,
                  ].join(' · ')}
                </small>
              </span>
            </li>
          ))}
        </ol>
      </section>
      <section>
        <h3>{words.trips}</h3>
        {data.trips.length === 0 && <small>{t().noTrips}</small>}
        <ol class="timeline">
          {data.trips.map((trip) => {
            const atMs = Date.parse(trip.startedAt);
            const toMs = trip.endedAt === null ? Date.now() : Date.parse(trip.endedAt);
            return (
              <li key={`${trip.vehicleId} ${trip.startedAt}`}>
                <a href={trackLink({ vehicleId: trip.vehicleId, fromMs: atMs, toMs, atMs })}>
                  <time dateTime={trip.startedAt}>{format.time(trip.startedAt)}</time>
                </a>
                <span>
                  <bdi>{trip.vehicleName}</bdi>,{' '}
                  {trip.endedAt === null
                    ? `${t().ongoing}, ${format.duration(trip.durationSeconds)}`
                    : t().tripSummary(format.distance(trip.distanceM), format.duration(trip.durationSeconds))}
                  <small>
                    <bdi>{joined([trip.startPlace, trip.endPlace], ' – ')}</bdi>
                  </small>
                </span>
                <TripScore score={data.scores.get(tripKey(trip))} />
              </li>
            );
          })}
        </ol>
      </section>
      <section>
        <h3>{words.violations}</h3>
        {data.violations.length === 0 && <small>{words.noViolations}</small>}
        <ol class="timeline">
          {data.violations.map((event) => (
            <li key={event.id}>
              <a href={trackLink({ vehicleId: event.vehicleId, atMs: Date.parse(event.startedAt) })}>
                <time dateTime={event.startedAt}>{format.time(event.startedAt)}</time>
              </a>
              <span>
                {joined(
                  [
                    t().events[event.kind] ?? event.kind,
                    event.alarm,
                    event.peakKmh === null ? null : format.speed(event.peakKmh),
                    event.vehicleName,
                  ],
                  ', ',
                )}
                <small>
                  <bdi>{event.startPlace}</bdi>
                </small>
              </span>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

/** One line per vehicle, from midnight to midnight. The list below has the same content as text. */
function Timeline({ shifts, span }: { shifts: readonly Shift[]; span: { fromMs: number; toMs: number } }) {
  const lines = [...Map.groupBy(shifts, ({ vehicleId }) => vehicleId).values()];
  const hourMs = (hour: number) => span.fromMs + ((span.toMs - span.fromMs) * hour) / 24;
  return (
    <div class="shift-lines" aria-hidden="true">
      {lines.map((line) => (
        <div key={line[0]?.vehicleId} class="vehicle-line">
          <small>
            <bdi>{line[0]?.vehicleName}</bdi>
          </small>
          <span>
            {line.map((shift) => {
              const start = shareOf(shift.fromMs, span);
              const length = Math.max(0.5, shareOf(shift.toMs, span) - start);
              return (
                <i
                  key={shift.fromMs}
                  class={shift.isByHand ? 'by-hand' : undefined}
                  style={{ insetInlineStart: `${start}%`, inlineSize: `${length}%` }}
                />
              );
            })}
          </span>
        </div>
      ))}
      <div class="hours">
        {HOURS.map((hour) => (
          <small key={hour} style={hour === 24 ? {} : { insetInlineStart: `${(hour / 24) * 100}%` }}>
            {formats().time(hourMs(hour))}
          </small>
        ))}
      </div>
    </div>
  );
}
