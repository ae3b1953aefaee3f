import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formats } from '../../format.ts';
import { palette } from '../../map/style.ts';
import { Choice } from '../../parts/forms/field.tsx';
import { setQuery } from '../../router.ts';
import { quantity, titleOfColumn } from './kinds.ts';
import { type Line, linesOf, ofUnit, type ReportColumn, type Row, unitsOf } from './rows.ts';
import type { Look } from './state.ts';
import { reportWords } from './words.ts';

const HEIGHT_PX = 170;
const AXIS_PX = 76;
const DEFAULT = 'speedKmh';
const LONG_S = 36 * 3600;

interface Props {
  rows: readonly Row[];
  columns: readonly ReportColumn[];
  look: Look;
  /** The default column to draw; null: the speed. */
  drawn: string | null;
  onChoose: (row: Row) => void;
}

/** Measures over time, a line for each vehicle or sensor. A click chooses the row of that time. */
export function LinePane({ rows, columns, look, drawn, onChoose }: Props) {
  const measures = columns.filter(({ type, unit }) => (type === 'number' || type === 'whole') && unit !== 'deg');
  const units = useMemo(() => unitsOf(rows), [rows]);
  const unit = units.find((one) => one === look.by) ?? units[0];
  const measure =
    measures.find(({ name }) => name === look.measure) ??
    measures.find(({ name }) => name === drawn) ??
    measures.find(({ name }) => name === DEFAULT) ??
    measures[0];
  const colors = palette.value.series;
  const lines = useMemo(
    () => (measure === undefined ? [] : linesOf(ofUnit(rows, unit), measure.name, colors.length)),
    [rows, unit, measure, colors.length],
  );
  if (measure === undefined) return null;
  return (
    <div class="pane">
      <div class="pane-tools">
        <Choice label={reportWords().measure} value={measure.name} onChange={(of) => setQuery({ of })}>
          {measures.map(({ name }) => (
            <option key={name} value={name} selected={name === measure.name}>
              {titleOfColumn(name)}
            </option>
          ))}
        </Choice>
        {units.length > 1 && (
          <Choice label={titleOfColumn('unit')} value={unit ?? ''} onChange={(by) => setQuery({ by })}>
            {units.map((one) => (
              <option key={one} value={one} selected={one === unit}>
                {one === '' ? '–' : one}
              </option>
            ))}
          </Choice>
        )}
        <ul class="line-names">
          {lines.map(({ name }, nth) => (
            <li key={name}>
              <svg viewBox="0 0 12 12" aria-hidden="true">
                <rect y={4} width={12} height={4} fill={colors[nth]} />
              </svg>
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      </div>
      <Lines lines={lines} column={measure} onChoose={onChoose} />
    </div>
  );
}

function Lines({
  lines,
  column,
  onChoose,
}: {
  lines: readonly Line[];
  column: ReportColumn;
  onChoose: (row: Row) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const choose = useRef(onChoose);
  choose.current = onChoose;
  const colors = palette.value;
  const format = formats();
  useEffect(() => {
    const element = box.current;
    if (element === null || lines.length === 0) return;
    const axis = { stroke: colors.city, grid: { stroke: colors.border, width: 0.5 }, ticks: { show: false } };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, y: false },
        axes: [
          {
            ...axis,
            size: 26,
            space: 110,
            values: (chart, splits) => {
              const { min = 0, max = 0 } = chart.scales.x ?? {};
              const isLong = (max ?? 0) - (min ?? 0) > LONG_S;
              return splits.map((second) => (isLong ? format.dateTime(second * 1000) : format.time(second * 1000)));
            },
          },
          {
            ...axis,
            size: AXIS_PX,
            values: (_, splits) => splits.map((value) => quantity(column.name, column.unit, value)),
          },
        ],
        series: [
          {},
          ...lines.map((_, nth) => ({ stroke: colors.series[nth] ?? colors.accent, width: 1.5, points: { size: 3 } })),
        ],
      },
      uPlot.join(lines.map(({ seconds, values }): uPlot.AlignedData => [seconds, values])),
      element,
    );
    const onClick = (event: MouseEvent) => {
      const second = made.posToVal(event.clientX - made.over.getBoundingClientRect().left, 'x');
      const row = nearest(lines, second);
      if (row) choose.current(row);
    };
    made.over.addEventListener('click', onClick);
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
    };
  }, [lines, column, colors, format]);
  return <div class="chart" ref={box} role="img" aria-label={titleOfColumn(column.name)} />;
}

function nearest(lines: readonly Line[], second: number): Row | null {
  let found: Row | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const { seconds, rows } of lines)
    for (const [nth, at] of seconds.entries()) {
      if (Math.abs(at - second) >= least) continue;
      least = Math.abs(at - second);
      found = rows[nth] ?? null;
    }
  return found;
}
