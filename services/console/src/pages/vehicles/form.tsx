import { ApiError, NewVehicleFields, type Vehicle } from '@outrider/client';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { CustomFields } from '../../custom-fields/custom-fields.tsx';
import { customFieldLabels } from '../../custom-fields/words.ts';
import { describeError } from '../../errors.ts';
import { fleet, groups } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Edit, editStored, ifMatch } from '../../parts/forms/edit.ts';
import { ChoiceField, EditForm, TextField } from '../../parts/forms/edit-form.tsx';
import { GroupPicker } from '../../parts/forms/picker.tsx';
import { PlainField } from '../../parts/forms/plain-field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { lazy } from '../../parts/loading/lazy.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { Panel } from '../../parts/panel.tsx';
import type { VehicleIconName } from '../../parts/vehicle-icon.tsx';
import { protectionWords } from '../../protection/words.ts';
import { keepsAccounts } from '../../rights.ts';
import { route, setQuery } from '../../router.ts';
import { api, user } from '../../session.ts';
import { joined } from '../../words/words.ts';
import { words as sensorWords } from '../sensors/words.ts';
import { ColorField, IconField } from './appearance.tsx';
import { dealers } from './dealers.ts';
import { DeviceModelField } from './device-model.tsx';
import { bodyOf, draftOf, newDraft, POINTERS, type VehicleDraft } from './draft.ts';
import { MoveButton, mayMove } from './move.tsx';
import {
  DRIVING_FIELDS,
  FUEL_FIELDS,
  MOTION_FIELDS,
  type NumberName,
  plainProps,
  SPEED_FIELDS,
} from './plain-fields.ts';
import { boundProtocols, protocolTitle, terminalProtocols } from './protocols.ts';
import { Suspension } from './suspension.tsx';
import { VideoDialog } from './video-dialog.tsx';
import { vehicleWords } from './words.ts';

const EraseDialog = lazy(async () => (await import('../../protection/erase-dialog.tsx')).EraseDialog);
const SensorsDialog = lazy(async () => (await import('../sensors/sensors-dialog.tsx')).SensorsDialog);

const PATH = '/api/v1/vehicles/{id}';

interface Props {
  /** Null: a new vehicle. */
  id: string | null;
  onClose: () => void;
  /** Called with the id of a new vehicle. */
  onSaved: (id: string | null) => void;
}

interface Opened {
  edit: Edit<VehicleDraft>;
  vehicle: Vehicle | null;
}

/** Form with all settings of a vehicle. */
export function VehicleForm({ id, onClose, onSaved }: Props) {
  const saved = useRef<string | null>(null);
  const opened = useReading<Opened>(
    (ending) =>
      open(id, ending, (vehicle) => {
        saved.current = vehicle.id;
        // A new vehicle arrives by the live API, which then also sends its positions.
        if (id !== null) fleet.put(vehicle);
      }),
    [id],
  );
  const title = id === null ? vehicleWords().newVehicle : (opened.value.value?.vehicle?.name ?? '');
  return (
    <Panel
      kind="detail"
      label={title}
      onClose={onClose}
      head={
        <>
          <h2>
            <bdi>{title}</bdi>
          </h2>
          {id !== null && fleet.indexOf(id) >= 0 && (
            <a class="button" href={`/?vehicle=${id}`}>
              <Icon name="map" /> {vehicleWords().showOnMap}
            </a>
          )}
        </>
      }
    >
      <Loaded of={opened} describe={readError}>
        {(vehicle) => (
          <Fields
            {...vehicle}
            onDone={() => onSaved(id === null ? saved.current : null)}
            onSuspended={() => onSaved(id)}
          />
        )}
      </Loaded>
    </Panel>
  );
}

function readError(error: unknown): string {
  return error instanceof ApiError && error.status === 404 ? vehicleWords().gone : describeError(error);
}

/** @param onSaved called with each version that was saved */
async function open(id: string | null, signal: AbortSignal, onSaved: (vehicle: Vehicle) => void): Promise<Opened> {
  if (id === null) {
    const save = async (fields: Partial<VehicleDraft>) =>
      onSaved(await api.post('/api/v1/vehicles', { body: bodyOf(fields) }));
    return { edit: new Edit({ value: newDraft(), etag: null, save }), vehicle: null };
  }
  const path = { id };
  const { edit, entity: vehicle } = await editStored<Vehicle, VehicleDraft>({
    read: (ending) => api.getTagged(PATH, { path, ...ending }),
    draftOf,
    async save(fields, tag, { customAttributes }) {
      const body = bodyOf(fields, customAttributes);
      onSaved(await api.patch(PATH, { path, headers: ifMatch(tag), body }));
    },
    signal,
  });
  return { edit, vehicle };
}

