import { useEffect } from 'preact/hooks';
import { formats } from '../../format.ts';
import { Icon } from '../../parts/icon.tsx';
import { RATES, type ReplayClock } from '../../track/clock.ts';
import { indexAt, SPEED_CLASSES, type Track } from '../../track/track.ts';
import { t } from '../../words/words.ts';
import { SpeedChart } from './speed-chart.tsx';

const STEP_MS = 1000;

/** Plays the track: button, pace, slider, chart; all of them show and set the one clock. */
export function Player({ track, clock }: { track: Track; clock: ReplayClock }) {
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
  return (
    <section class="player" aria-label={t().play}>
      <div class="row">
        <button
          type="button"
          class="icon"
          aria-label={isPlaying ? t().pause : t().play}
          onClick={() => clock.toggle(performance.now())}
        >
          <Icon name={isPlaying ? 'pause' : 'play'} />
        </button>
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
        <Now track={track} clock={clock} />
      </div>
      <SpeedChart track={track} clock={clock} />
      <Legend />
    </section>
  );
}

function Slider({ clock }: { clock: ReplayClock }) {
  return (
    <input
      type="range"
      aria-label={t().time}
      aria-valuetext={formats().timeWithSeconds(clock.timeMs.value)}
      min={clock.fromMs}
      max={clock.toMs}
      step={STEP_MS}
      value={clock.timeMs.value}
      onInput={(event) => clock.seek(Number(event.currentTarget.value))}
    />
  );
}

function Now({ track, clock }: { track: Track; clock: ReplayClock }) {
  const speed = track.speedKmh[Math.max(0, indexAt(track, clock.timeMs.value))] ?? Number.NaN;
  return (
    <output>
      <strong>{formats().timeWithSeconds(clock.timeMs.value)}</strong>
      <span>{Number.isNaN(speed) ? '–' : formats().speed(speed)}</span>
    </output>
  );
}

function Legend() {
  const format = formats();
  const bounds = [0, ...SPEED_CLASSES];
  return (
    <ul class="legend" aria-label={t().speedLegend}>
      {bounds.map((bound, kind) => (
        <li key={bound} class={`speed${kind}`}>
          {kind === bounds.length - 1 ? `> ${format.speed(bound)}` : `< ${format.speed(SPEED_CLASSES[kind])}`}
        </li>
      ))}
    </ul>
  );
}
