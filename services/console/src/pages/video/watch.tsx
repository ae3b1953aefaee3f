import type { ListedVideoTask } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { trackLink } from '../../links.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Message } from '../../parts/message.tsx';
import { setQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { fileHref, intervalOf, nameOfChannel, nameOfVehicle } from './clip-card.tsx';
import { ClipClock, RATES } from './clip-clock.ts';
import { ClipMapBox } from './clip-map-box.tsx';
import { type Clip, clipsOf, watchable } from './clips.ts';
import { useTrack } from './use-track.ts';
import { videoWords } from './words.ts';

/** Time before and after the clip for which the track is shown, to show where the vehicle came from and went to. */
const AROUND_MS = 120_000;
/** Minimum time between seeks while a slider is dragged: each seek is a call of the API. */
const SEEK_EVERY_MS = 250;

interface Props {
  clip: Clip | null;
  taskId: string;
  /** Whether the list is loaded, so that a clip that is missing in it must be requested. */
  isListed: boolean;
}

/** The channels of a clip side by side, beside the map, with one clock. */
export function WatchClip({ clip, taskId, isListed }: Props) {
  const found = useSignal<Clip | null>(null);
  const failure = useSignal<string | null>(null);
  const isMissing = clip === null && isListed;
  useEffect(() => {
    if (!isMissing) return;
    const ending = new AbortController();
    api.get('/service/ovms/api/tasks/{task_id}', { path: { task_id: taskId }, signal: ending.signal }).then(
      (task) => {
        found.value = clipsOf([task])[0] ?? null;
      },
      (error: unknown) => {
        if (!ending.signal.aborted) failure.value = describeError(error);
      },
    );
    return () => ending.abort();
  }, [isMissing, taskId, found, failure]);
  const shown = clip ?? found.value;
  if (shown === null)
    return (
      <div class="stage">
        <Message title={failure.value === null ? t().loading : videoWords().notFound} />
      </div>
    );
  const channels = watchable(shown);
  return (
    <section class="stage" aria-label={videoWords().watch}>
      <header class="stage-head">
        <div>
          <h2>
            <bdi>{nameOfVehicle(shown.vehicleId)}</bdi>
          </h2>
          <small>{intervalOf(shown)}</small>
        </div>
        <a class="button" href={trackLink({ vehicleId: shown.vehicleId, atMs: shown.startMs })}>
          <Icon name="track" /> {videoWords().openTrack}
        </a>
        <IconButton icon="close" label={t().close} onClick={() => setQuery({ clip: null })} />
      </header>
      {channels.length === 0 ? (
        <Message icon="video" title={videoWords().deleted} />
      ) : (
        <Player clip={shown} channels={channels} />
      )}
    </section>
  );
}

function Player({ clip, channels }: { clip: Clip; channels: readonly ListedVideoTask[] }) {
  const { vehicleId, startMs, endMs } = clip;
  const clock = useMemo(() => new ClipClock(startMs, endMs), [startMs, endMs]);
  const track = useTrack(vehicleId, startMs - AROUND_MS, endMs + AROUND_MS);
  const isPlaying = clock.isPlaying.value;
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    const step = () => {
      clock.tick();
      frame = requestAnimationFrame(step);
    };
    step();
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, clock]);
  return (
    <div class="watch">
      <div class={`videos of${Math.min(channels.length, 4)}`}>
        {channels.map((task) => (
          <Video key={task.id} task={task} clock={clock} />
        ))}
      </div>
      <Controls clock={clock} />
      <ClipMapBox track={track.value} timeMs={clock.timeMs} onPick={(at) => clock.seek(at)} />
    </div>
  );
}

function Video({ task, clock }: { task: ListedVideoTask; clock: ClipClock }) {
  const element = useRef<HTMLVideoElement>(null);
  const isBroken = useSignal(false);
  const name = nameOfChannel(task.vehicleId, task.channel);
  useEffect(() => (element.current === null ? undefined : clock.attach(element.current)), [clock]);
  return (
    <figure>
      {/* biome-ignore lint/a11y/useMediaCaption: cameras of vehicles have no captions. */}
      <video
        ref={element}
        src={fileHref(task)}
        aria-label={name}
        controls
        playsInline
        preload="metadata"
        onPlay={() => clock.onPlay()}
        onPause={(event) => clock.onPause(event.currentTarget)}
        onSeeking={(event) => clock.onSeeking(event.currentTarget)}
        onError={() => {
          isBroken.value = true;
        }}
      />
      <figcaption>
        <bdi>{name}</bdi>
        {isBroken.value && <span class="error">{videoWords().cannotPlay}</span>}
      </figcaption>
    </figure>
  );
}

function Controls({ clock }: { clock: ClipClock }) {
  const lastSeek = useRef(0);
  const format = formats();
  const isPlaying = clock.isPlaying.value;
  const timeMs = clock.timeMs.value;
  const seek = (to: number, isLast: boolean) => {
    const now = performance.now();
    if (!isLast && now - lastSeek.current < SEEK_EVERY_MS) return;
    lastSeek.current = now;
    clock.seek(to);
  };
  return (
    <div class="clip-controls">
      <button
        type="button"
        class="icon"
        aria-label={isPlaying ? videoWords().pause : videoWords().play}
        onClick={() => clock.toggle()}
      >
        <Icon name={isPlaying ? 'pause' : 'play'} />
      </button>
      <select
        aria-label={videoWords().rate}
        value={clock.rate.value}
        onChange={(event) => clock.setRate(Number(event.currentTarget.value))}
      >
        {RATES.map((rate) => (
          <option key={rate} value={rate} selected={rate === clock.rate.value}>
            {format.number(rate, 1)}×
          </option>
        ))}
      </select>
      <input
        type="range"
        aria-label={videoWords().time}
        aria-valuetext={format.timeWithSeconds(timeMs)}
        min={clock.startMs}
        max={clock.endMs}
        step={100}
        value={timeMs}
        onInput={(event) => seek(Number(event.currentTarget.value), false)}
        onChange={(event) => seek(Number(event.currentTarget.value), true)}
      />
      <output>{format.timeWithSeconds(timeMs)}</output>
    </div>
  );
}
