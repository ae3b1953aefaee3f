import { VehiclePicker } from '../../parts/forms/picker.tsx';
import { TimeRangeField } from '../../parts/forms/time-range-field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { preferences } from '../../preferences.ts';
import { navigate, route, setQuery } from '../../router.ts';
import { queryOfRange, type TimeRange } from '../../time-range.ts';
import { nextRange } from '../../track/range.ts';
import { t } from '../../words/words.ts';
import { MOST_VEHICLES } from './choice.ts';
import { nameOf } from './names.ts';
import { trackWords } from './words.ts';

const PRESETS = ['today', 'yesterday', 'last7days', 'thisWeek', 'lastWeek', 'thisMonth', 'lastMonth'] as const;

/** Chooses the vehicles and the time range. */
export function Filters({ vehicleIds, range }: { vehicleIds: readonly string[]; range: TimeRange }) {
  const { timeZone } = preferences.value;
  // A new time range invalidates the chosen second and mark.
  const set = (next: TimeRange) => setQuery({ ...queryOfRange(next), t: null, mark: null }, { replace: false });
  return (
    <div class="filters">
      <VehiclePicker label={t().trackOf} chosen={vehicleIds} onChange={setVehicles} />
      {vehicleIds.length > 1 && (
        <ul class="chosen" aria-label={t().vehicles}>
          {vehicleIds.map((id, number) => (
            <li key={id} class={`named vehicle${number}`}>
              <span>
                <bdi>{nameOf(id)}</bdi>
              </span>
              <button
                type="button"
                class="icon"
                aria-label={trackWords().remove(nameOf(id))}
                onClick={() => setVehicles(vehicleIds.filter((other) => other !== id))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
      <div class="row interval">
        <button
          type="button"
          class="icon"
          aria-label={trackWords().earlier}
          onClick={() => set(nextRange(range, -1, timeZone))}
        >
          <span class="flip">
            <Icon name="back" />
          </span>
        </button>
        <TimeRangeField range={range} onChange={set} presets={PRESETS} />
        <button
          type="button"
          class="icon"
          aria-label={trackWords().later}
          disabled={range.toMs > Date.now()}
          onClick={() => set(nextRange(range, 1, timeZone))}
        >
          <span class="flip">
            <Icon name="forward" />
          </span>
        </button>
      </div>
    </div>
  );
}

/** Changes the vehicles and keeps the time range. */
function setVehicles(vehicleIds: readonly string[]): void {
  if (vehicleIds.length > MOST_VEHICLES) toast(trackWords().mostVehicles(MOST_VEHICLES), 'error');
  const next = new URLSearchParams(route.peek().query);
  for (const name of ['vehicle', 'mark']) next.delete(name);
  const vehicles = new URLSearchParams(vehicleIds.slice(0, MOST_VEHICLES).map((id) => ['vehicle', id]));
  navigate(`/track?${[vehicles, next].map(String).filter(Boolean).join('&').replaceAll('%3A', ':')}`);
}
