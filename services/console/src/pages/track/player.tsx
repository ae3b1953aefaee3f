import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { route, setQuery } from '../../router.ts';
import type { TimeRange } from '../../time-range.ts';
import { RATES, type ReplayClock } from '../../track/clock.ts';
import { stepMark } from '../../track/marks.ts';
import { type Series, valueAt } from '../../track/series.ts';
import { indexAt, measureAt, measuresOf, SPEED_CLASSES } from '../../track/track.ts';
import { t } from '../../words/words.ts';
import { words } from '../sensors/words.ts';
import { Chart, type ChartProps } from './chart.tsx';
import { ChartTable } from './chart-table.tsx';
import { isBySpeed } from './choice.ts';
import type { Part } from './load.ts';
import { isOfSensors, lineOf, sensorMeasures, useMeasured } from './measured.ts';
import { measureName, measureText, nameOf } from './names.ts';
import { Strip } from './strip.tsx';
import { trackWords } from './words.ts';

const STEP_MS = 1000;
/** Maximum for one vehicle. Several vehicles have a single measure, with one line each. */
const MOST_MEASURES = 3;

interface Props {
  parts: readonly Part[];
  vehicleIds: readonly string[];
  range: TimeRange;
  clock: ReplayClock;
}

/** Plays the tracks: button, speed, time line, chart. All of them show and set the same clock. */
export function Player({ parts, vehicleIds, range, clock }: Props) {
  const isPlaying = clock.isPlaying.value;
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    const step = (nowMs: number) => {
      clock.tick(nowMs);
      frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, clock]);
  const { query } = route.value;
  const ids = parts.map(({ vehicleId }) => vehicleId);
  const measures = [...new Set([...sensorMeasures(ids), ...parts.flatMap(({ track }) => measuresOf(track))])];
  const chosen = chosenMeasures(query.get('chart'), measures, parts.length);
  const measured = useMeasured(parts, range, chosen);
  const isLarge = query.get('large') === '1';
  const chart = { parts, vehicleIds, measures: chosen, measured, clock };
  return (
    <section class={query.has('chart') ? 'player charted' : 'player'} aria-label={t().play}>
      <div class="row">
        <Step parts={parts} clock={clock} direction={-1} />
        <button
          type="button"
          class="icon"
          aria-label={isPlaying ? t().pause : t().play}
          onClick={() => clock.toggle(performance.now())}
        >
          <Icon name={isPlaying ? 'pause' : 'play'} />
        </button>
        <Step parts={parts} clock={clock} direction={1} />
        <select
          aria-label={t().playbackSpeed}
          value={clock.rate.value}
          onChange={(event) => {
            clock.rate.value = Number(event.currentTarget.value);
          }}
        >
          {RATES.map((rate) => (
            <option key={rate} value={rate}>
              {rate}×
            </option>
          ))}
        </select>
        <Slider clock={clock} />
        <output>
          <strong>{formats().timeWithSeconds(clock.timeMs.value)}</strong>
          <span>{formats().date(clock.timeMs.value)}</span>
        </output>
      </div>
      <Strip parts={parts} clock={clock} />
      <Chart {...chart} isLarge={isLarge} />
      <Readings {...chart} all={measures}>
        {chosen.length > 0 && <ChartTools isLarge={isLarge} />}
      </Readings>
      <Legend isShown={isBySpeed(query, vehicleIds.length)} />
      {query.get('table') === '1' && <ChartTable {...chart} onClose={() => setQuery({ table: null })} />}
    </section>
  );
}

/** The measures that the address names and the tracks have; else the speed. */
function chosenMeasures(named: string | null, all: readonly string[], vehicles: number): string[] {
  const wanted = named === null ? ['speedKmh'] : named.split(',');
  return wanted.filter((name) => all.includes(name)).slice(0, vehicles === 1 ? MOST_MEASURES : 1);
}

/** Button that moves the clock to the previous or next mark. */
function Step({ parts, clock, direction }: { parts: readonly Part[]; clock: ReplayClock; direction: 1 | -1 }) {
  const go = () => {
    const marks = parts.flatMap((part) => part.marks).sort((a, b) => a.fromMs - b.fromMs);
    const mark = stepMark(marks, clock.timeMs.peek(), direction);
    if (mark === null) return;
    clock.seek(mark.fromMs);
    setQuery({ mark: mark.key });
  };
  return (
    <button
      type="button"
      class="icon"
      aria-label={direction === 1 ? trackWords().nextMark : trackWords().previousMark}
      onClick={go}
    >
      <Icon name={direction === 1 ? 'next' : 'previous'} />
    </button>
  );
}

