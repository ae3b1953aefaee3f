import { type Driver, NewDriverFields } from '@outrider/client';
import { useRef } from 'preact/hooks';
import { type CustomDraft, customPatch } from '../../custom-fields/attributes.ts';
import { CustomFields } from '../../custom-fields/custom-fields.tsx';
import { customFieldLabels } from '../../custom-fields/words.ts';
import { driverWords } from '../../drivers/words.ts';
import { groups } from '../../fleet/store.ts';
import { formats } from '../../format.ts';
import { Edit, editStored, ifMatch } from '../../parts/forms/edit.ts';
import { ChoiceField, EditForm } from '../../parts/forms/edit-form.tsx';
import { GroupPicker } from '../../parts/forms/picker.tsx';
import { blankOf, PlainField } from '../../parts/forms/plain-field.tsx';
import { useTyped } from '../../parts/forms/typed.ts';
import { Loaded, useReading } from '../../parts/loading/reading.tsx';
import { ExportData } from '../../protection/export-data.tsx';
import { keepsAccounts } from '../../rights.ts';
import { api, user } from '../../session.ts';
import { joined } from '../../words/words.ts';
import { dealers } from '../vehicles/dealers.ts';
import { vehicleWords } from '../vehicles/words.ts';
import { codesIn } from './list.ts';

interface Props {
  /** Null: a new driver. */
  id: string | null;
  /** Initial code of a new driver. */
  code: string | null;
  /** Called with the id of the driver; null after the deletion. */
  onSaved: (id: string | null) => void;
}

type Draft = Omit<Driver, 'id' | 'licence' | 'codes' | 'groupIds' | keyof CustomDraft> &
  CustomDraft & {
    codes: readonly string[];
    groupIds: readonly string[];
  };
interface Opened {
  edit: Edit<Draft>;
  driver: Driver | null;
}

const PATH = '/api/v1/drivers/{id}';
const CODES_AT_ONCE = 4;

/** Form with a driver's settings. It is read-only without the right to change them. */
export function DriverForm({ id, code, onSaved }: Props) {
  const saved = useRef<string | null>(id);
  const wasDeleted = useRef(false);
  const opened = useReading<Opened>(
    (ending) =>
      open(id, code, ending, (driver) => {
        saved.current = driver.id;
      }),
    [id, code],
  );
  return (
    <Loaded of={opened}>
      {({ edit, driver }) =>
        driver !== null && !(user.value && keepsAccounts(user.value)) ? (
          <Facts driver={driver} />
        ) : (
          <>
            <Fields
              edit={edit}
              driver={driver}
              onDeleted={() => (wasDeleted.current = true)}
              onDone={() => onSaved(wasDeleted.current ? null : saved.current)}
            />
            {driver !== null && <ExportData person="driver" id={driver.id} />}
          </>
        )
      }
    </Loaded>
  );
}

function draftOf({ id: _, licence: __, ...draft }: Driver): Draft {
  return draft;
}

async function open(
  id: string | null,
  code: string | null,
  signal: AbortSignal,
  onSaved: (driver: Driver) => void,
): Promise<Opened> {
  if (id === null) {
    const lists = { codes: code === null ? [] : [code], groupIds: [], customAttributes: {} };
    const value: Draft = { ...blankOf(NewDriverFields), dealerId: null, ...lists };
    const save = async ({ dealerId = null, ...fields }: Partial<Draft>) => {
      const owner = user.peek()?.role === 'operator' ? { dealerId } : {};
      const { codes = [], groupIds = [], name = '' } = fields;
      const body = { ...fields, ...owner, name, codes: [...codes], groupIds: [...groupIds] };
      onSaved(await api.post('/api/v1/drivers', { body }));
    };
    return { edit: new Edit<Draft>({ value, etag: null, save }), driver: null };
  }
  const path = { id };
  const { edit, entity: driver } = await editStored<Driver, Draft>({
    read: (ending) => api.getTagged(PATH, { path, ...ending }),
    draftOf,
    async save({ dealerId: _, codes, groupIds, ...changed }, tag, { customAttributes }) {
      const fields = customPatch(customAttributes, changed);
      const lists = { ...(codes && { codes: [...codes] }), ...(groupIds && { groupIds: [...groupIds] }) };
      onSaved(await api.patch(PATH, { path, headers: ifMatch(tag), body: { ...fields, ...lists } }));
    },
    signal,
  });
  return { edit, driver };
}

