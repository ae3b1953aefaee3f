import { ApiError, type CreatedShareLink } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { describeError } from '../errors.ts';
import { fleet } from '../fleet/store.ts';
import { formats } from '../format.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Choice, Field } from '../parts/forms/field.tsx';
import { VehiclePicker } from '../parts/forms/picker.tsx';
import { Icon } from '../parts/icon.tsx';
import { Failure } from '../parts/message.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { joined, t } from '../words/words.ts';
import type { Shared } from './share-button.tsx';

const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
/** Lifetimes of a link, in hours. */
const LIFETIMES = [1, 4, 12, DAY_HOURS, 7 * DAY_HOURS, 30 * DAY_HOURS];

/** Chooses what a link shows and for how long, creates it, and offers to copy or send it. */
export function ShareDialog({ vehicleIds, track, onClose }: Shared & { onClose: () => void }) {
  const chosen = useSignal(vehicleIds);
  const name = useSignal('');
  const hours = useSignal(DAY_HOURS);
  const error = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const made = useSignal<CreatedShareLink | null>(null);
  const words = t().share;
  const names = joined(
    chosen.value.map((id) => fleet.vehicles[fleet.indexOf(id)]?.name ?? '–'),
    ', ',
  );
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    isBusy.value = true;
    error.value = null;
    const time = (at: number) => new Date(at).toISOString();
    const body = {
      name: name.peek().trim() === '' ? null : name.peek(),
      vehicleIds: [...chosen.peek()],
      track: track === undefined ? null : { from: time(track.fromMs), to: time(track.toMs) },
      expiresAt: time(Date.now() + hours.peek() * HOUR_MS),
    };
    try {
      made.value = await api.post('/api/v1/share-links', { body });
    } catch (reason) {
      error.value = reason;
    } finally {
      isBusy.value = false;
    }
  };
  const at = (pointer: string) => (error.value instanceof ApiError ? error.value.at(pointer) : []);
  const isElsewhere =
    error.value !== null && ['/name', '/vehicleIds', '/expiresAt'].every((pointer) => at(pointer).length === 0);
  return (
    <Dialog title={track === undefined ? words.sharePosition : words.shareTrack} onClose={onClose}>
      <p>
        {track === undefined
          ? words.whatPosition(names)
          : words.whatTrack(names, formats().interval(track.fromMs, track.toMs))}
      </p>
      {made.value === null ? (
        <form class="share-form" onSubmit={make}>
          <VehiclePicker
            chosen={chosen.value}
            errors={at('/vehicleIds')}
            onChange={(ids) => {
              chosen.value = ids;
            }}
          />
          <Field
            label={words.name}
            hint={words.nameHint}
            maxLength={100}
            value={name.value}
            errors={at('/name')}
            onInput={(event) => {
              name.value = event.currentTarget.value;
            }}
          />
          <Choice
            label={words.lasts}
            value={`${hours.value}`}
            onChange={(value) => {
              hours.value = Number(value);
            }}
          >
            {LIFETIMES.map((one) => (
              <option key={one} value={one} selected={one === hours.value}>
                {one < DAY_HOURS ? words.hours(one) : words.days(one / DAY_HOURS)}
              </option>
            ))}
          </Choice>
          {at('/expiresAt').map((text) => (
            <p key={text} class="error">
              {text}
            </p>
          ))}
          {isElsewhere && <Failure>{describeError(error.value)}</Failure>}
          <div class="actions">
            <button type="submit" class="primary" disabled={isBusy.value || chosen.value.length === 0}>
              <Icon name="share" /> {words.make}
            </button>
            <a class="button" href="/share">
              {words.allLinks}
            </a>
          </div>
        </form>
      ) : (
        <Made link={made.value} />
      )}
    </Dialog>
  );
}

function Made({ link: { path, name, expiresAt } }: { link: CreatedShareLink }) {
  const box = useRef<HTMLDivElement>(null);
  const words = t().share;
  const url = new URL(path, location.href).href;
  const copy = async () => {
    box.current?.querySelector('input')?.select();
    try {
      // Without TLS, scripts have no clipboard: copy the selection instead.
      if (navigator.clipboard) await navigator.clipboard.writeText(url);
      else document.execCommand('copy');
      toast(words.copied);
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };
  const send = () =>
    navigator.share({ url, ...(name === null ? {} : { title: name }) }).catch(() => {
      // The user cancelled sharing.
    });
  return (
    <div class="share-form" ref={box}>
      <p role="status">{words.made}</p>
      <Field
        label={words.link}
        readOnly
        dir="ltr"
        value={url}
        hint={words.expires(formats().dateTime(expiresAt))}
        onFocus={(event) => event.currentTarget.select()}
      />
      <div class="actions">
        <button type="button" class="primary" onClick={copy}>
          <Icon name="copy" /> {words.copy}
        </button>
        {typeof navigator.share === 'function' && (
          <button type="button" onClick={send}>
            <Icon name="share" /> {words.send}
          </button>
        )}
        <a class="button" href="/share">
          {words.allLinks}
        </a>
      </div>
    </div>
  );
}
