import { setQuery } from '../../router.ts';
import type { ReplayClock } from '../../track/clock.ts';
import { nearestMark } from '../../track/marks.ts';
import type { Part } from './load.ts';

const WIDTH = 1000;
const ROW = 10;
const PICK_PX = 6;

/**
 * The time line: one row per vehicle with its trips, stops and gaps, and its events as ticks. A click sets the clock,
 * and chooses the mark that begins there. The list beside the map offers the same for keyboard users.
 */
export function Strip({ parts, clock }: { parts: readonly Part[]; clock: ReplayClock }) {
  const { fromMs, toMs } = clock;
  const length = Math.max(1, toMs - fromMs);
  const x = (timeMs: number) => (Math.min(1, Math.max(0, (timeMs - fromMs) / length)) * WIDTH).toFixed(1);
  const height = parts.length * ROW;
  const onClick = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const timeMs = fromMs + ((event.clientX - box.left) / box.width) * length;
    const part = parts[Math.floor(((event.clientY - box.top) / box.height) * parts.length)];
    const marks = part?.marks.filter(({ kind }) => kind !== 'trip') ?? [];
    const mark = nearestMark(marks, timeMs, (PICK_PX / box.width) * length);
    clock.seek(mark?.fromMs ?? timeMs);
    setQuery({ mark: mark?.key ?? null });
  };
  return (
    <svg
      class="strip"
      viewBox={`0 0 ${WIDTH} ${height}`}
      preserveAspectRatio="none"
      height={Math.min(48, height * 1.4)}
      aria-hidden="true"
      onClick={onClick}
    >
      {parts.map(({ vehicleId, marks }, row) => (
        <g key={vehicleId}>
          {marks.map(({ key, kind, fromMs: from, toMs: to }) => {
            const last = to ?? toMs;
            if (last < fromMs || from > toMs) return null;
            return kind === 'event' ? (
              <line key={key} class={kind} x1={x(from)} x2={x(from)} y1={row * ROW} y2={(row + 1) * ROW - 1} />
            ) : (
              <rect
                key={key}
                class={kind}
                x={x(from)}
                width={Math.max(1, Number(x(last)) - Number(x(from)))}
                y={row * ROW + 2}
                height={ROW - 5}
              />
            );
          })}
        </g>
      ))}
      <line class="now" x1={x(clock.timeMs.value)} x2={x(clock.timeMs.value)} y1={0} y2={height} />
    </svg>
  );
}
