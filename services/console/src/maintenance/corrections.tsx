import type { VehicleCounters } from '@outrider/client';
import { describeError } from '../errors.ts';
import { formats } from '../format.ts';
import { confirmed } from '../parts/dialog.tsx';
import { Icon } from '../parts/icon.tsx';
import { toast } from '../parts/toast.tsx';
import { api } from '../session.ts';
import { maintenanceWords } from './words.ts';

type Correction = VehicleCounters['corrections'][number];
type Custom = VehicleCounters['custom'];

/** Corrections of a vehicle's counters, newest first. */
export function Corrections(props: {
  vehicleId: string;
  corrections: readonly Correction[];
  custom: Custom;
  maintains: boolean;
  onChanged: () => void;
}) {
  const { vehicleId, corrections, custom, maintains, onChanged } = props;
  const words = maintenanceWords();
  if (corrections.length === 0) return null;
  const remove = async ({ id }: Correction) => {
    if (!(await confirmed(words.takeBack, words.takeBackQuestion, words.takeBack))) return;
    try {
      await api.delete('/api/v1/vehicles/{id}/counter-corrections/{correctionId}', {
        path: { id: vehicleId, correctionId: id },
      });
      onChanged();
    } catch (reason) {
      toast(describeError(reason), 'error');
    }
  };
  return (
    <details>
      <summary>{words.corrections(corrections.length)}</summary>
      <ul class="records">
        {corrections.map((each) => (
          <li key={each.id}>
            <strong>
              <bdi>{nameOf(each, custom)}</bdi>
            </strong>{' '}
            <bdi>{valueText(each, custom)}</bdi> <time dateTime={each.at}>{formats().dateTime(each.at)}</time>
            {each.note !== null && <p>{each.note}</p>}
            {maintains && (
              <button
                type="button"
                class="icon"
                aria-label={`${words.takeBack}: ${valueText(each, custom)}`}
                onClick={() => void remove(each)}
              >
                <Icon name="trash" />
              </button>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}

function nameOf({ counter }: Correction, custom: Custom): string {
  const { names } = maintenanceWords();
  if (counter === 'odometer' || counter === 'engine-hours') return names[counter];
  return custom.find(({ id }) => id === counter)?.name ?? '–';
}

function valueText({ counter, value }: Correction, custom: Custom): string {
  if (counter === 'odometer') return formats().distance(value);
  const shown = formats().number(value, 1);
  if (counter === 'engine-hours') return maintenanceWords().hours(shown);
  return `${shown} ${custom.find(({ id }) => id === counter)?.unit ?? ''}`.trimEnd();
}
