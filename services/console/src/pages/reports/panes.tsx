import type { ReportKind } from '@outrider/client';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { addDays, dateOf, timeIn } from '../../days.ts';
import { formats } from '../../format.ts';
import { BarChart } from '../../parts/bar-chart.tsx';
import { Choice } from '../../parts/forms/field.tsx';
import { Message } from '../../parts/message.tsx';
import { preferences } from '../../preferences.ts';
import { setQuery } from '../../router.ts';
import { hourText, quantity, sliceText, titleOfColumn } from './kinds.ts';
import { ReportMap } from './report-map.ts';
import {
  DAYS,
  dimensionsOf,
  HOURS,
  heatOf,
  measuresOf,
  type ReportColumn,
  type Row,
  slicesOf,
  withEmptyDays,
} from './rows.ts';
import type { Look, Question } from './state.ts';
import { reportWords } from './words.ts';

interface Props {
  rows: readonly Row[];
  columns: readonly ReportColumn[];
  look: Look;
}

const MOST_BARS = 120;
const COUNT = 'rows';

/** Bar chart of a column, or of the number of rows, by day, vehicle or another dimension of the rows. */
export function ChartPane({ rows, kind, look }: Omit<Props, 'columns'> & { kind: ReportKind }) {
  const { timeZone } = preferences.value;
  const { columns } = kind;
  const measures = measuresOf(columns);
  const dimensions = useMemo(() => dimensionsOf(columns, rows), [columns, rows]);
  // A mean is drawn as the report declares, since ranking by the highest value is meaningless for it.
  const usual = kind.charts.find(({ measure: name }) => columns.find((one) => one.name === name)?.total === 'mean');
  const dimension =
    dimensions.find((one) => one === look.by) ??
    dimensions.find((one) => one === usual?.by) ??
    dimensions[0] ??
    'vehicle';
  const named = look.measure ?? usual?.measure;
  const measure = named === COUNT ? null : (measures.find(({ name }) => name === named) ?? measures[0] ?? null);
  const slices = useMemo(() => {
    const found = slicesOf(rows, dimension, measure, (ms) => dateOf(ms, timeZone));
    const isByDay = dimension === 'day';
    return (isByDay ? withEmptyDays(found, (day) => addDays(day, 1), MOST_BARS) : found).slice(0, MOST_BARS);
  }, [rows, dimension, measure, timeZone]);
  const text = (value: number) =>
    measure === null ? formats().number(value) : quantity(measure.name, measure.unit, value);
  const title = measure === null ? reportWords().rowCount : titleOfColumn(measure.name);
  return (
    <div class="pane">
      <div class="pane-tools">
        <Choice label={reportWords().measure} value={measure?.name ?? COUNT} onChange={(of) => setQuery({ of })}>
          {measures.map(({ name }) => (
            <option key={name} value={name} selected={name === measure?.name}>
              {titleOfColumn(name)}
            </option>
          ))}
          <option value={COUNT} selected={measure === null}>
            {reportWords().rowCount}
          </option>
        </Choice>
        <Choice label={reportWords().by} value={dimension} onChange={(by) => setQuery({ by })}>
          {dimensions.map((one) => (
            <option key={one} value={one} selected={one === dimension}>
              {reportWords().dimensions[one]}
            </option>
          ))}
        </Choice>
      </div>
      {slices.length === 0 && <p class="hint">{reportWords().nothingToDraw}</p>}
      <BarChart
        label={`${title} · ${reportWords().dimensions[dimension]}`}
        bars={slices.map(({ key, value }) => ({ label: sliceText(dimension, key), value, text: text(value) }))}
      />
    </div>
  );
}

const LEVELS = 6;

/** Heat map of times: hours across, days of the week down. */
export function HeatPane({ rows, columns, look }: Props) {
  const { timeZone } = preferences.value;
  const lasts = columns.some(({ name }) => name === 'durationSeconds');
  const measure = lasts && look.measure === 'durationSeconds' ? 'duration' : 'count';
  const cells = useMemo(
    () => heatOf(rows, measure, (ms) => timeIn(ms, timeZone), Date.now()),
    [rows, measure, timeZone],
  );
  const most = Math.max(...cells);
  const format = formats();
  const text = (value: number) => (measure === 'duration' ? format.duration(value) : format.number(value));
  return (
    <div class="pane">
      {lasts && (
        <div class="pane-tools">
          <Choice
            label={reportWords().measure}
            value={measure}
            onChange={(chosen) => setQuery({ of: chosen === 'duration' ? 'durationSeconds' : COUNT })}
          >
            <option value="count" selected={measure === 'count'}>
              {reportWords().rowCount}
            </option>
            <option value="duration" selected={measure === 'duration'}>
              {titleOfColumn('durationSeconds')}
            </option>
          </Choice>
        </div>
      )}
      <div class="heat-box">
        <table class="heat">
          <caption>{reportWords().heatCaption}</caption>
          <thead>
            <tr>
              <td />
              {Array.from({ length: HOURS }, (_, hour) => (
                <th key={hourText(hour)} scope="col">
                  {hour % 3 === 0 ? hour : <span class="hidden">{hour}</span>}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: DAYS }, (_, day) => format.weekday(day)).map((name, day) => (
              <tr key={name}>
                <th scope="row">
                  <bdi>{name}</bdi>
                </th>
                {Array.from(cells.subarray(day * HOURS, (day + 1) * HOURS), (value, hour) => (
                  <td
                    key={`${name} ${hourText(hour)}`}
                    class={`heat${most === 0 ? 0 : Math.ceil((value / most) * LEVELS)}`}
                    title={`${name} ${hourText(hour)}: ${text(value)}`}
                  >
                    <span class="hidden">{value === 0 ? '' : text(value)}</span>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface MapProps {
  rows: readonly Row[];
  question: Question;
  chosen: Row | null;
  onChoose: (row: Row) => void;
}

export function MapPane({ rows, question: { shape }, chosen, onChoose }: MapProps) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<ReportMap | null>(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  useEffect(() => {
    if (container.current === null) return;
    const made = new ReportMap(container.current, (row) => choose.current(row));
    map.current = made;
    return () => {
      map.current = null;
      made.destroy();
    };
  }, []);
  useEffect(() => map.current?.show(rows, shape), [rows, shape]);
  useEffect(() => map.current?.choose(chosen), [chosen]);
  return (
    <div class="pane map">
      <div class="mapbox">
        <div class="canvas" ref={container} />
      </div>
    </div>
  );
}

export function NothingToDraw() {
  return <Message icon="chart" title={reportWords().nothingToDraw} />;
}
