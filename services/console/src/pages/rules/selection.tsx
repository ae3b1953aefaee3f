import { NOTIFIED_KINDS } from '@outrider/client';
import type { Edit } from '../../parts/forms/edit.ts';
import { NumberField } from '../../parts/forms/edit-form.tsx';
import { GeofencePicker, GroupPicker, VehiclePicker } from '../../parts/forms/picker.tsx';
import { SensorPicker } from '../../parts/forms/sensor-picker.tsx';
import { Failure } from '../../parts/message.tsx';
import { t } from '../../words/words.ts';
import { ALARMS, isLicenceRule, type RuleFields, toggled, unknownKinds, withKind } from './draft.ts';
import { DriverCondition, DriverPickers } from './drivers.tsx';
import { kindName } from './kind-name.ts';
import { listErrors } from './list-errors.ts';
import { ruleWords } from './words.ts';

/** Conditions on events: kinds, alarms, start or end; on vehicles; on geofences. */
export function Selection({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { vehicleIds, groupIds, geofenceIds, insideGeofenceIds, outsideGeofenceIds } = edit.draft.value;
  const orNull = (ids: readonly string[]) => (ids.length === 0 ? null : ids);
  if (isLicenceRule(edit.draft.value))
    return (
      <>
        <fieldset>
          <legend>{words.what}</legend>
          <Kinds edit={edit} />
          <NumberField
            edit={edit}
            name="licenceWarningDays"
            label={words.licenceWarning}
            hint={words.licenceWarningHint}
            step={1}
            min={0}
            max={365}
          />
        </fieldset>
        <fieldset>
          <legend>{words.whichDrivers}</legend>
          <DriverPickers edit={edit} />
        </fieldset>
      </>
    );
  return (
    <>
      <fieldset>
        <legend>{words.what}</legend>
        <Kinds edit={edit} />
        <Phases edit={edit} />
        <NumberField
          edit={edit}
          name="minDurationMinutes"
          label={words.minDuration}
          hint={words.minDurationHint}
          min={0}
          max={129_600}
        />
      </fieldset>
      <fieldset>
        <legend>{words.where}</legend>
        <VehiclePicker
          label={words.vehicles}
          chosen={vehicleIds ?? []}
          all={groupIds === null ? words.allVehicles : words.noGroups}
          onChange={(ids) => edit.set({ vehicleIds: orNull(ids) })}
          errors={listErrors(edit, 'vehicleIds', vehicleIds?.length ?? 0)}
        />
        <GroupPicker
          label={words.groups}
          chosen={groupIds ?? []}
          all={words.noGroups}
          onChange={(ids) => edit.set({ groupIds: orNull(ids) })}
          errors={listErrors(edit, 'groupIds', groupIds?.length ?? 0)}
        />
        <GeofencePicker
          label={words.geofences}
          chosen={geofenceIds ?? []}
          all={words.anyGeofence}
          onChange={(ids) => edit.set({ geofenceIds: orNull(ids) })}
          errors={listErrors(edit, 'geofenceIds', geofenceIds?.length ?? 0)}
        />
        <GeofencePicker
          label={words.insideGeofences}
          chosen={insideGeofenceIds ?? []}
          all={words.anyPlace}
          onChange={(ids) => edit.set({ insideGeofenceIds: orNull(ids) })}
          errors={listErrors(edit, 'insideGeofenceIds', insideGeofenceIds?.length ?? 0)}
        />
        <GeofencePicker
          label={words.outsideGeofences}
          chosen={outsideGeofenceIds ?? []}
          all={words.anyPlace}
          onChange={(ids) => edit.set({ outsideGeofenceIds: orNull(ids) })}
          errors={listErrors(edit, 'outsideGeofenceIds', outsideGeofenceIds?.length ?? 0)}
        />
        <DriverCondition edit={edit} />
      </fieldset>
    </>
  );
}

function Kinds({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { eventKinds } = edit.draft.value;
  const unknown = unknownKinds({ eventKinds });
  const all: readonly string[] = [...NOTIFIED_KINDS, ...unknown];
  const errors = listErrors(edit, 'eventKinds', eventKinds.length);
  return (
    <fieldset class="options" aria-invalid={errors.length > 0}>
      <legend>{words.kinds}</legend>
      {all.map((kind) => (
        <div key={kind}>
          <label class="check">
            <input
              type="checkbox"
              checked={eventKinds.includes(kind)}
              onChange={() => edit.set(withKind({ eventKinds }, kind))}
            />
            <span>
              {kindName(kind)} <small>{words.kindHints[kind]}</small>
            </span>
          </label>
          {kind === 'alarm' && eventKinds.includes('alarm') && <Alarms edit={edit} />}
          {kind === 'sensor-threshold' && eventKinds.includes(kind) && <Sensors edit={edit} />}
        </div>
      ))}
      {unknown.length > 0 && <Failure>{words.unknownKinds}</Failure>}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}

function Alarms({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { alarms } = edit.draft.value;
  const errors = listErrors(edit, 'alarms', alarms?.length ?? 0);
  const toggle = (alarm: string) => {
    const next = toggled(alarms ?? [], ALARMS, alarm);
    edit.set({ alarms: next.length === 0 ? null : next });
  };
  return (
    <fieldset class="options nested">
      <legend>{words.alarms}</legend>
      <label class="check">
        <input type="checkbox" checked={alarms === null} onChange={() => edit.set({ alarms: null })} />
        <span>{words.allAlarms}</span>
      </label>
      {ALARMS.map((alarm) => (
        <label key={alarm} class="check">
          <input type="checkbox" checked={alarms?.includes(alarm) ?? false} onChange={() => toggle(alarm)} />
          <span>
            {t().alerts.alarmNames[alarm]} <small>{words.alarmHints[alarm]}</small>
          </span>
        </label>
      ))}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}

function Sensors({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { sensors } = edit.draft.value;
  return (
    <div class="nested">
      <SensorPicker
        label={words.sensors}
        chosen={sensors ?? []}
        all={words.allSensors}
        onChange={(names) => edit.set({ sensors: names.length === 0 ? null : names })}
        errors={listErrors(edit, 'sensors', sensors?.length ?? 0)}
      />
    </div>
  );
}

function Phases({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { phases } = edit.draft.value;
  const errors = listErrors(edit, 'phases', phases.length);
  return (
    <fieldset class="options in-row">
      <legend>{words.notifyAt}</legend>
      {(['begin', 'end'] as const).map((phase) => (
        <label key={phase} class="check">
          <input
            type="checkbox"
            checked={phases.includes(phase)}
            onChange={() => edit.set({ phases: toggled(phases, ['begin', 'end'], phase) })}
          />
          <span>{words.phases[phase]}</span>
        </label>
      ))}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}