function Fields({ edit, driver, onDone, onDeleted }: Opened & { onDone: () => void; onDeleted: () => void }) {
  const words = driverWords();
  const vehiclePages = vehicleWords();
  const { fields } = words;
  const { codes, groupIds } = edit.draft.value;
  const plain = (name: 'name' | 'phone' | 'licenceNumber' | 'licenceExpiresOn') => (
    <PlainField edit={edit} name={name} rule={NewDriverFields[name]} label={fields[name]} />
  );
  const run = async (etag: string | null) => {
    await api.delete(PATH, { path: { id: driver?.id ?? '' }, headers: ifMatch(etag) });
    onDeleted();
  };
  const removal =
    driver === null ? {} : { removal: { question: words.deleteQuestion(driver.name), run, done: words.deleted } };
  return (
    <EditForm
      edit={edit}
      labels={{ ...fields, ...customFieldLabels() }}
      describe={describeValue}
      saved={words.saved}
      onSaved={onDone}
      {...removal}
    >
      {plain('name')}
      {plain('phone')}
      <CodesField codes={codes} errors={codeErrors(edit)} onChange={(chosen) => edit.set({ codes: chosen })} />
      <div class="pair">
        {plain('licenceNumber')}
        {plain('licenceExpiresOn')}
      </div>
      {groups.value.length > 0 && (
        <div class="field">
          <GroupPicker
            label={fields.groupIds}
            chosen={groupIds}
            errors={edit.at('/groupIds')}
            onChange={(chosen) => edit.set({ groupIds: [...chosen] })}
          />
          <small>{words.groupsHint}</small>
        </div>
      )}
      {user.value?.role === 'operator' && dealers.value.length > 0 && edit.isNew && (
        <ChoiceField
          edit={edit}
          name="dealerId"
          label={fields.dealerId}
          options={[
            ['', vehiclePages.operatorsOwn],
            ...dealers.value.map(({ id, name }): [string, string] => [id, name]),
          ]}
        />
      )}
      <CustomFields edit={edit} />
    </EditForm>
  );
}

/** Errors of all codes are shown at their common field. */
function codeErrors(edit: Edit<Draft>): string[] {
  return ['/codes', ...edit.draft.value.codes.map((_, nth) => `/codes/${nth}`)].flatMap((pointer) => edit.at(pointer));
}

/** Field with one code per line. The text stays as typed until the field loses the focus. */
function CodesField({
  codes,
  errors,
  onChange,
}: {
  codes: readonly string[];
  errors: readonly string[];
  onChange: (codes: readonly string[]) => void;
}) {
  const { fields, codesHint } = driverWords();
  const typed = useTyped(codes.join('\n'), (text) => onChange(codesIn(text)));
  return (
    <div class="field">
      <label for="driver-codes">{fields.codes}</label>
      <textarea
        id="driver-codes"
        name="codes"
        rows={Math.min(CODES_AT_ONCE, Math.max(2, codes.length + 1))}
        spellcheck={false}
        autocapitalize="characters"
        aria-invalid={errors.length > 0}
        aria-describedby="driver-codes-hint"
        {...typed}
      />
      <small id="driver-codes-hint">{codesHint}</small>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </div>
  );
}

function describeValue(name: string, value: unknown): string | undefined {
  if (name === 'codes' && Array.isArray(value)) return value.join(', ') || '–';
  if (name !== 'groupIds' || !Array.isArray(value)) return undefined;
  return (
    joined(
      value.map((id) => groups.value.find((group) => group.id === id)?.name),
      ', ',
    ) || '–'
  );
}

function Facts({ driver }: { driver: Driver }) {
  const { fields } = driverWords();
  const { licenceExpiresOn } = driver;
  const facts: [string, string | null][] = [
    [fields.phone, driver.phone],
    [fields.codes, driver.codes.join(', ')],
    [fields.licenceNumber, driver.licenceNumber],
    [fields.licenceExpiresOn, licenceExpiresOn === null ? null : formats().calendarDate(licenceExpiresOn)],
  ];
  return (
    <dl class="facts body">
      {facts.map(([label, value]) => (
        <>
          <dt key={`${label} term`}>{label}</dt>
          <dd key={label}>
            <bdi>{value || '–'}</bdi>
          </dd>
        </>
      ))}
    </dl>
  );
}
