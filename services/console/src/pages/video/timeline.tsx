import type { ListedVideoTask } from '@outrider/client';
import { formats } from '../../format.ts';
import { highestKmh, type Track } from '../../track/track.ts';
import { videoWords } from './words.ts';

const WIDTH = 1000;
const HEIGHT = 64;
const AXIS = 16;
const LEAST_PX = 4;
const TICK_MS = 10 * 60_000;

interface Props {
  fromMs: number;
  toMs: number;
  /** The interval to order. */
  startMs: number;
  endMs: number;
  track: Track | null;
  /** Clips that are already ordered, at any time. */
  tasks: readonly ListedVideoTask[];
  onPick: (timeMs: number) => void;
}

/** About an hour around the chosen interval, with the vehicle's speed and the clips that are already ordered. */
export function Timeline({ fromMs, toMs, startMs, endMs, track, tasks, onPick }: Props) {
  const x = (ms: number) => ((Math.min(toMs, Math.max(fromMs, ms)) - fromMs) / (toMs - fromMs)) * WIDTH;
  const format = formats();
  const ticks: number[] = [];
  for (let at = Math.ceil(fromMs / TICK_MS) * TICK_MS; at < toMs; at += TICK_MS) ticks.push(at);
  const ordered = tasks.filter(({ start, end }) => Date.parse(end) > fromMs && Date.parse(start) < toMs);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the fields beside it take the same times.
    <svg
      class="clip-timeline"
      role="img"
      aria-label={videoWords().timeline}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      onClick={(event) => {
        const { left, width } = event.currentTarget.getBoundingClientRect();
        onPick(fromMs + ((event.clientX - left) / width) * (toMs - fromMs));
      }}
    >
      {track !== null && <path class="speeds" d={speedPath(track, x)} />}
      {ordered.map((task) => (
        <rect
          key={task.id}
          class={`ordered video-${task.status}`}
          x={x(Date.parse(task.start))}
          y={HEIGHT - AXIS}
          width={Math.max(LEAST_PX, x(Date.parse(task.end)) - x(Date.parse(task.start)))}
          height={8}
        >
          <title>{`${videoWords().states[task.status]}: ${format.interval(Date.parse(task.start), Date.parse(task.end))}`}</title>
        </rect>
      ))}
      <rect class="wanted" x={x(startMs)} y={0} width={Math.max(LEAST_PX, x(endMs) - x(startMs))} height={HEIGHT} />
      {ticks.map((at) => (
        <line key={at} class="tick" x1={x(at)} x2={x(at)} y1={HEIGHT - 6} y2={HEIGHT} />
      ))}
    </svg>
  );
}

/** SVG path of the area below the speed, in the upper part of the time line. */
function speedPath(track: Track, x: (ms: number) => number): string {
  const highest = Math.max(30, highestKmh(track) || 0);
  const ground = HEIGHT - AXIS - 2;
  const parts: string[] = [];
  for (let index = 0; index < track.count; index += 1) {
    const kmh = track.speedKmh[index] ?? Number.NaN;
    const y = ground - ((Number.isNaN(kmh) ? 0 : kmh) / highest) * (ground - 2);
    parts.push(`${x(track.timeMs[index] as number).toFixed(1)} ${y.toFixed(1)}`);
  }
  if (parts.length === 0) return '';
  const [first, last] = [x(track.timeMs[0] as number), x(track.timeMs[track.count - 1] as number)];
  return `M${first.toFixed(1)} ${ground}L${parts.join('L')}L${last.toFixed(1)} ${ground}Z`;
}
