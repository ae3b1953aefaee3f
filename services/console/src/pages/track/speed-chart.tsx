import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formats } from '../../format.ts';
import { palette } from '../../map/style.ts';
import { preferences } from '../../preferences.ts';
import type { ReplayClock } from '../../track/clock.ts';
import type { Track } from '../../track/track.ts';
import { t } from '../../words/words.ts';

const HEIGHT_PX = 96;
const KM_PER_MILE = 1.609344;

/** Speed over time; a click sets the clock, the clock moves the cursor. */
export function SpeedChart({ track, clock }: { track: Track; clock: ReplayClock }) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const colors = palette.value;
  const { units } = preferences.value;
  const format = formats();

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const factor = units === 'metric' ? 1 : 1 / KM_PER_MILE;
    const seconds = Array.from(track.timeMs, (ms) => ms / 1000);
    const speeds = Array.from(track.speedKmh, (kmh) => (Number.isNaN(kmh) ? null : kmh * factor));
    const axis = { stroke: colors.city, grid: { stroke: colors.border, width: 0.5 }, ticks: { show: false } };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        legend: { show: false },
        scales: { y: { range: (_, _least, most) => [0, Math.max(10, most)] } },
        cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
        axes: [
          { ...axis, size: 26, values: (_, splits) => splits.map((second) => format.time(second * 1000)) },
          { ...axis, size: 40, space: 20 },
        ],
        series: [{}, { stroke: colors.accent, fill: `${colors.accent}33`, width: 1.5 }],
      },
      [seconds, speeds],
      element,
    );
    chart.current = made;
    const onClick = (event: MouseEvent) => {
      const left = event.clientX - made.over.getBoundingClientRect().left;
      clock.seek(made.posToVal(left, 'x') * 1000);
    };
    made.over.addEventListener('click', onClick);
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.current = null;
      made.destroy();
    };
  }, [track, clock, colors, units, format]);
  useSignalEffect(() => {
    const made = chart.current;
    const second = clock.timeMs.value / 1000;
    if (made) made.setCursor({ left: made.valToPos(second, 'x'), top: 0 }, false);
  });
  return <div class="chart" ref={box} role="img" aria-label={t().speedOverTime} />;
}