interface FieldsProps extends Opened {
  onDone: () => void;
  /** Called after the vehicle was suspended, resumed or moved. */
  onSuspended: () => void;
}

function Fields({ edit, vehicle, onDone, onSuspended }: FieldsProps) {
  const vehicles = vehicleWords();
  const { name } = edit.draft.value;
  const isKeeper = Boolean(user.value && keepsAccounts(user.value));
  const removal =
    vehicle === null || !isKeeper
      ? {}
      : {
          removal: {
            question: vehicles.deleteQuestion(vehicle.name),
            done: vehicles.deleted,
            run: (etag: string | null) =>
              api.delete(PATH, {
                path: { id: vehicle.id },
                headers: ifMatch(etag),
              }),
          },
        };
  return (
    <>
      <EditForm
        edit={edit}
        labels={labels()}
        describe={describeValue}
        saved={vehicles.saved}
        onSaved={onDone}
        {...removal}
        actions={vehicle !== null && <MoreButtons />}
      >
        {vehicle?.historyFrom && <p>{vehicles.move.historyFrom(formats().dateTime(vehicle.historyFrom))}</p>}
        <Basics edit={edit} />
        <Terminal edit={edit} hasSecret={vehicle?.terminalAccess.hasSecret ?? false} />
        <Numbers edit={edit} title={vehicles.sections.speed} names={SPEED_FIELDS} />
        <Numbers edit={edit} title={vehicles.sections.motion} names={MOTION_FIELDS} />
        <Numbers edit={edit} title={vehicles.sections.driving} names={DRIVING_FIELDS} />
        <Numbers edit={edit} title={vehicles.sections.fuel} names={FUEL_FIELDS}>
          {vehicle !== null && <LevelSource vehicle={vehicle} />}
        </Numbers>
        <CustomFields edit={edit} />
      </EditForm>
      {vehicle !== null && isKeeper && (
        <div class="body actions">
          <Suspension
            vehicle={vehicle}
            onChange={(changed) => {
              fleet.put(changed);
              onSuspended();
            }}
          />
          <MoveButton ids={[vehicle.id]} onDone={onSuspended} />
        </div>
      )}
      {vehicle !== null && route.value.query.get('video') === '1' && (
        <VideoDialog vehicle={vehicle} title={name} onClose={() => setQuery({ video: null })} />
      )}
      {vehicle !== null && route.value.query.get('erase') === '1' && (
        <EraseDialog vehicle={vehicle} onClose={() => setQuery({ erase: null })} />
      )}
      {vehicle !== null && route.value.query.get('sensors') === '1' && (
        <SensorsDialog vehicleId={vehicle.id} onClose={() => setQuery({ sensors: null, sensor: null })} />
      )}
    </>
  );
}

function MoreButtons() {
  return (
    <>
      <button type="button" onClick={() => setQuery({ sensors: '1' })}>
        <Icon name="gauge" /> {sensorWords().sensors}
      </button>
      <button type="button" onClick={() => setQuery({ video: '1' })}>
        <Icon name="video" /> {vehicleWords().video}
      </button>
      <button type="button" onClick={() => setQuery({ erase: '1' })}>
        <Icon name="trash" /> {protectionWords().erase}
      </button>
    </>
  );
}

/** Sensors that measure the tank. They come from the live definitions, which reflect changes in the sensor form. */
function LevelSource({ vehicle }: { vehicle: Vehicle }) {
  void fleet.version.value;
  const { sensors } = fleet.vehicles[fleet.indexOf(vehicle.id)] ?? vehicle;
  const levels = sensors.filter(({ kind }) => kind === 'fuel-level').map(({ name }) => name);
  const text = sensorWords();
  return <small>{levels.length === 0 ? text.levelByTerminal : text.levelBy(joined(levels, ', '))}</small>;
}

interface Part {
  edit: Edit<VehicleDraft>;
}

function Basics({ edit }: Part) {
  const vehicles = vehicleWords();
  const { color, icon, groupIds } = edit.draft.value;
  return (
    <fieldset>
      <legend>{vehicles.sections.basics}</legend>
      <PlainField edit={edit} {...plainProps('name')} />
      <div class="pair">
        <PlainField edit={edit} {...plainProps('plate')} />
        <PlainField edit={edit} {...plainProps('vin')} />
      </div>
      <IconField
        value={icon}
        color={color}
        errors={edit.at('/icon')}
        onChange={(chosen) => edit.set({ icon: chosen })}
      />
      <ColorField value={color} errors={edit.at('/color')} onChange={(chosen) => edit.set({ color: chosen })} />
      {user.value && keepsAccounts(user.value) && (
        <GroupPicker
          label={vehicles.groups}
          chosen={groupIds}
          errors={edit.at('/groupIds')}
          onChange={(chosen) => edit.set({ groupIds: [...chosen] })}
        />
      )}
      {edit.isNew && mayMove() && (
        <ChoiceField
          edit={edit}
          name="dealerId"
          label={vehicles.owner}
          options={[['', vehicles.operatorsOwn], ...dealers.value.map(({ id, name }): [string, string] => [id, name])]}
        />
      )}
    </fieldset>
  );
}

