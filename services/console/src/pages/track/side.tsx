import { dateOf } from '../../days.ts';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { preferences } from '../../preferences.ts';
import { MissingNotes } from '../../protection/missing.tsx';
import { route, setQuery } from '../../router.ts';
import { ShareButton } from '../../share/share-button.tsx';
import type { TimeRange } from '../../time-range.ts';
import type { ReplayClock } from '../../track/clock.ts';
import type { Mark } from '../../track/marks.ts';
import { highestKmh } from '../../track/track.ts';
import { OrderVideo } from '../../video/order-video.tsx';
import { t } from '../../words/words.ts';
import type { Part } from './load.ts';
import { describeMark, nameOf } from './names.ts';
import { trackWords } from './words.ts';

const LISTS = ['all', 'trip', 'stop', 'event'] as const;
const FILES = ['gpx', 'csv', 'geojson', 'kml'] as const;
/** Beyond this number, a report is the right tool. */
const MOST_ROWS = 2000;

interface Props {
  parts: readonly Part[];
  vehicleIds: readonly string[];
  range: TimeRange;
  clock: ReplayClock;
}

/** Totals of each vehicle, and all marks in order of time. A click on a row sets the clock. */
export function Side({ parts, vehicleIds, range, clock }: Props) {
  const { query } = route.value;
  const list = LISTS.find((name) => name === query.get('list')) ?? 'all';
  const all = parts.flatMap(({ marks }) => marks).sort((a, b) => a.fromMs - b.fromMs);
  const rows = all.filter(({ kind }) => list === 'all' || kind === list);
  return (
    <div class="scroll">
      {parts.map((part) => (
        <Totals
          key={part.vehicleId}
          part={part}
          number={vehicleIds.indexOf(part.vehicleId)}
          isAlone={parts.length === 1}
        />
      ))}
      <OfThisTrack vehicleIds={vehicleIds} range={range} clock={clock} />
      <fieldset class="lists" aria-label={trackWords().list}>
        {LISTS.map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={name === list}
            onClick={() => setQuery({ list: name === 'all' ? null : name })}
          >
            {trackWords().lists[name]}{' '}
            {formats().number(name === 'all' ? all.length : all.filter((m) => m.kind === name).length)}
          </button>
        ))}
      </fieldset>
      {rows.length === 0 && <small>{trackWords().noRows}</small>}
      <Rows rows={rows.slice(0, MOST_ROWS)} vehicleIds={vehicleIds} clock={clock} isSeveral={parts.length > 1} />
      {rows.length > MOST_ROWS && <small>{trackWords().moreRows(rows.length - MOST_ROWS)}</small>}
      <Downloads vehicleIds={parts.map(({ vehicleId }) => vehicleId)} range={range} />
    </div>
  );
}

/** Actions for the shown tracks: a link to share, and video of the clock's moment. */
function OfThisTrack({ vehicleIds, range, clock }: Omit<Props, 'parts'>) {
  return (
    <div class="actions">
      {vehicleIds.map((id) => (
        <OrderVideo key={id} vehicleId={id} atMs={clock.timeMs.value} />
      ))}
      <ShareButton vehicleIds={vehicleIds} track={range} />
    </div>
  );
}

function Totals({ part, number, isAlone }: { part: Part; number: number; isAlone: boolean }) {
  const format = formats();
  const { track, marks, trips, stops } = part;
  const distanceM = marks.reduce((sum, mark) => sum + (mark.distanceM ?? 0), 0);
  const highest = highestKmh(track);
  return (
    <section>
      {!isAlone && (
        <h2 class={`named vehicle${number}`}>
          <bdi>{nameOf(part.vehicleId)}</bdi>
        </h2>
      )}
      <MissingNotes {...part.missing} />
      {track.count === 0 ? (
        <small>{t().noTrack}</small>
      ) : (
        <dl class="facts">
          <dt>{t().distance}</dt>
          <dd>{format.distance(distanceM)}</dd>
          <dt>{t().highestSpeed}</dt>
          <dd>{Number.isNaN(highest) ? '–' : format.speed(highest)}</dd>
          <dt>{t().trips}</dt>
          <dd>{format.number(trips.length)}</dd>
          <dt>{t().stops}</dt>
          <dd>{format.number(stops.length)}</dd>
        </dl>
      )}
    </section>
  );
}

interface RowsProps {
  rows: readonly Mark[];
  vehicleIds: readonly string[];
  clock: ReplayClock;
  isSeveral: boolean;
}

function Rows({ rows, vehicleIds, clock, isSeveral }: RowsProps) {
  const format = formats();
  const { timeZone } = preferences.value;
  const chosen = route.value.query.get('mark');
  const open = (mark: Mark) => {
    clock.seek(mark.fromMs);
    setQuery({ mark: mark.key });
  };
  const hasDays =
    rows.length > 0 && dateOf(rows[0]?.fromMs ?? 0, timeZone) !== dateOf(rows.at(-1)?.fromMs ?? 0, timeZone);
  let day = '';
  return (
    <ol class="timeline">
      {rows.map((mark) => {
        const { key, kind, fromMs, vehicleId, row } = mark;
        const date = dateOf(fromMs, timeZone);
        const isNewDay = hasDays && date !== day;
        day = date;
        const chip =
          kind === 'stop' ? (row?.kind === 'idling' ? 'idling' : 'parking') : kind === 'trip' ? 'moving' : kind;
        return (
          <li key={key} aria-current={key === chosen ? 'true' : undefined}>
            {isNewDay && <h2>{format.date(fromMs)}</h2>}
            <button type="button" onClick={() => open(mark)}>
              <time dateTime={new Date(fromMs).toISOString()}>{format.time(fromMs)}</time>
              <span class={`chip ${chip}`}>
                <span>{describeMark(mark)}</span>
              </span>
              {isSeveral && (
                <small class={`named vehicle${vehicleIds.indexOf(vehicleId)}`}>
                  <bdi>{nameOf(vehicleId)}</bdi>
                </small>
              )}
            </button>
          </li>
        );
      })}
    </ol>
  );
}

function Downloads({ vehicleIds, range }: { vehicleIds: readonly string[]; range: TimeRange }) {
  const [from, to] = [new Date(range.fromMs).toISOString(), new Date(range.toMs).toISOString()];
  const query = new URLSearchParams([...vehicleIds.map((id) => ['vehicleId', id]), ['from', from], ['to', to]]);
  return (
    <section class="files">
      <h2>{trackWords().download}</h2>
      <div class="row">
        {FILES.map((format) => (
          <a key={format} class="button" href={`/api/v1/reports/track?${query}&format=${format}`} download="">
            <Icon name="download" /> {format.toUpperCase()}
          </a>
        ))}
      </div>
    </section>
  );
}
