import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formats } from '../../format.ts';
import { palette } from '../../map/style.ts';
import { preferences } from '../../preferences.ts';
import { isNarrow } from '../../text-size.ts';
import type { ReplayClock } from '../../track/clock.ts';
import { joined } from '../../words/words.ts';
import { FuelMarks, type PlotArea } from './fuel-marks.tsx';
import type { Part } from './load.ts';
import { lineOf, type Measured, SENSOR, sensorOf, TANK } from './measured.ts';
import { measureName } from './names.ts';
import { trackWords } from './words.ts';

const HEIGHT_PX = 104;
const LARGE_PX = 280;
const FUEL_SCALE = 'fuelL';
const IMPERIAL: Readonly<Record<string, number>> = { speedKmh: 1 / 1.609344, [FUEL_SCALE]: 1 / 3.785411784 };
/** Intervals of at least this length show the date with times; intervals below the second limit show seconds. */
const LONG_MS = 36 * 3_600_000;
const SHORT_MS = 15 * 60_000;

type Colors = typeof palette.value;

export interface ChartProps {
  parts: readonly Part[];
  vehicleIds: readonly string[];
  measures: readonly string[];
  /** By vehicle; empty while loading. */
  measured: ReadonlyMap<string, Measured>;
  clock: ReplayClock;
}

/**
 * Chart of measures over time, with one line per measure of a single vehicle, or one line per vehicle. A click sets the
 * clock. Thresholds of a sensor are drawn as lines, and refuellings and drains are marked on fuel charts.
 */
export function Chart({ isLarge, ...shown }: ChartProps & { isLarge: boolean }) {
  const { parts, vehicleIds, measures, measured, clock } = shown;
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const area = useSignal<PlotArea | null>(null);
  // On a phone, a large chart would leave no space for the map.
  const height = isLarge && !isNarrow() ? LARGE_PX : HEIGHT_PX;
  const colors = palette.value;
  const { units } = preferences.value;
  const format = formats();

  useEffect(() => {
    const element = box.current;
    if (element === null || measures.length === 0) return;
    const lines = linesOf(shown, colors);
    const factor = (name: string) => (units === 'metric' ? 1 : (IMPERIAL[scaleOf(name, vehicleIds)] ?? 1));
    const data = uPlot.join(
      lines.map(
        ({ name, data: { seconds, values } }): uPlot.AlignedData => [
          seconds,
          values.map((value) => (value === null ? null : value * factor(name))),
        ],
      ),
    );
    const made = new uPlot(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        scales: {
          x: { range: () => [clock.fromMs / 1000, Math.max(clock.fromMs + 1000, clock.toMs) / 1000] },
          ...Object.fromEntries(
            measures.map((name) => [name, { range: rangeFor(name, boundsOf(name, vehicleIds, factor(name))) }]),
          ),
        },
        cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
        axes: axesOf(shown, colors, format),
        series: [
          {},
          ...lines.map(({ name, color }, nth) => ({
            stroke: color,
            width: 1.5,
            scale: name,
            points: { show: false },
            ...(lines.length === 1 && nth === 0 ? { fill: `${color}33` } : {}),
          })),
        ],
        hooks: {
          draw: [
            (plot) => {
              for (const name of measures)
                for (const bound of boundsOf(name, vehicleIds, factor(name)))
                  drawBound(plot, name, bound, colors.event);
              const { left, width } = plot.bbox;
              const ratio = devicePixelRatio;
              area.value = { startPx: left / ratio, widthPx: width / ratio };
            },
          ],
        },
      },
      data,
      element,
    );
    chart.current = made;
    const onClick = (event: MouseEvent) => {
      const left = event.clientX - made.over.getBoundingClientRect().left;
      clock.seek(made.posToVal(left, 'x') * 1000);
    };
    made.over.addEventListener('click', onClick);
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.current = null;
      made.destroy();
    };
  }, [parts, measured, measures.join(), clock, colors, units, format, height]);
  useSignalEffect(() => {
    const made = chart.current;
    const second = clock.timeMs.value / 1000;
    if (made) made.setCursor({ left: made.valToPos(second, 'x'), top: 0 }, false);
  });
  if (measures.length === 0) return null;
  const names = joined(
    measures.map((name) => measureName(name, vehicleIds)),
    ', ',
  );
  return (
    <div class="chart-box">
      <div class="chart" ref={box} role="img" aria-label={trackWords().overTime(names)} />
      {measures.some((name) => scaleOf(name, vehicleIds) === FUEL_SCALE) && area.value !== null && (
        <FuelMarks parts={parts} measured={measured} clock={clock} area={area.value} />
      )}
    </div>
  );
}

