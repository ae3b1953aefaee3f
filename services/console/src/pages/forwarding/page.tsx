import type { ForwardingDestination } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { describeError } from '../../errors.ts';
import { formats } from '../../format.ts';
import { CancelButton, IconButton, SubmitButton } from '../../parts/buttons.tsx';
import { confirmed, Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Paged } from '../../parts/lists/paged.tsx';
import { usePages } from '../../parts/lists/pages.ts';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';
import { localText, timeOfLocalText } from '../../time-range.ts';
import { joined, t } from '../../words/words.ts';
import { DestinationDialog } from './destination-dialog.tsx';
import { forwardingWords } from './words.ts';
import '../../style/list-page.css';
import '../../style/manage.css';
import '../../style/forwarding.css';

const REFRESH_MS = 5000;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** A shorter lag is not worth showing. */
const LAG_SHOWN_SECONDS = 60;

/** Systems that positions and events are forwarded to: their progress, errors and actions. */
export function ForwardingPage() {
  const words = forwardingWords();
  const edited = useSignal<ForwardingDestination | 'new' | null>(null);
  const replayed = useSignal<ForwardingDestination | null>(null);
  const list = usePages<ForwardingDestination>(
    (cursor, ending) =>
      api.get('/api/v1/forwarding-destinations', {
        query: { limit: 100, ...(cursor === undefined ? {} : { cursor }) },
        signal: ending,
      }),
    [],
  );
  useEffect(() => {
    const timer = setInterval(() => void list.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const act = async (work: () => Promise<unknown>) => {
    try {
      await work();
    } catch (error) {
      toast(describeError(error), 'error');
    }
    await list.reload();
  };
  return (
    <div class="page">
      <div class="heading">
        <h2>{t().pages.forwarding}</h2>
        <button type="button" class="primary" onClick={() => (edited.value = 'new')}>
          <Icon name="plus" /> {words.new}
        </button>
      </div>
      <Paged list={list} empty={<Message icon="upload" title={words.none} hint={words.noneHint} />}>
        {(items) => (
          <ul class="cards">
            {items.map((destination) => (
              <DestinationCard
                key={destination.id}
                destination={destination}
                act={act}
                onEdit={() => (edited.value = destination)}
                onReplay={() => (replayed.value = destination)}
              />
            ))}
          </ul>
        )}
      </Paged>
      {edited.value !== null && (
        <DestinationDialog
          destination={edited.value === 'new' ? null : edited.value}
          onSaved={() => {
            edited.value = null;
            toast(words.saved);
            void list.reload();
          }}
          onClose={() => (edited.value = null)}
        />
      )}
      {replayed.value !== null && (
        <ReplayDialog
          destination={replayed.value}
          onDone={() => {
            replayed.value = null;
            void list.reload();
          }}
        />
      )}
    </div>
  );
}

interface CardProps {
  destination: ForwardingDestination;
  act: (work: () => Promise<unknown>) => Promise<void>;
  onEdit: () => void;
  onReplay: () => void;
}

function DestinationCard({ destination, act, onEdit, onReplay }: CardProps) {
  const words = forwardingWords();
  const { id, name, kind, active, progress } = destination;
  const isTesting = useSignal(false);
  const path = { id };
  const test = async () => {
    isTesting.value = true;
    await act(async () => {
      const { error, tookMs } = await api.post('/api/v1/forwarding-destinations/{id}/test', { path });
      if (error === null) toast(words.testGood(tookMs));
      else toast(error, 'error');
    });
    isTesting.value = false;
  };
  const pause = () => act(() => api.patch('/api/v1/forwarding-destinations/{id}', { path, body: { active: !active } }));
  const remove = async () => {
    if (!(await confirmed(words.remove, words.removeQuestion(name), words.remove))) return;
    await act(() => api.delete('/api/v1/forwarding-destinations/{id}', { path }));
  };
  return (
    <li>
      <div>
        <span>
          <strong>
            <bdi>{name}</bdi>
          </strong>{' '}
          <small>{words.kinds[kind]}</small>{' '}
          <small class={`chip forwarding-${progress.state}`}>{words.states[progress.state]}</small>
        </span>
        <Progress progress={progress} />
      </div>
      <div class="actions">
        <button type="button" disabled={isTesting.value} onClick={() => void test()}>
          {words.test}
        </button>
        <button type="button" onClick={() => void pause()}>
          {active ? words.pause : words.resume}
        </button>
        <button type="button" onClick={onReplay}>
          {words.replay}
        </button>
        <IconButton icon="edit" label={words.editOf(name)} onClick={onEdit} />
        <IconButton icon="trash" label={`${words.remove}: ${name}`} onClick={() => void remove()} />
      </div>
    </li>
  );
}

function Progress({ progress }: Pick<ForwardingDestination, 'progress'>) {
  const words = forwardingWords();
  const format = formats();
  const {
    state,
    lagSeconds,
    positionsSent,
    eventsSent,
    lastSuccessAt,
    lastError,
    nextAttemptAt,
    refused,
    lastRefusal,
    gap,
  } = progress;
  const isBehind = lagSeconds !== null && lagSeconds >= LAG_SHOWN_SECONDS;
  const lag = isBehind ? [words.lag(format.duration(lagSeconds))] : state === 'running' ? [words.upToDate] : [];
  const success = lastSuccessAt === null ? [] : [words.lastSuccess(format.dateTime(lastSuccessAt))];
  const next = nextAttemptAt === null ? '' : ` · ${words.nextAttempt(format.dateTime(nextAttemptAt))}`;
  return (
    <>
      <small>{[...lag, words.sent(positionsSent, eventsSent), ...success].join(' · ')}</small>
      {lastError !== null && (
        <small class="error">
          {lastError}
          {next}
        </small>
      )}
      {refused > 0 && <small>{[words.refused(refused), lastRefusal].filter(Boolean).join(': ')}</small>}
      {gap !== null && <small class="error">{words.gap(format.dateTime(gap.from), format.dateTime(gap.to))}</small>}
    </>
  );
}

function ReplayDialog({ destination, onDone }: { destination: ForwardingDestination; onDone: () => void }) {
  const words = forwardingWords();
  const { timeZone } = preferences.value;
  const fromMs = useSignal<number | null>(Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - DAY_MS);
  const error = useSignal<unknown>(null);
  const send = async (event: SubmitEvent) => {
    event.preventDefault();
    if (fromMs.value === null) return;
    try {
      await api.post('/api/v1/forwarding-destinations/{id}/replay', {
        path: { id: destination.id },
        body: { from: new Date(fromMs.value).toISOString() },
      });
      toast(words.replayed);
      onDone();
    } catch (reason) {
      error.value = reason;
    }
  };
  return (
    <Dialog title={joined([words.replay, destination.name], ' ')} onClose={onDone}>
      <form class="form" onSubmit={send}>
        <Field
          label={words.replayFrom}
          hint={words.replayHint}
          type="datetime-local"
          required
          value={fromMs.value === null ? '' : localText(fromMs.value, timeZone)}
          errors={error.value === null ? [] : [describeError(error.value)]}
          onChange={(event) => (fromMs.value = timeOfLocalText(event.currentTarget.value, timeZone))}
        />
        <div class="actions">
          <SubmitButton>{words.replay}</SubmitButton>
          <CancelButton onClick={onDone} />
        </div>
      </form>
    </Dialog>
  );
}
