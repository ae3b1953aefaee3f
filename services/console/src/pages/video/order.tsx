import type { VideoProfile } from '@outrider/client';
import { useSignal } from '@preact/signals';
import type { ComponentProps } from 'preact';
import { useMemo } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { timeOf } from '../../links.ts';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Picker } from '../../parts/forms/picker.tsx';
import { useAttempts } from '../../parts/forms/task-form.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { localText, timeOfLocalText } from '../../time-range.ts';
import { videoProfiles } from '../../video/profiles.ts';
import { t } from '../../words/words.ts';
import { nameOfVehicle } from './clip-card.tsx';
import { ClipMapBox } from './clip-map-box.tsx';
import { clipAround } from './clips.ts';
import type { VideoTasks } from './tasks.ts';
import { Timeline } from './timeline.tsx';
import { useTrack } from './use-track.ts';
import { videoWords } from './words.ts';

/** The time line shows this time before and after the moment. */
const AROUND_MS = 30 * 60_000;
const SHORT_MS = 60_000;

interface Props {
  vehicleId: string | null;
  tasks: VideoTasks;
}

/** Orders a clip: vehicle, channels, and an interval that is chosen on a time line, on the track, or typed. */
export function OrderForm({ vehicleId, tasks }: Props) {
  const profile = vehicleId === null ? undefined : videoProfiles.value?.get(vehicleId);
  const items = [...(videoProfiles.value?.keys() ?? [])].map((id) => ({ id, name: nameOfVehicle(id) }));
  return (
    <section class="stage" aria-label={videoWords().order}>
      <header class="stage-head">
        <h2>{videoWords().order}</h2>
        <button
          type="button"
          class="icon"
          aria-label={t().close}
          onClick={() => navigate(withQuery({ order: null, t: null }))}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="order">
        <Picker
          label={videoWords().vehicle}
          items={items.sort((a, b) => a.name.localeCompare(b.name))}
          chosen={vehicleId === null ? [] : [vehicleId]}
          isSingle
          onChange={([id]) => setQuery({ vehicle: id ?? null })}
        />
        {profile !== undefined && <Fields key={profile.id} profile={profile} tasks={tasks} />}
        {vehicleId !== null && profile === undefined && <p>{videoWords().noCamerasHint}</p>}
      </div>
    </section>
  );
}

/** State of the order form: the chosen clip, and the middle of the time line. */
function useClip({ channels, maxFragmentSeconds, quality, audio }: VideoProfile) {
  const begun = useMemo(() => {
    const nowMs = Date.now();
    return clipAround(timeOf(route.peek().query.get('t')) ?? nowMs, nowMs, maxFragmentSeconds);
  }, [maxFragmentSeconds]);
  return {
    startMs: useSignal(begun.startMs),
    endMs: useSignal(begun.endMs),
    // The time line does not show the future.
    centreMs: useSignal(Math.min(begun.startMs, Date.now() - AROUND_MS)),
    chosen: useSignal<ReadonlySet<number>>(new Set(channels.map(({ number }) => number))),
    quality: useSignal(quality),
    hasSound: useSignal(audio),
  };
}

interface PartProps {
  profile: VideoProfile;
  clip: ReturnType<typeof useClip>;
  /** Errors of the API for a field. */
  at: (pointer: string) => readonly string[];
}

function Fields({ profile, tasks }: { profile: VideoProfile; tasks: VideoTasks }) {
  const { vehicleId, maxFragmentSeconds } = profile;
  const clip = useClip(profile);
  const { startMs, endMs, centreMs, chosen, quality, hasSound } = clip;
  const { error, isBusy, at, attempt } = useAttempts();
  const track = useTrack(vehicleId, centreMs.value - AROUND_MS, centreMs.value + AROUND_MS);

  const pick = (timeMs: number) => {
    const lengthMs = Math.min(Math.max(1000, endMs.peek() - startMs.peek()), maxFragmentSeconds * 1000);
    const around = clipAround(timeMs, Date.now(), maxFragmentSeconds);
    const middle = (around.startMs + around.endMs) / 2;
    startMs.value = Math.floor(Math.min(middle - lengthMs / 2, Date.now() - lengthMs) / 1000) * 1000;
    endMs.value = startMs.value + lengthMs;
  };
  const order = async (event: SubmitEvent) => {
    event.preventDefault();
    const ordered = new Set<number>();
    await attempt(async () => {
      try {
        for (const channel of chosen.value) {
          const [start, end] = [startMs.value, endMs.value].map((ms) => new Date(ms).toISOString()) as [string, string];
          const body = { profileId: profile.id, channel, start, end, quality: quality.value, audio: hasSound.value };
          await api.post('/service/ovms/api/tasks', { body });
          ordered.add(channel);
        }
        setQuery({ order: null, t: null });
      } finally {
        // Channels that were ordered are not ordered again with the remaining ones.
        chosen.value = new Set([...chosen.value].filter((channel) => !ordered.has(channel)));
      }
    });
    if (ordered.size === 0) return;
    toast(videoWords().ordered(ordered.size));
    void tasks.reload();
  };
  const isElsewhere =
    error.value !== null && ['/start', '/end', '/channel'].every((pointer) => at(pointer).length === 0);
  return (
    <>
      <form class="order-form" onSubmit={order}>
        <Connection profile={profile} />
        <Channels profile={profile} clip={clip} at={at} />
        <Times profile={profile} clip={clip} at={at} />
        <Strip
          clip={clip}
          track={track.value}
          tasks={(tasks.items ?? []).filter((task) => task.vehicleId === vehicleId)}
          onPick={pick}
        />
        <small>{videoWords().timelineHint}</small>
        {isElsewhere && <Failure>{describeError(error.value)}</Failure>}
        <div class="actions">
          <button type="submit" class="primary" disabled={isBusy.value || chosen.value.size === 0}>
            <Icon name="video" /> {videoWords().order}
          </button>
        </div>
      </form>
      <ClipMapBox track={track.value} timeMs={startMs} onPick={pick} />
    </>
  );
}