/** A line for each measure of each vehicle. */
function linesOf({ parts, vehicleIds, measures, measured }: ChartProps, colors: Colors) {
  const isAlone = parts.length === 1;
  return parts.flatMap((part) =>
    measures.map((name, nth) => ({
      name,
      color: colors.series[isAlone ? nth : vehicleIds.indexOf(part.vehicleId)] ?? colors.accent,
      data: lineOf(part, name, measured.get(part.vehicleId)),
    })),
  );
}

/** Axes for time and for the first two measures. */
function axesOf({ parts, measures, clock }: ChartProps, colors: Colors, format: ReturnType<typeof formats>) {
  const axis = { grid: { stroke: colors.border, width: 0.5 }, ticks: { show: false } };
  const lengthMs = clock.toMs - clock.fromMs;
  const isLong = lengthMs > LONG_MS;
  const time = (second: number) => {
    if (isLong) return format.moment(second * 1000);
    return lengthMs < SHORT_MS ? format.timeWithSeconds(second * 1000) : format.time(second * 1000);
  };
  const hasOwnColors = parts.length === 1 && measures.length > 1;
  return [
    {
      ...axis,
      stroke: colors.city,
      size: 26,
      space: isLong ? 120 : 70,
      values: (_: uPlot, splits: number[]) => splits.map(time),
    },
    ...measures.slice(0, 2).map((name, nth) => ({
      ...axis,
      ...(nth === 1 ? { side: 1 as const, grid: { show: false } } : {}),
      stroke: hasOwnColors ? (colors.series[nth] ?? colors.city) : colors.city,
      scale: name,
      size: 48,
      space: 24,
      values: (_: uPlot, splits: number[]) => splits.map((value) => format.number(value, 1)),
    })),
  ];
}

/**
 * Scale of a measure. Those in litres share one scale: they are converted to the reader's units, and show refuellings
 * and drains.
 */
function scaleOf(name: string, vehicleIds: readonly string[]): string {
  if (name === TANK) return FUEL_SCALE;
  return name.startsWith(SENSOR) && sensorOf(name, vehicleIds)?.kind === 'fuel-level' ? FUEL_SCALE : name;
}

/** The bounds of a sensor's thresholds, in display units. */
function boundsOf(name: string, vehicleIds: readonly string[], factor: number): number[] {
  if (!name.startsWith(SENSOR)) return [];
  const { thresholds = [] } = sensorOf(name, vehicleIds) ?? {};
  return thresholds.flatMap(({ min, max }) => [min, max]).flatMap((bound) => (bound === null ? [] : bound * factor));
}

function drawBound(plot: uPlot, scale: string, bound: number, color: string): void {
  const { left, width, top, height } = plot.bbox;
  const y = plot.valToPos(bound, scale, true);
  if (!(y >= top && y <= top + height)) return;
  const { ctx } = plot;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(left, y);
  ctx.lineTo(left + width, y);
  ctx.stroke();
  ctx.restore();
}

/** Speed starts at zero. Other measures show their used range, with thresholds that are near. */
function rangeFor(name: string, bounds: readonly number[]): uPlot.Scale.Range {
  if (name === 'speedKmh') return (_, _least, most) => [0, Math.max(10, most ?? 10)];
  return (_, least, most) => {
    const [from, to] = [least ?? 0, most ?? 0];
    const span = Math.max(1, to - from);
    const near = bounds.filter((bound) => bound > from - 2 * span && bound < to + 2 * span);
    const [low, high] = [Math.min(from, ...near), Math.max(to, ...near)];
    const margin = Math.max(1, (high - low) * 0.1);
    return [low - margin, high + margin];
  };
}
