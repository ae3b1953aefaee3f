import type { VideoStorage } from '@outrider/client';
import { untracked, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import '../../style/video.css';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { live } from '../../live/live.ts';
import { Choice } from '../../parts/forms/field.tsx';
import { Picker } from '../../parts/forms/picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Message } from '../../parts/message.tsx';
import { isOperator } from '../../rights.ts';
import { navigate, route, setQuery, withQuery } from '../../router.ts';
import { api, user } from '../../session.ts';
import { readVideoProfiles, videoProfiles } from '../../video/profiles.ts';
import { t } from '../../words/words.ts';
import { screenFor } from '../map/panel-links.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { ClipCard, nameOfVehicle } from './clip-card.tsx';
import { clipsOf } from './clips.ts';
import { OrderForm } from './order.tsx';
import { type TaskFilter, VideoTasks } from './tasks.ts';
import { WatchClip } from './watch.tsx';
import { videoWords } from './words.ts';

const STATES = ['new', 'waiting', 'requested', 'downloading', 'processing', 'done', 'failed', 'cancelled'] as const;

/** Query changes that close what is open beside the list. */
export const CLOSED = { order: null, clip: null, t: null };

/**
 * Videos of vehicles: order, progress, playback. The address has the vehicle, the state, and what is open: a clip by
 * one of its tasks, or the form.
 */
export function VideoPage() {
  const { query } = route.value;
  const vehicleId = query.get('vehicle');
  const status = STATES.find((state) => state === query.get('state')) ?? null;
  const profiles = videoProfiles.value;
  const failure = useSignal<unknown>(null);
  const readProfiles = () => {
    failure.value = null;
    readVideoProfiles().catch((error: unknown) => {
      failure.value = error;
    });
  };
  useEffect(readProfiles, []);
  const profileId = vehicleId === null ? null : (profiles?.get(vehicleId)?.id ?? null);
  const tasks = useTasks({ profileId, status }, profiles !== null);

  if (failure.value !== null)
    return <Message icon="warning" title={describeError(failure.value)} action={t().retry} onAction={readProfiles} />;
  if (profiles === null) return <Message title={t().loading} />;
  if (profiles.size === 0) return <NoCameras />;
  const clips = clipsOf(tasks.items ?? []);
  const openId = query.get('clip');
  const isOrdering = query.get('order') === '1';
  const open = clips.find((clip) => clip.tasks.some(({ id }) => id === openId)) ?? null;
  return (
    <div class={isOrdering || openId !== null ? 'split video has-open' : 'split video'}>
      <section class="side" aria-label={t().pages.video}>
        <Filters vehicleId={vehicleId} status={status} isOrdering={isOrdering} />
        {tasks.list.error.value !== null ? (
          <Message
            icon="warning"
            title={describeError(tasks.list.error.value)}
            action={t().retry}
            onAction={() => void tasks.reload()}
          />
        ) : tasks.items === null ? (
          <Message title={t().loading} />
        ) : clips.length === 0 ? (
          <Message
            icon="video"
            title={vehicleId === null && status === null ? videoWords().nothing : videoWords().nothingMatches}
            hint={videoWords().nothingHint}
          />
        ) : (
          <div class="scroll">
            <ul class="cards">
              {clips.map((clip) => (
                <ClipCard key={clip.key} clip={clip} isOpen={clip === open} tasks={tasks} />
              ))}
            </ul>
            {tasks.list.hasMore.value && (
              <button type="button" disabled={tasks.list.isLoading.value} onClick={() => void tasks.list.more()}>
                {t().parts.showMore}
              </button>
            )}
          </div>
        )}
        {user.value && isOperator(user.value) && <Storage tasks={tasks} />}
      </section>
      {isOrdering ? (
        <OrderForm key={vehicleId ?? ''} vehicleId={vehicleId} tasks={tasks} />
      ) : openId === null ? (
        <div class="stage">
          <Message icon="video" title={videoWords().choose} />
        </div>
      ) : (
        <WatchClip key={open?.key ?? openId} clip={open} taskId={openId} isListed={tasks.items !== null} />
      )}
    </div>
  );
}

/** The list's tasks, kept current while the page is shown. */
function useTasks({ profileId, status }: TaskFilter, isReady: boolean): VideoTasks {
  const tasks = useMemo(() => new VideoTasks({ profileId, status }), [profileId, status]);
  useEffect(() => {
    if (isReady) void tasks.reload();
    return () => tasks.stop();
  }, [tasks, isReady]);
  useSignalEffect(() => {
    const news = live.videoTask.value;
    if (news !== null) untracked(() => tasks.take(news));
  });
  // Changes made while the connection was lost are not sent again.
  const isOpen = live.status.value === 'open';
  useEffect(() => {
    if (isOpen && tasks.list.items.peek() !== null) void tasks.reload();
  }, [isOpen, tasks]);
  return tasks;
}

interface FilterProps {
  vehicleId: string | null;
  status: (typeof STATES)[number] | null;
  isOrdering: boolean;
}

function Filters({ vehicleId, status, isOrdering }: FilterProps) {
  const vehicles = [...(videoProfiles.value?.keys() ?? [])].map((id) => ({ id, name: nameOfVehicle(id) }));
  return (
    <search class="filters">
      <Picker
        label={videoWords().vehicle}
        items={vehicles.sort((a, b) => a.name.localeCompare(b.name))}
        chosen={vehicleId === null ? [] : [vehicleId]}
        all={videoWords().allVehicles}
        isSingle
        onChange={([id]) => setQuery({ ...CLOSED, vehicle: id ?? null }, { replace: false })}
      />
      <Choice label={videoWords().state} value={status ?? ''} onChange={(value) => setQuery({ state: value })}>
        <option value="">{videoWords().allStates}</option>
        {STATES.map((state) => (
          <option key={state} value={state} selected={state === status}>
            {videoWords().states[state]}
          </option>
        ))}
      </Choice>
      <button
        type="button"
        class="primary"
        aria-pressed={isOrdering}
        onClick={() => navigate(withQuery({ ...CLOSED, order: isOrdering ? null : '1' }))}
      >
        <Icon name="plus" /> {videoWords().order}
      </button>
    </search>
  );
}

/** Used and total storage, for operators. */
function Storage({ tasks }: { tasks: VideoTasks }) {
  const storage = useSignal<VideoStorage | null>(null);
  const files = tasks.items?.filter(({ file }) => file !== null).length;
  useEffect(() => {
    const ending = new AbortController();
    api.get('/service/ovms/api/storage', { signal: ending.signal }).then(
      (read) => {
        storage.value = read;
      },
      () => {
        // The storage is secondary, and the list shows the error.
      },
    );
    return () => ending.abort();
  }, [files, storage]);
  if (storage.value === null) return null;
  const { usedBytes, quotaBytes, files: count, retentionDays } = storage.value;
  const format = formats();
  const isFull = usedBytes > 0.9 * quotaBytes;
  return (
    <section class="storage" aria-label={videoWords().storage}>
      <h2>{videoWords().storage}</h2>
      <meter min={0} max={quotaBytes} high={0.9 * quotaBytes} value={usedBytes} aria-label={videoWords().storage} />
      <small>
        {[
          videoWords().storageUsed(format.bytes(usedBytes), format.bytes(quotaBytes)),
          videoWords().storageFiles(count),
          videoWords().keptDays(retentionDays),
        ].join(' · ')}
      </small>
      {isFull && <small>{videoWords().storageFull}</small>}
    </section>
  );
}

/** Suggests the next step to those who may add cameras. */
function NoCameras() {
  const vehicles = screenFor('/vehicles');
  const { noCameras, noCamerasHint, noCamerasSteps } = videoWords();
  if (vehicles === null) return <Message icon="video" title={noCameras} hint={noCamerasHint} />;
  return (
    <Message icon="video" title={noCameras} hint={noCamerasSteps(vehicleWords().video)}>
      <a class="button primary" href={vehicles}>
        {t().pages.vehicles}
      </a>
    </Message>
  );
}
