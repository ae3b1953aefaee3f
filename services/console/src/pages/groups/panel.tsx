import { ApiError, NewVehicleGroupFields, type User, type Vehicle, type VehicleGroup } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { customPatch } from '../../custom-fields/attributes.ts';
import { CustomFields } from '../../custom-fields/custom-fields.tsx';
import { customFieldLabels } from '../../custom-fields/words.ts';
import { describeError } from '../../errors.ts';
import { fleet, loadGroups } from '../../fleet/store.ts';
import { IconButton } from '../../parts/buttons.tsx';
import { Edit, editStored, ifMatch } from '../../parts/forms/edit.ts';
import { ChoiceField, EditForm } from '../../parts/forms/edit-form.tsx';
import { Picker, type PickerItem } from '../../parts/forms/picker.tsx';
import { blankOf, PlainField } from '../../parts/forms/plain-field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { allPages } from '../../parts/lists/pages.ts';
import { placed, VirtualList } from '../../parts/lists/virtual-list.tsx';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { Panel } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';
import { VehicleIcon } from '../../parts/vehicle-icon.tsx';
import { protectionWords } from '../../protection/words.ts';
import { api, user } from '../../session.ts';
import { language } from '../../words/words.ts';
import { dealers } from '../vehicles/dealers.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { groupWords } from './words.ts';

interface Props {
  /** Null: a new group. */
  id: string | null;
  onClose: () => void;
  /** Called with the id of the group; null once it is deleted. */
  onSaved: (id: string | null) => void;
}

type Draft = Omit<VehicleGroup, 'id'>;
interface Opened {
  edit: Edit<Draft>;
  group: VehicleGroup | null;
}

const PATH = '/api/v1/vehicle-groups/{id}';
const ROW_REM = 2.75;
const MOST_FOUND = 100;

/** A group: its name, its owner, its vehicles, and the people with access to it. */
export function GroupPanel({ id, onClose, onSaved }: Props) {
  const added = useRef<string | null>(null);
  const wasDeleted = useRef(false);
  const opened = useReading<Opened>(
    (ending) =>
      open(id, ending, (group) => {
        added.current = group.id;
      }),
    [id],
  );
  const title = id === null ? groupWords().newGroup : (opened.value.value?.group?.name ?? '');
  return (
    <Panel
      kind="detail"
      label={title}
      onClose={onClose}
      head={
        <h2>
          <bdi>{title}</bdi>
        </h2>
      }
    >
      <Loaded of={opened} describe={readError}>
        {(group) => (
          <div class="body">
            <GroupForm
              {...group}
              onDeleted={() => (wasDeleted.current = true)}
              onDone={() => {
                void loadGroups();
                onSaved(wasDeleted.current ? null : id === null ? added.current : null);
              }}
            />
            {id !== null && <Members groupId={id} />}
            {id !== null && <People groupId={id} />}
          </div>
        )}
      </Loaded>
    </Panel>
  );
}

function readError(error: unknown): string {
  return error instanceof ApiError && error.status === 404 ? groupWords().gone : describeError(error);
}

async function open(id: string | null, signal: AbortSignal, onAdded: (group: VehicleGroup) => void): Promise<Opened> {
  const draftOf = ({ id: _, ...draft }: VehicleGroup): Draft => draft;
  if (id === null) {
    const save = async ({ name = '', dealerId, ...custom }: Partial<Draft>) =>
      onAdded(
        await api.post('/api/v1/vehicle-groups', {
          body: {
            ...{ name, ...custom },
            ...(user.peek()?.role === 'operator' && { dealerId: dealerId ?? null }),
          },
        }),
      );
    const value: Draft = { ...blankOf(NewVehicleGroupFields), dealerId: null, customAttributes: {} };
    return { edit: new Edit<Draft>({ value, etag: null, save }), group: null };
  }
  const path = { id };
  const { edit, entity: group } = await editStored<VehicleGroup, Draft>({
    read: (ending) => api.getTagged(PATH, { path, ...ending }),
    draftOf,
    save: (fields, tag, { customAttributes }) =>
      api.patch(PATH, { path, headers: ifMatch(tag), body: customPatch(customAttributes, fields) }),
    signal,
  });
  return { edit, group };
}

