import type { DriverAssignment } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { drivers } from '../../drivers/drivers.ts';
import { driverWords } from '../../drivers/words.ts';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { confirmed } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { hasRight } from '../../rights.ts';
import { setQuery } from '../../router.ts';
import { api, user } from '../../session.ts';
import { t } from '../../words/words.ts';

/** Assignments that ended longer ago are not listed: the view of a day shows them. */
const BACK_MS = 7 * 86_400_000;
const SHOWN_AT_ONCE = 100;
const PATH = '/api/v1/driver-assignments/{id}';

/** Manual assignments of one driver, or of all. */
export function Assignments({ driverId, version }: { driverId: string | null; version: number }) {
  const most = useSignal(SHOWN_AT_ONCE);
  const found = useReading<readonly DriverAssignment[]>(
    async (signal) => {
      const from = new Date(Date.now() - BACK_MS).toISOString();
      const query = { from, ...(driverId !== null && { driverId }) };
      return (await api.get('/api/v1/driver-assignments', { query, signal })).items;
    },
    [driverId],
  );
  useEffect(() => {
    if (version > 0) found.again();
  }, [version]);
  const words = driverWords();
  const mayAssign = Boolean(user.value && hasRight(user.value, 'edit-vehicles'));
  return (
    <div class="body assignments">
      {mayAssign && (
        <div class="actions">
          <button type="button" class="primary" onClick={() => setQuery({ assign: '1' }, { replace: false })}>
            <Icon name="plus" /> {words.assign}
          </button>
        </div>
      )}
      <Loaded of={found}>
        {(assignments) =>
          assignments.length === 0 ? (
            <Message icon="driver" title={words.noAssignments} hint={words.noAssignmentsHint} />
          ) : (
            <ul class="slips">
              {assignments.slice(0, most.value).map((each) => (
                <Card
                  key={each.id}
                  assignment={each}
                  namesDriver={driverId === null}
                  mayChange={mayAssign}
                  onChanged={found.again}
                />
              ))}
              {assignments.length > most.value && (
                <li>
                  <button type="button" onClick={() => (most.value += SHOWN_AT_ONCE)}>
                    {t().parts.showMore}
                  </button>
                </li>
              )}
            </ul>
          )
        }
      </Loaded>
    </div>
  );
}

interface CardProps {
  assignment: DriverAssignment;
  namesDriver: boolean;
  mayChange: boolean;
  onChanged: () => void;
}

function Card({ assignment, namesDriver, mayChange, onChanged }: CardProps) {
  const words = driverWords();
  const { id, vehicleId, driverId, from, to } = assignment;
  const isBusy = useSignal(false);
  const vehicle = fleet.vehicles[fleet.indexOf(vehicleId)]?.name ?? '–';
  const driver = nameOfDriver(driverId);
  const nowMs = Date.now();
  const isNow = Date.parse(from) <= nowMs && (to === null || nowMs < Date.parse(to));
  const act = async (work: () => Promise<unknown>, done: string) => {
    isBusy.value = true;
    try {
      await work();
      toast(done);
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      isBusy.value = false;
      onChanged();
    }
  };
  const end = () =>
    act(
      () => api.patch(PATH, { path: { id }, body: { to: new Date().toISOString() } }),
      words.assignmentEnded(driver, vehicle),
    );
  const remove = async () => {
    if (await confirmed(words.takeBack, words.takeBackQuestion(driver, vehicle), words.takeBack))
      await act(() => api.delete(PATH, { path: { id } }), words.takenBack);
  };
  return (
    <li class={isNow ? 'slip now' : 'slip'}>
      <strong>
        {namesDriver && (
          <>
            <a href={`/drivers?driver=${driverId}`}>{driver}</a> ·{' '}
          </>
        )}
        <a href={`/?vehicle=${vehicleId}`}>{vehicle}</a>
      </strong>
      <small>{intervalText(assignment)}</small>
      {isNow && <span class="chip moving">{words.countsNow}</span>}
      {mayChange && (
        <span class="actions">
          {isNow && (
            <button type="button" disabled={isBusy.value} onClick={() => void end()}>
              {words.endNow}
            </button>
          )}
          <button
            type="button"
            class="icon"
            disabled={isBusy.value}
            aria-label={`${words.takeBack}: ${driver}, ${vehicle}`}
            title={words.takeBack}
            onClick={() => void remove()}
          >
            <Icon name="trash" />
          </button>
        </span>
      )}
    </li>
  );
}

export function nameOfDriver(driverId: string): string {
  return drivers.value?.find(({ id }) => id === driverId)?.name ?? '–';
}

export function intervalText({ from, to }: Pick<DriverAssignment, 'from' | 'to'>): string {
  const format = formats();
  const start = format.dateTime(from);
  return to === null ? driverWords().sinceOpen(start) : `${start} – ${format.dateTime(to)}`;
}
