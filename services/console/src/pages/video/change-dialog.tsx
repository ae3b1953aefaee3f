import { ApiError, type ListedVideoTask } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { CancelButton } from '../../parts/buttons.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { Failure } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { localText, timeOfLocalText } from '../../time-range.ts';
import { videoProfiles } from '../../video/profiles.ts';
import { t } from '../../words/words.ts';
import { videoWords } from './words.ts';

interface Props {
  task: ListedVideoTask;
  onClose: () => void;
  onChanged: (task: ListedVideoTask) => void;
}

/** Changes the order for one channel, until the request is sent to the terminal. */
export function ChangeDialog({ task, onClose, onChanged }: Props) {
  const { timeZone } = preferences.value;
  const words = videoWords();
  const channels = videoProfiles.value?.get(task.vehicleId)?.channels ?? [];
  const channel = useSignal(task.channel);
  const startMs = useSignal<number | null>(Date.parse(task.start));
  const endMs = useSignal<number | null>(Date.parse(task.end));
  const quality = useSignal(task.quality);
  const hasSound = useSignal(task.audio);
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    if (startMs.value === null || endMs.value === null) return;
    isBusy.value = true;
    error.value = null;
    try {
      const [start, end] = [startMs.value, endMs.value].map((ms) => new Date(ms).toISOString()) as [string, string];
      const changed = await api.patch('/service/ovms/api/tasks/{task_id}', {
        path: { task_id: task.id },
        body: { channel: channel.value, start, end, quality: quality.value, audio: hasSound.value },
      });
      toast(words.wasChanged);
      onChanged(changed);
    } catch (reason) {
      error.value = reason;
      isBusy.value = false;
    }
  };
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const isElsewhere =
    error.value !== null && ['/start', '/end', '/channel'].every((pointer) => at(pointer).length === 0);
  const setTime = (time: { value: number | null }) => (event: { currentTarget: HTMLInputElement }) => {
    time.value = timeOfLocalText(event.currentTarget.value, timeZone);
  };
  const shown = (ms: number | null) => (ms === null ? '' : localText(ms, timeZone));
  return (
    <Dialog title={words.change} onClose={onClose}>
      <form class="change-order" onSubmit={(event) => void save(event)}>
        <Choice
          label={words.channelOf}
          value={String(channel.value)}
          onChange={(value) => {
            channel.value = Number(value);
          }}
        >
          {channels.map(({ number, name }) => (
            <option key={number} value={String(number)} selected={number === channel.value}>
              {name}
            </option>
          ))}
        </Choice>
        {at('/channel').map((text) => (
          <p key={text} class="error">
            {text}
          </p>
        ))}
        <div class="change-order">
          <Field
            label={words.start}
            type="datetime-local"
            step={1}
            required
            errors={at('/start')}
            value={shown(startMs.value)}
            onChange={setTime(startMs)}
          />
          <Field
            label={words.end}
            type="datetime-local"
            step={1}
            required
            errors={at('/end')}
            value={shown(endMs.value)}
            onChange={setTime(endMs)}
          />
        </div>
        <Choice
          label={words.quality}
          value={quality.value}
          onChange={(value) => {
            quality.value = value as ListedVideoTask['quality'];
          }}
        >
          {(['main', 'sub'] as const).map((one) => (
            <option key={one} value={one} selected={one === quality.value}>
              {words.qualities[one]}
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
          <span>{words.sound}</span>
        </label>
        {isElsewhere && <Failure>{describeError(error.value)}</Failure>}
        <div class="actions">
          <button
            type="submit"
            class="primary"
            disabled={isBusy.value || startMs.value === null || endMs.value === null}
          >
            {t().save}
          </button>
          <CancelButton onClick={onClose} />
        </div>
      </form>
    </Dialog>
  );
}
