import { useEffect } from 'preact/hooks';
import { drivers, loadDrivers } from '../../drivers/drivers.ts';
import type { Edit } from '../../parts/forms/edit.ts';
import { Choice } from '../../parts/forms/field.tsx';
import { GroupPicker, Picker } from '../../parts/forms/picker.tsx';
import type { RuleFields } from './draft.ts';
import { listErrors } from './list-errors.ts';
import { ruleWords } from './words.ts';

/** Condition on the driver: anybody, any known driver, no known driver, or one of several. */
export function DriverCondition({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { driver } = edit.draft.value;
  const errors = edit.at('/driver');
  const choose = (chosen: string) => {
    if (chosen === 'unknown') edit.set({ driver: 'unknown', driverIds: null, driverGroupIds: null });
    else edit.set({ driver: chosen === 'known' ? 'known' : null });
  };
  return (
    <>
      <Choice label={words.driver} value={driver ?? 'any'} onChange={choose}>
        {(['any', 'known', 'unknown'] as const).map((each) => (
          <option key={each} value={each} selected={each === (driver ?? 'any')}>
            {words.driverConditions[each]}
          </option>
        ))}
      </Choice>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
      {driver !== 'unknown' && <DriverPickers edit={edit} />}
    </>
  );
}

/** Chooses drivers, or groups of drivers; neither: anybody. */
export function DriverPickers({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { driverIds, driverGroupIds } = edit.draft.value;
  useEffect(() => void loadDrivers(), []);
  const orNull = (ids: readonly string[]) => (ids.length === 0 ? null : ids);
  return (
    <>
      <Picker
        label={words.drivers}
        items={drivers.value ?? []}
        chosen={driverIds ?? []}
        all={driverGroupIds === null ? words.anyDriver : words.noGroups}
        onChange={(ids) => edit.set({ driverIds: orNull(ids) })}
        errors={listErrors(edit, 'driverIds', driverIds?.length ?? 0)}
      />
      <GroupPicker
        label={words.driverGroups}
        chosen={driverGroupIds ?? []}
        all={words.noGroups}
        onChange={(ids) => edit.set({ driverGroupIds: orNull(ids) })}
        errors={listErrors(edit, 'driverGroupIds', driverGroupIds?.length ?? 0)}
      />
    </>
  );
}