function GroupForm({ edit, group, onDone, onDeleted }: Opened & { onDone: () => void; onDeleted: () => void }) {
  const words = vehicleWords();
  const groups = groupWords();
  const run = async (etag: string | null) => {
    await api.delete(PATH, { path: { id: group?.id ?? '' }, headers: ifMatch(etag) });
    onDeleted();
  };
  const members = group === null ? 0 : fleet.vehicles.filter(({ groupIds }) => groupIds.includes(group.id)).length;
  const removal =
    group === null
      ? {}
      : { removal: { question: groups.deleteQuestion(group.name, members), run, done: groups.deleted } };
  return (
    <EditForm
      edit={edit}
      labels={{
        name: words.fields.name,
        dealerId: words.owner,
        retentionDays: protectionWords().retentionDays,
        ...customFieldLabels(),
      }}
      saved={groups.saved}
      onSaved={onDone}
      {...removal}
      actions={
        group !== null && (
          <a class="button" href={`/vehicles?group=${group.id}`}>
            <Icon name="list" /> {groups.showVehicles}
          </a>
        )
      }
    >
      <PlainField edit={edit} name="name" rule={NewVehicleGroupFields.name} label={words.fields.name} />
      {user.value?.role === 'operator' && dealers.value.length > 0 && (
        <ChoiceField
          edit={edit}
          name="dealerId"
          label={words.owner}
          options={[['', words.operatorsOwn], ...dealers.value.map(({ id, name }): [string, string] => [id, name])]}
        />
      )}
      <PlainField
        edit={edit}
        name="retentionDays"
        rule={NewVehicleGroupFields.retentionDays}
        label={protectionWords().retentionDays}
        hint={protectionWords().retentionHint}
      />
      <CustomFields edit={edit} />
    </EditForm>
  );
}

/** The vehicles of the group, kept current by the live API. */
function Members({ groupId }: { groupId: string }) {
  void fleet.version.value;
  const groups = groupWords();
  const isBusy = useSignal(false);
  const collator = new Intl.Collator(language.value, { numeric: true });
  const byName = (a: Vehicle, b: Vehicle) => collator.compare(a.name, b.name);
  const members = fleet.vehicles.filter(({ groupIds }) => groupIds.includes(groupId)).sort(byName);
  const others = fleet.vehicles.filter(({ groupIds }) => !groupIds.includes(groupId)).sort(byName);
  const change = async (body: { add?: string[]; remove?: string[] }, done: string) => {
    await working(isBusy, async () => {
      await api.patch('/api/v1/vehicle-groups/{id}/vehicles', { path: { id: groupId }, body });
      for (const id of [...(body.add ?? []), ...(body.remove ?? [])]) moved(id, groupId, body.add !== undefined);
      toast(done);
    });
  };
  return (
    <section class="members">
      <h3>{`${groups.vehicles} (${members.length})`}</h3>
      <Adder
        label={groups.addVehicles}
        items={others.map(({ id, name, plate }) => ({ id, name, hint: plate }))}
        isBusy={isBusy.value}
        onAdd={(ids) => change({ add: [...ids] }, groups.vehiclesAdded(ids.length))}
      />
      {members.length === 0 ? (
        <small>{groups.noVehicles}</small>
      ) : (
        <VirtualList
          label={groups.vehicles}
          count={members.length}
          rowRem={ROW_REM}
          row={(index) => {
            const { id, name, plate, icon, color } = members[index] as Vehicle;
            return (
              <li key={id} class="member" {...placed(index, members.length, ROW_REM)}>
                <VehicleIcon name={icon} color={color} />
                <a href={`/vehicles?vehicle=${id}`}>
                  <bdi>{name}</bdi>
                </a>
                <small>
                  <bdi>{plate ?? ''}</bdi>
                </small>
                <RemoveButton
                  name={name}
                  isBusy={isBusy.value}
                  onRemove={() => change({ remove: [id] }, groups.removed(name))}
                />
              </li>
            );
          }}
        />
      )}
    </section>
  );
}