function Channels({ profile: { channels }, clip: { chosen }, at }: PartProps) {
  return (
    <fieldset class="channels">
      <legend>{videoWords().channels}</legend>
      {channels.map(({ number, name }) => (
        <label key={number} class="check">
          <input
            type="checkbox"
            checked={chosen.value.has(number)}
            onChange={({ currentTarget: { checked } }) => {
              const next = new Set(chosen.peek());
              if (checked) next.add(number);
              else next.delete(number);
              chosen.value = next;
            }}
          />
          <span>
            <bdi>{name}</bdi>
          </span>
        </label>
      ))}
      {chosen.value.size === 0 && <p class="error">{videoWords().noChannel}</p>}
      {at('/channel').map((text) => (
        <p key={text} class="error">
          {text}
        </p>
      ))}
    </fieldset>
  );
}

/** Start, end and quality of the video. */
function Times({ profile, clip: { startMs, endMs, centreMs, quality, hasSound }, at }: PartProps) {
  const { timeZone } = preferences.value;
  const setTime = (time: { value: number }) => (event: { currentTarget: HTMLInputElement }) => {
    const ms = timeOfLocalText(event.currentTarget.value, timeZone);
    if (ms === null) return;
    time.value = ms;
    if (Math.abs(ms - centreMs.peek()) > AROUND_MS) centreMs.value = ms;
  };
  return (
    <div class="times">
      <Field
        label={videoWords().start}
        type="datetime-local"
        step={1}
        required
        value={localText(startMs.value, timeZone)}
        errors={at('/start')}
        onChange={setTime(startMs)}
      />
      <Field
        label={videoWords().end}
        type="datetime-local"
        step={1}
        required
        value={localText(endMs.value, timeZone)}
        errors={at('/end')}
        hint={videoWords().longest(formats().duration(profile.maxFragmentSeconds))}
        onChange={setTime(endMs)}
      />
      <Choice
        label={videoWords().quality}
        value={quality.value}
        onChange={(value) => {
          quality.value = value as VideoProfile['quality'];
        }}
      >
        {(['main', 'sub'] as const).map((one) => (
          <option key={one} value={one} selected={one === quality.value}>
            {videoWords().qualities[one]}
          </option>
        ))}
      </Choice>
      <label class="check">
        <input
          type="checkbox"
          checked={hasSound.value}
          onChange={({ currentTarget: { checked } }) => {
            hasSound.value = checked;
          }}
        />
        <span>{videoWords().sound}</span>
      </label>
    </div>
  );
}

type StripProps = Pick<ComponentProps<typeof Timeline>, 'track' | 'tasks' | 'onPick'> & Pick<PartProps, 'clip'>;

/** The time line, which can be moved to earlier and later times. */
function Strip({ clip: { startMs, endMs, centreMs }, ...rest }: StripProps) {
  const fromMs = centreMs.value - AROUND_MS;
  const toMs = centreMs.value + AROUND_MS;
  return (
    <div class="strip">
      <button
        type="button"
        class="icon"
        aria-label={videoWords().earlier}
        onClick={() => {
          centreMs.value -= AROUND_MS;
        }}
      >
        <span class="flip">
          <Icon name="back" />
        </span>
      </button>
      <div>
        <Timeline fromMs={fromMs} toMs={toMs} startMs={startMs.value} endMs={endMs.value} {...rest} />
        <div class="hours">
          <small>{formats().moment(fromMs)}</small>
          <small>{formats().moment(centreMs.value)}</small>
          <small>{formats().moment(toMs)}</small>
        </div>
      </div>
      <button
        type="button"
        class="icon"
        aria-label={videoWords().later}
        disabled={toMs > Date.now() + SHORT_MS}
        onClick={() => {
          centreMs.value += AROUND_MS;
        }}
      >
        <span class="flip">
          <Icon name="forward" />
        </span>
      </button>
    </div>
  );
}

/** Whether the terminal is online. */
function Connection({ profile: { online, onlineChangedAt } }: { profile: VideoProfile }) {
  const words = videoWords();
  const text =
    online === null || onlineChangedAt === null
      ? words.neverOnline
      : online
        ? words.online
        : words.offline(formats().moment(onlineChangedAt));
  return <p class={`chip ${online ? 'moving' : 'offline'} connection`}>{text}</p>;
}
