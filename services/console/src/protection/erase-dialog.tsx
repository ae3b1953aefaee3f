import type { ErasableHistory, Vehicle } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { describeError } from '../errors.ts';
import { formats } from '../format.ts';
import { confirmed, Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/forms/field.tsx';
import { useAttempts } from '../parts/forms/task-form.tsx';
import { hasEnded, useJob } from '../parts/loading/jobs.ts';
import { JobProgress } from '../parts/loading/progress.tsx';
import { Failure } from '../parts/message.tsx';
import { api } from '../session.ts';
import { joined } from '../words/words.ts';
import { protectionWords } from './words.ts';

interface Props {
  vehicle: Pick<Vehicle, 'id' | 'name'>;
  onClose: () => void;
}

const PATH = '/api/v1/vehicles/{id}/history/erase';

/** Erases a vehicle's history before a day. The affected data is counted first, and a confirmation is required. */
export function EraseDialog({ vehicle, onClose }: Props) {
  const words = protectionWords();
  const day = useSignal('');
  const found = useSignal<ErasableHistory | null>(null);
  const asked = useSignal<string | null>(null);
  const { error, isBusy, at, attempt } = useAttempts();
  const { job, error: jobError } = useJob(asked.value);
  const isErasing = asked.value !== null && (job.value === null || !hasEnded(job.value));
  const call = (dryRun: 'true' | 'false') =>
    api.send('post', PATH, {
      path: { id: vehicle.id },
      query: { dryRun },
      body: { before: new Date(`${day.value}T00:00`).toISOString() },
    });
  const count = (event: SubmitEvent) => {
    event.preventDefault();
    asked.value = null;
    return attempt(async () => {
      found.value = (await (await call('true')).json()) as ErasableHistory;
    });
  };
  const erase = async () => {
    if (!(await confirmed(words.erase, words.eraseQuestion(formats().calendarDate(day.value)), words.erase))) return;
    await attempt(async () => {
      asked.value = ((await (await call('false')).json()) as { id: string }).id;
      // The counted data is being erased.
      found.value = null;
    });
  };
  const isOfField = at('/before').length > 0;
  const wrong = isOfField ? jobError.value : (error.value ?? jobError.value);
  return (
    <Dialog title={joined([words.erase, vehicle.name], ': ')} onClose={onClose}>
      <form class="body" onSubmit={count}>
        <p>{words.eraseHint}</p>
        <Field
          label={words.before}
          type="date"
          name="before"
          required
          errors={at('/before')}
          readOnly={isErasing}
          value={day.value}
          onInput={({ currentTarget: { value } }) => {
            day.value = value;
            found.value = null;
          }}
        />
        <div class="actions">
          <button type="submit" disabled={isBusy.value || isErasing}>
            {words.count}
          </button>
          {found.value !== null && !isNothing(found.value) && (
            <button type="button" class="danger" disabled={isBusy.value || isErasing} onClick={erase}>
              {words.erase}
            </button>
          )}
        </div>
      </form>
      {found.value !== null && <p role="status">{isNothing(found.value) ? words.nothing : describe(found.value)}</p>}
      {job.value !== null && <JobProgress job={job.value} />}
      {wrong !== null && <Failure>{describeError(wrong)}</Failure>}
    </Dialog>
  );
}

function isNothing(found: ErasableHistory): boolean {
  return Object.values(found).every((count) => count === 0);
}

function describe({ positions, events, videos, notifications }: ErasableHistory): string {
  const shown = (count: number) => formats().number(count);
  return protectionWords().counted(shown(positions), shown(events), shown(videos), shown(notifications));
}