/** Applies a change of membership at once, before the live API confirms it. */
function moved(id: string, groupId: string, isMember: boolean): void {
  const vehicle = fleet.vehicles[fleet.indexOf(id)];
  if (vehicle === undefined) return;
  const others = vehicle.groupIds.filter((one) => one !== groupId);
  fleet.put({ ...vehicle, groupIds: isMember ? [...others, groupId] : others });
}

/** Those who may see the vehicles of the group, as far as the caller may see them. */
function People({ groupId }: { groupId: string }) {
  const groups = groupWords();
  const people = useSignal<readonly User[] | null>(null);
  const found = useSignal<readonly User[]>([]);
  const isBusy = useSignal(false);
  const load = async () => {
    people.value = await allPages((cursor) =>
      api.get('/api/v1/vehicle-groups/{id}/users', { path: { id: groupId }, query: { limit: 1000, ...cursor } }),
    );
  };
  const search = async (text: string) => {
    const q = text.trim();
    const query = { limit: MOST_FOUND, sort: 'name', ...(q === '' ? {} : { q }) } as const;
    found.value = (await api.get('/api/v1/users', { query })).items;
  };
  useEffect(() => {
    void working(isBusy, async () => {
      await Promise.all([load(), search('')]);
    });
  }, [groupId]);
  const change = (body: { add?: string[]; remove?: string[] }, done: string) =>
    working(isBusy, async () => {
      await api.patch('/api/v1/vehicle-groups/{id}/users', { path: { id: groupId }, body });
      await load();
      toast(done);
    });
  if (people.value === null) return null;
  const has = new Set(people.value.map(({ id }) => id));
  return (
    <section class="members">
      <h3>{`${groups.people} (${people.value.length})`}</h3>
      <Adder
        label={groups.addPeople}
        items={found.value
          .filter(({ id, role }) => role === 'user' && !has.has(id))
          .map(({ id, name, login }) => ({ id, name, hint: login }))}
        isBusy={isBusy.value}
        onSearch={(text) => void search(text).catch(() => {})}
        onAdd={(ids) => change({ add: [...ids] }, groups.peopleAdded(ids.length))}
      />
      {people.value.length === 0 && <small>{groups.noPeople}</small>}
      <ul>
        {people.value.map(({ id, name, login }) => (
          <li key={id} class="member">
            <Icon name="user" />
            <span>
              <bdi>{name}</bdi>
            </span>
            <small>
              <bdi>{login}</bdi>
            </small>
            <RemoveButton
              name={name}
              isBusy={isBusy.value}
              onRemove={() => change({ remove: [id] }, groups.removed(name))}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

async function working(isBusy: Signal<boolean>, work: () => Promise<void>): Promise<void> {
  isBusy.value = true;
  try {
    await work();
  } catch (error) {
    toast(describeError(error), 'error');
  } finally {
    isBusy.value = false;
  }
}

interface AdderProps {
  label: string;
  items: readonly PickerItem[];
  isBusy: boolean;
  onSearch?: (text: string) => void;
  onAdd: (ids: readonly string[]) => Promise<void>;
}

function Adder({ onAdd, isBusy, ...picker }: AdderProps) {
  const chosen = useSignal<readonly string[]>([]);
  const add = () => void onAdd(chosen.value).then(() => (chosen.value = []));
  return (
    <div class="adder">
      <Picker {...picker} chosen={chosen.value} onChange={(ids) => (chosen.value = ids)} />
      <button type="button" disabled={isBusy || chosen.value.length === 0} onClick={add}>
        <Icon name="plus" /> {groupWords().add}
      </button>
    </div>
  );
}

function RemoveButton({ name, isBusy, onRemove }: { name: string; isBusy: boolean; onRemove: () => void }) {
  const label = groupWords().remove(name);
  return <IconButton icon="close" label={label} title={label} disabled={isBusy} onClick={onRemove} />;
}