function Terminal({ edit, hasSecret }: Part & { hasSecret: boolean }) {
  const vehicles = vehicleWords();
  const { protocol, secret, deviceModel, speedUnit } = edit.draft.value;
  const known = terminalProtocols.value?.items.find(({ name }) => name === protocol);
  const mayHaveSecret = known === undefined || known.authentication !== null;
  return (
    <fieldset>
      <legend>{vehicles.sections.terminal}</legend>
      <PlainField edit={edit} {...plainProps('terminalId')} />
      <ChoiceField
        edit={edit}
        name="protocol"
        label={vehicles.protocol}
        pointer={POINTERS.protocol}
        options={boundProtocols()}
      />
      <DeviceModelField
        value={deviceModel}
        protocol={protocol}
        errors={edit.at('/deviceModel')}
        onChange={(model) => edit.set({ deviceModel: model })}
      />
      {(protocol === 'osmand' || protocol === 'learn' || speedUnit !== null) && (
        <ChoiceField
          edit={edit}
          name="speedUnit"
          label={vehicles.fields.speedUnit}
          options={[
            ['', vehicles.modelNotSaid],
            ...(NewVehicleFields.speedUnit.values ?? []).map((unit) => [unit, unit] as const),
          ]}
        />
      )}
      {(mayHaveSecret || hasSecret) && (
        <TextField
          edit={edit}
          name="secret"
          type="password"
          autocomplete="new-password"
          label={vehicles.secret}
          pointer={POINTERS.secret}
          disabled={secret === null}
          hint={hasSecret ? vehicles.secretSet : vehicles.secretHint}
        />
      )}
      {hasSecret && (
        <label class="check">
          <input
            type="checkbox"
            checked={secret === null}
            onChange={(event) => edit.set({ secret: event.currentTarget.checked ? null : '' })}
          />
          <span>{vehicles.forgetSecret}</span>
        </label>
      )}
      <TextField
        edit={edit}
        name="networks"
        label={vehicles.networks}
        pointer={POINTERS.networks}
        hint={vehicles.networksHint}
      />
      <NetworkErrors edit={edit} />
      <TextField
        edit={edit}
        name="certificateSha256"
        isNullable
        label={vehicles.certificate}
        pointer={POINTERS.certificateSha256}
        hint={vehicles.certificateHint}
      />
    </fieldset>
  );
}

/** Errors of each single network. */
function NetworkErrors({ edit }: Part) {
  const count = edit.draft.value.networks.split(/[\s,;]+/).length;
  const errors = Array.from({ length: count }, (_, nth) => edit.at(`${POINTERS.networks}/${nth}`)).flat();
  return errors.length === 0 ? null : <p class="error">{[...new Set(errors)].join('; ')}</p>;
}

interface NumbersProps extends Part {
  title: string;
  names: readonly NumberName[];
  children?: ComponentChildren;
}

function Numbers({ edit, title, names, children }: NumbersProps) {
  return (
    <details>
      <summary>{title}</summary>
      {names.map((name) => (
        <PlainField key={name} edit={edit} {...plainProps(name)} />
      ))}
      {children}
    </details>
  );
}

function labels(): Record<keyof VehicleDraft, string> {
  const vehicles = vehicleWords();
  const { protocol, secret, networks, certificate, owner, groups: inGroups, fields } = vehicles;
  return {
    ...fields,
    ...customFieldLabels(),
    protocol,
    secret,
    networks,
    certificateSha256: certificate,
    dealerId: owner,
    groupIds: inGroups,
  };
}

/** Readable text of a value, for the comparison of both versions. */
function describeValue(name: keyof VehicleDraft, value: unknown): string | undefined {
  const vehicles = vehicleWords();
  if (name === 'groupIds')
    return joined(
      (value as string[]).map((id) => groups.value.find((group) => group.id === id)?.name ?? id),
      ', ',
    );
  if (name === 'dealerId')
    return value === null ? vehicles.operatorsOwn : dealers.value.find(({ id }) => id === value)?.name;
  if (name === 'protocol') return protocolTitle(value as string);
  if (name === 'icon' && value !== null) return vehicles.icons[value as VehicleIconName];
  if (name === 'color' && value !== null) return (vehicles.colors as Record<string, string>)[value as string];
  if (name === 'secret') return value === null ? vehicles.forgetSecret : '••••';
  return undefined;
}
