import type { UnknownDriverCodes } from '@outrider/client';
import { useSignal } from '@preact/signals';
import { drivers, loadUnknownCodes, rereadDrivers, unknownCodes } from '../../drivers/drivers.ts';
import { driverWords } from '../../drivers/words.ts';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { ifMatch } from '../../parts/forms/edit.ts';
import { Picker } from '../../parts/forms/picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { Message } from '../../parts/message.tsx';
import { toast } from '../../parts/toast.tsx';
import { route, withQuery } from '../../router.ts';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';

type Code = UnknownDriverCodes['items'][number];

/** Codes that terminals sent and that belong to no driver. Each can be given to a new driver or a known one. */
export function UnknownCodes() {
  const reading = useReading(loadUnknownCodes, []);
  const words = driverWords();
  const codes = unknownCodes.value;
  if (reading.error.value !== null) return <Loaded of={reading}>{() => null}</Loaded>;
  if (codes === null) return <Message title={t().loading} />;
  if (codes.length === 0) return <Message icon="check" title={words.noCodes} hint={words.noCodesHint} />;
  const wanted = route.value.query.get('code');
  const sorted = codes.toSorted((a, b) => Number(b.code === wanted) - Number(a.code === wanted));
  return (
    <>
      <p class="hint">{words.codesExplained}</p>
      <ul class="slips">
        {sorted.map((code) => (
          <CodeCard key={code.code + code.vehicleId} code={code} isWanted={code.code === wanted} />
        ))}
      </ul>
    </>
  );
}

function CodeCard({
  code: { code, vehicleId, vehicleName, lastSeenAt, shifts },
  isWanted,
}: {
  code: Code;
  isWanted: boolean;
}) {
  const words = driverWords();
  const isGiving = useSignal(false);
  const isBusy = useSignal(false);
  const dealerId = fleet.vehicles[fleet.indexOf(vehicleId)]?.dealerId;
  const choosable = (drivers.value ?? []).filter((each) => dealerId === undefined || each.dealerId === dealerId);
  const give = async (driverId: string) => {
    isBusy.value = true;
    try {
      const path = { id: driverId };
      const { body: driver, etag } = await api.getTagged('/api/v1/drivers/{id}', { path });
      await api.patch('/api/v1/drivers/{id}', {
        path,
        headers: ifMatch(etag),
        body: { codes: [...driver.codes, code] },
      });
      toast(words.codeGiven(code, driver.name), 'info', `/drivers?driver=${driverId}`);
      await Promise.allSettled([loadUnknownCodes(), rereadDrivers()]);
    } catch (error) {
      toast(describeError(error), 'error');
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <li class={isWanted ? 'slip now' : 'slip'}>
      <strong>
        <bdi>
          <code>{code}</code>
        </bdi>
      </strong>
      <small>
        <a href={`/?vehicle=${vehicleId}`}>
          <bdi>{vehicleName}</bdi>
        </a>
        {` · ${formats().moment(Date.parse(lastSeenAt))} · ${words.shiftCount(shifts)}`}
      </small>
      <span class="actions">
        <a class="button" href={withQuery({ driver: 'new', code })}>
          <Icon name="plus" /> {words.newDriver}
        </a>
        {choosable.length > 0 && !isGiving.value && (
          <button type="button" onClick={() => (isGiving.value = true)}>
            {words.knownDriver}
          </button>
        )}
      </span>
      {isGiving.value && (
        <Picker
          label={words.giveTo}
          isSingle
          items={choosable.map(({ id, name, phone }) => ({ id, name, hint: phone }))}
          chosen={[]}
          onChange={([chosen]) => chosen !== undefined && !isBusy.value && void give(chosen)}
        />
      )}
    </li>
  );
}