function Slider({ clock }: { clock: ReplayClock }) {
  return (
    <input
      type="range"
      aria-label={t().time}
      aria-valuetext={formats().dateTimeWithSeconds(clock.timeMs.value)}
      min={clock.fromMs}
      max={clock.toMs}
      step={STEP_MS}
      value={clock.timeMs.value}
      onInput={(event) => clock.seek(Number(event.currentTarget.value))}
    />
  );
}

function ChartTools({ isLarge }: { isLarge: boolean }) {
  const { chart: text } = words();
  return (
    <span class="chart-tools">
      <button
        type="button"
        class="icon"
        aria-pressed={isLarge}
        aria-label={isLarge ? text.smaller : text.larger}
        title={isLarge ? text.smaller : text.larger}
        onClick={() => setQuery({ large: isLarge ? null : '1' })}
      >
        <Icon name={isLarge ? 'down' : 'up'} />
      </button>
      <button
        type="button"
        class="icon"
        aria-label={text.table}
        title={text.table}
        onClick={() => setQuery({ table: '1' })}
      >
        <Icon name="list" />
      </button>
    </span>
  );
}

interface ReadingsProps extends ChartProps {
  all: readonly string[];
  children: ComponentChildren;
}

/** Value of each line of the chart at the clock's time, and the choice of lines. */
function Readings({ parts, vehicleIds, measures, measured, all, clock, children }: ReadingsProps) {
  const timeMs = clock.timeMs.value;
  const set = (names: readonly string[]) => setQuery({ chart: names.join(',') || 'none' });
  const isAlone = parts.length === 1;
  const lines = useMemo(() => {
    const key = (part: Part, name: string) => `${part.vehicleId} ${name}`;
    const made = new Map<string, Series>();
    for (const part of parts)
      for (const name of measures.filter(isOfSensors))
        made.set(key(part, name), lineOf(part, name, measured.get(part.vehicleId)));
    return (part: Part, name: string) => made.get(key(part, name));
  }, [parts, measured, measures.join()]);
  const valueIn = (part: Part, name: string, index: number) => {
    const line = lines(part, name);
    if (line !== undefined) return valueAt(line, timeMs);
    return index < 0 ? null : lastKnown(part, index, name);
  };
  const readings = parts.flatMap((part) => {
    const index = indexAt(part.track, timeMs);
    return measures.map((name, nth) => ({
      name,
      label: isAlone ? measureName(name, vehicleIds) : nameOf(part.vehicleId),
      number: isAlone ? nth : vehicleIds.indexOf(part.vehicleId),
      value: valueIn(part, name, index),
    }));
  });
  const others = all.filter((name) => !measures.includes(name));
  return (
    <div class="readings">
      {readings.map(({ name, label, number, value }) => (
        <span key={`${name} ${number}`} class={`named vehicle${number}`}>
          <bdi>{label}</bdi>{' '}
          <strong>
            <bdi>{measureText(name, value, vehicleIds)}</bdi>
          </strong>
          {isAlone && (
            <button
              type="button"
              class="icon"
              aria-label={trackWords().remove(label)}
              onClick={() => set(measures.filter((other) => other !== name))}
            >
              <Icon name="close" />
            </button>
          )}
        </span>
      ))}
      {others.length > 0 && (!isAlone || measures.length < MOST_MEASURES) && (
        <select
          aria-label={trackWords().addMeasure}
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget;
            set(isAlone ? [...measures, value] : [value]);
            event.currentTarget.value = '';
          }}
        >
          <option value="">
            {isAlone || measures[0] === undefined ? trackWords().addMeasure : measureName(measures[0], vehicleIds)}
          </option>
          {others.map((name) => (
            <option key={name} value={name}>
              {measureName(name, vehicleIds)}
            </option>
          ))}
        </select>
      )}
      {children}
    </div>
  );
}

const LOOKED_BACK = 50;

/** Last known value of a measure: terminals send some measures only occasionally. */
function lastKnown({ track }: Part, index: number, name: string): number | null {
  for (let at = index; at >= Math.max(0, index - LOOKED_BACK); at -= 1) {
    const value = measureAt(track, at, name);
    if (value !== null) return value;
  }
  return null;
}

function Legend({ isShown }: { isShown: boolean }) {
  const format = formats();
  const bounds = [0, ...SPEED_CLASSES];
  return (
    <div class="legend">
      <label>
        <input
          type="checkbox"
          checked={isShown}
          onChange={(event) => setQuery({ color: event.currentTarget.checked ? 'speed' : 'vehicle' })}
        />{' '}
        {t().speedLegend}
      </label>
      {isShown && (
        <ul aria-label={t().speedLegend}>
          {bounds.map((bound, kind) => (
            <li key={bound} class={`speed${kind}`}>
              {kind === bounds.length - 1 ? `> ${format.speed(bound)}` : `< ${format.speed(SPEED_CLASSES[kind])}`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
