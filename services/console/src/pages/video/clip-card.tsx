import type { ListedVideoTask } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { fleet, loaded } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { confirmed } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { navigate, withQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { videoProfiles } from '../../video/profiles.ts';
import { joined, t } from '../../words/words.ts';
import { ChangeDialog } from './change-dialog.tsx';
import { type Clip, isFinal, mayChange, mayRetry, watchable } from './clips.ts';
import type { VideoTasks } from './tasks.ts';
import { videoWords } from './words.ts';

export function nameOfVehicle(id: string): string {
  void fleet.version.value;
  void loaded.value;
  return fleet.vehicles[fleet.indexOf(id)]?.name ?? '–';
}

export function nameOfChannel(vehicleId: string, number: number): string {
  const named = videoProfiles.value?.get(vehicleId)?.channels.find((channel) => channel.number === number);
  return named?.name ?? videoWords().channel(number);
}

export function fileHref(task: ListedVideoTask): string {
  return `/service/ovms/api/tasks/file/${task.id}`;
}

/** Formats the interval of a clip: `31 Jan 2026, 12:00:00 – 12:01:00`. */
export function intervalOf({ startMs, endMs }: Pick<Clip, 'startMs' | 'endMs'>): string {
  return formats().interval(startMs, endMs);
}

interface Props {
  clip: Clip;
  isOpen: boolean;
  tasks: VideoTasks;
}

/** A clip in the list: its vehicle and time, and the progress of its channels. */
export function ClipCard({ clip, isOpen, tasks }: Props) {
  const [first] = watchable(clip);
  const name = nameOfVehicle(clip.vehicleId);
  const format = formats();
  const open = () => navigate(withQuery({ order: null, t: null, clip: first?.id ?? null }));
  return (
    <li class="clip-card" aria-current={isOpen ? 'true' : undefined}>
      <div>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <small>
          {intervalOf(clip)} · {format.duration((clip.endMs - clip.startMs) / 1000)}
        </small>
      </div>
      {first !== undefined && (
        <button type="button" class={isOpen ? undefined : 'primary'} aria-pressed={isOpen} onClick={open}>
          <Icon name="play" /> {videoWords().watch}
        </button>
      )}
      <ul>
        {clip.tasks.map((task) => (
          <Channel key={task.id} task={task} clip={clip} tasks={tasks} />
        ))}
      </ul>
    </li>
  );
}

function Channel({ task, clip, tasks }: { task: ListedVideoTask; clip: Clip; tasks: VideoTasks }) {
  const { status, file, progress } = task;
  const format = formats();
  const channel = nameOfChannel(task.vehicleId, task.channel);
  const isUnderWay = !isFinal(status) && status !== 'waiting' && status !== 'new';
  return (
    <li class="clip-channel">
      <div>
        <span>
          {channel} · <span class={`chip video-${status}`}>{videoWords().states[status]}</span>
        </span>
        {isUnderWay && (
          <span class="progress">
            <progress max={100} value={progress.percent} aria-label={`${channel}: ${videoWords().states[status]}`} />
            <small>{joined([`${format.number(progress.percent)} %`, format.bytes(progress.bytes)])}</small>
          </span>
        )}
        <small>{joined(factsOf(task))}</small>
      </div>
      <Actions task={task} clip={clip} tasks={tasks} channel={channel} />
      {file === null && status === 'done' && <span class="hidden">{videoWords().deleted}</span>}
    </li>
  );
}

/** Details of a task besides its state: why its video is missing, its size, and until when it is kept. */
function factsOf({ status, reason, file, expiresAt, nextAttemptAt }: ListedVideoTask): string[] {
  const format = formats();
  const words = videoWords();
  if (file !== null)
    return [
      format.bytes(file.bytes),
      words.keptUntil(format.dateTime(file.expiresAt)),
      ...(file.packetsLost > 0 ? [words.packetsLost(file.packetsLost)] : []),
    ];
  if (status === 'done') return [words.deleted];
  const why = reason === null ? [] : [words.reasons[reason]];
  if (status === 'failed' || status === 'cancelled') return why;
  const next = nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now();
  return [
    ...why,
    ...(status === 'waiting' && next ? [words.nextAttempt(format.moment(nextAttemptAt))] : []),
    words.triedUntil(format.moment(expiresAt)),
  ];
}

function Actions({ task, clip, tasks, channel }: { task: ListedVideoTask; channel: string } & Omit<Props, 'isOpen'>) {
  const isBusy = useSignal(false);
  const isChanging = useSignal(false);
  const words = videoWords();
  const run = async (action: () => Promise<unknown>, done: string) => {
    isBusy.value = true;
    try {
      await action();
      toast(done);
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      isBusy.value = false;
    }
    await tasks.refresh(task.id);
  };
  const path = { task_id: task.id };
  const cancel = () => run(() => api.post('/service/ovms/api/tasks/{task_id}/cancel', { path }), words.wasCancelled);
  const retry = () => {
    const { profileId, start, end, quality, audio } = task;
    const body = { profileId, channel: task.channel, start, end, quality, audio };
    return run(async () => {
      await api.post('/service/ovms/api/tasks', { body });
      await tasks.reload();
    }, words.ordered(1));
  };
  const remove = async () => {
    const question = words.deleteQuestion(joined([nameOfVehicle(task.vehicleId), channel], ', '), intervalOf(clip));
    if (await confirmed(words.deleteVideo, question, t().delete))
      await run(() => api.delete('/service/ovms/api/tasks/file/{task_id}', { path }), words.wasDeleted);
  };
  const removeTask = async () => {
    const question = words.deleteTaskQuestion(joined([nameOfVehicle(task.vehicleId), channel], ', '), intervalOf(clip));
    if (!(await confirmed(words.deleteTask, question, t().delete))) return;
    await run(() => api.delete('/service/ovms/api/tasks/{task_id}', { path }), words.taskWasDeleted);
  };
  const labelled = (label: string) => ({ title: label, 'aria-label': `${label}: ${channel}` });
  return (
    <div class="channel-actions">
      {task.file !== null && (
        <>
          <a class="button icon" href={fileHref(task)} download {...labelled(words.download)}>
            <Icon name="download" />
          </a>
          <button type="button" class="icon" disabled={isBusy.value} onClick={remove} {...labelled(words.deleteVideo)}>
            <Icon name="trash" />
          </button>
        </>
      )}
      {mayRetry(task) && (
        <button type="button" class="icon" disabled={isBusy.value} onClick={retry} {...labelled(words.retry)}>
          <Icon name="refresh" />
        </button>
      )}
      {mayChange(task) && (
        <button
          type="button"
          class="icon"
          disabled={isBusy.value}
          onClick={() => {
            isChanging.value = true;
          }}
          {...labelled(words.change)}
        >
          <Icon name="edit" />
        </button>
      )}
      {isChanging.value && (
        <ChangeDialog
          task={task}
          onClose={() => {
            isChanging.value = false;
          }}
          onChanged={(changed) => {
            isChanging.value = false;
            tasks.put(changed);
          }}
        />
      )}
      {isFinal(task.status) && task.file === null && (
        <button type="button" class="icon" disabled={isBusy.value} onClick={removeTask} {...labelled(words.deleteTask)}>
          <Icon name="trash" />
        </button>
      )}
      {!isFinal(task.status) && (
        <button type="button" class="icon" disabled={isBusy.value} onClick={cancel} {...labelled(words.cancelOrder)}>
          <Icon name="close" />
        </button>
      )}
    </div>
  );
}
