import { ApiError, type NewGeozone } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { useId, useRef } from 'preact/hooks';
import { CustomFieldInputs } from '../../custom-fields/custom-fields.tsx';
import { describeError } from '../../errors.ts';
import { geofences, loadGeofences } from '../../fleet/store.ts';
import { CancelButton, SubmitButton } from '../../parts/buttons.tsx';
import { Field } from '../../parts/forms/field.tsx';
import { GroupPicker } from '../../parts/forms/picker.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Failure } from '../../parts/message.tsx';
import { Panel } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';
import { api, user } from '../../session.ts';
import { language, t } from '../../words/words.ts';
import { bodyOf, coordinatesText, type Draft, draftOf, geometryOfText, shapeOf } from './draft.ts';
import { InsideNow, WhatHappened } from './what-happened.tsx';
import { categoriesOf, mayChange } from './whose.ts';
import { geofenceWords } from './words.ts';

interface Props {
  draft: Signal<Draft | null>;
  onClose: () => void;
  /** Loads the geofence again and discards the user's changes. */
  onReload: () => void;
  /** The shape was changed by typing: the map must be updated. */
  onShape: () => void;
  /** Undoes the last change of the shape; null before the first. */
  onUndo: (() => void) | null;
  /** Cancels a half-drawn shape, which Escape does first; false if none exists. */
  onEscape: () => boolean;
  onDeleted: (body: NewGeozone) => void;
}

const NEW_COLOR = '#7a3fb0';
const DRAW = { polygon: 'drawPolygon', multipolygon: 'drawPolygon', circle: 'drawCircle' } as const;

const FIELDS = ['name', 'radiusM', 'widthM', 'speedLimitKmh', 'minDwellSeconds', 'category'] as const;
const MORE_FIELDS = ['description', 'externalId', 'customAttributes'] as const;
type FieldName = (typeof FIELDS)[number] | (typeof MORE_FIELDS)[number];

/** Form with the name and the settings of a geofence. A concurrent change by another user is shown, not overwritten. */
export function GeofenceForm({ draft, onClose, onReload, onShape, onUndo, onEscape, onDeleted }: Props) {
  const error = useSignal<unknown>(null);
  const isAsking = useSignal(false);
  const theirs = useSignal<{ draft: Draft; etag: string | null } | null>(null);
  const value = draft.value;
  /** The draft when it was opened or last loaded. */
  const opened = useRef(value);
  if (opened.current?.etag !== value?.etag) opened.current = value;
  if (value === null) return null;
  const { id, etag, geometry } = value;
  const headers = etag === null ? {} : { 'If-Match': etag };
  const { ownerId, sharedWithOrganisation, sharedGroupIds } = value;
  const isReadOnly =
    ownerId !== null &&
    !mayChange({ ownerId, sharedWithOrganisation, sharedGroupIds: [...sharedGroupIds] }, user.value);

  const run = async (work: () => Promise<unknown>, done: string) => {
    try {
      await work();
      error.value = null;
      await loadGeofences();
      toast(done);
      onClose();
    } catch (reason) {
      error.value = reason;
      if (id === null || !(reason instanceof ApiError) || reason.status !== 412) return;
      const latest = await api.getTagged('/api/v1/geozones/{id}', { path: { id } }).catch(() => null);
      theirs.value = latest && { draft: draftOf(latest.body, latest.etag), etag: latest.etag };
    }
  };
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    const body = bodyOf(value);
    if (body === null) return;
    void run(
      () =>
        id === null
          ? api.post('/api/v1/geozones', { body })
          : api.patch('/api/v1/geozones/{id}', { path: { id }, headers, body }),
      t().geofenceSaved,
    );
  };
  const remove = () =>
    run(async () => {
      await api.delete('/api/v1/geozones/{id}', { path: { id: id ?? '' }, headers });
      const body = bodyOf(value);
      if (body !== null) onDeleted(body);
    }, t().geofenceDeleted);
  const reload = () => {
    error.value = null;
    theirs.value = null;
    onReload();
  };
  const keepMine = () => {
    draft.value = { ...value, etag: theirs.value?.etag ?? null };
    error.value = null;
    theirs.value = null;
  };

  const at = (name: FieldName) => (error.value instanceof ApiError ? error.value.at(`/properties/${name}`) : []);
  const isStale = error.value instanceof ApiError && error.value.status === 412;
  const isOfAField = [...FIELDS, ...MORE_FIELDS].some((name) => at(name).length > 0);
  return (
    <Panel
      kind="panel"
      label={t().geofence}
      onClose={onClose}
      isChanged={value !== opened.current}
      onEscape={onEscape}
      head={
        <h2>
          <bdi>{id === null ? t().newGeofence : value.name}</bdi>
        </h2>
      }
    >
      <form class="body" onSubmit={save}>
        {isReadOnly && <p role="status">{geofenceWords().readOnly}</p>}
        <fieldset class="plain" disabled={isReadOnly}>
          <Fields draft={draft} at={at} onShape={onShape} onUndo={onUndo} />
        </fieldset>
        {isStale ? (
          <Conflict mine={value} theirs={theirs.value?.draft ?? null} onReload={reload} onKeep={keepMine} />
        ) : (
          error.value !== null && !isOfAField && <Failure>{describeError(error.value)}</Failure>
        )}
        {!isReadOnly && (
          <div class="actions">
            <SubmitButton disabled={geometry === null}>{t().save}</SubmitButton>
            {id !== null && !isAsking.value && (
              <button type="button" onClick={() => (isAsking.value = true)}>
                <Icon name="trash" /> {t().delete}
              </button>
            )}
          </div>
        )}
        {isAsking.value && <Deletion name={value.name} onDelete={remove} onCancel={() => (isAsking.value = false)} />}
        {id !== null && <InsideNow geofenceId={id} />}
        <WhatHappened draft={value} />
      </form>
    </Panel>
  );
}

interface FieldsProps extends Pick<Props, 'onShape' | 'onUndo'> {
  draft: Signal<Draft | null>;
  /** Errors of the API for a field. */
  at: (name: FieldName) => string[];
}

function Fields({ draft, at, onShape, onUndo }: FieldsProps) {
  const { value } = draft;
  if (value === null) return null;
  const { shape, geometry } = value;
  const field = (name: (typeof FIELDS)[number], label: string, isNumber = true) => (
    <Field
      label={label}
      name={name}
      value={value[name]}
      errors={at(name)}
      {...(isNumber ? { type: 'number', step: 'any', min: 0 } : { required: true, maxLength: 200 })}
      onInput={(event) => {
        draft.value = { ...value, [name]: event.currentTarget.value };
        if (name === 'radiusM') onShape();
      }}
    />
  );
  return (
    <>
      {geometry === null && <p role="status">{shape === 'line' ? geofenceWords().drawLine : t()[DRAW[shape]]}</p>}
      {onUndo !== null && (
        <button type="button" onClick={onUndo}>
          {geofenceWords().undo}
        </button>
      )}
      {field('name', t().name, false)}
      {shape === 'circle' && field('radiusM', t().radiusM)}
      {shape === 'line' && field('widthM', t().widthM)}
      {field('speedLimitKmh', t().speedLimitKmh)}
      {field('minDwellSeconds', t().minDwellSeconds)}
      <Category draft={draft} errors={at('category')} />
      <Appearance draft={draft} at={at} />
      <Sharing draft={draft} />
      <CustomFieldInputs
        value={value}
        onChange={(fields) => {
          draft.value = { ...value, ...fields };
        }}
        errors={{ externalId: at('externalId'), customAttributes: at('customAttributes') }}
      />
      <Coordinates key={JSON.stringify(geometry)} draft={draft} onShape={onShape} />
    </>
  );
}

interface ConflictProps {
  mine: Draft;
  /** The other user's version. Null: it could not be loaded. */
  theirs: Draft | null;
  onReload: () => void;
  onKeep: () => void;
}

function Conflict({ mine, theirs, onReload, onKeep }: ConflictProps) {
  return (
    <div class="conflict" role="alert">
      <p class="error">{t().changedMeanwhile}</p>
      {theirs !== null && <Versions mine={mine} theirs={theirs} />}
      <div class="actions">
        <button type="button" onClick={onReload}>
          {t().showTheirs}
        </button>
        {theirs !== null && (
          <button type="button" onClick={onKeep}>
            {geofenceWords().keepMine}
          </button>
        )}
      </div>
    </div>
  );
}

/** Confirmation before the geofence is deleted. */
function Deletion({ name, onDelete, onCancel }: { name: string; onDelete: () => void; onCancel: () => void }) {
  return (
    <div role="alertdialog" aria-label={t().delete}>
      <p>{t().deleteGeofence(name)}</p>
      <div class="actions">
        <button type="button" onClick={onDelete}>
          <Icon name="trash" /> {t().delete}
        </button>
        <CancelButton onClick={onCancel} />
      </div>
    </div>
  );
}

/** Compares both versions: the fields that differ. */
function Versions({ mine, theirs }: { mine: Draft; theirs: Draft }) {
  const names = [...FIELDS, 'color', 'description'] as const;
  const words = (name: (typeof names)[number]) =>
    name === 'color' || name === 'description' || name === 'category' ? geofenceWords()[name] : t()[name];
  const isSame = (name: keyof Draft) => JSON.stringify(mine[name]) === JSON.stringify(theirs[name]);
  return (
    <table>
      <thead>
        <tr>
          <td />
          <th scope="col">{geofenceWords().yours}</th>
          <th scope="col">{geofenceWords().theirs}</th>
        </tr>
      </thead>
      <tbody>
        {names
          .filter((name) => !isSame(name))
          .map((name) => (
            <tr key={name}>
              <th scope="row">{words(name)}</th>
              <td>{mine[name] || '–'}</td>
              <td>{theirs[name] || '–'}</td>
            </tr>
          ))}
        {!isSame('geometry') && (
          <tr>
            <th scope="row">{geofenceWords().shape}</th>
            <td colSpan={2}>{geofenceWords().changed}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** Free-text category with suggestions of those in use. */
function Category({ draft, errors }: { draft: Signal<Draft | null>; errors: string[] }) {
  const id = useId();
  const { value } = draft;
  if (value === null) return null;
  return (
    <>
      <Field
        label={geofenceWords().category}
        name="category"
        list={id}
        hint={geofenceWords().categoryHint}
        maxLength={100}
        value={value.category}
        errors={errors}
        onInput={(event) => {
          draft.value = { ...value, category: event.currentTarget.value };
        }}
      />
      <datalist id={id}>
        {categoriesOf(geofences.value, language.value).map((category) => (
          <option key={category} value={category} />
        ))}
      </datalist>
    </>
  );
}

/** Who else sees the geofence, and its events for the vehicles that they see. */
function Sharing({ draft }: { draft: Signal<Draft | null> }) {
  const { value } = draft;
  if (value === null) return null;
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={value.sharedWithOrganisation}
          onChange={(event) => {
            draft.value = { ...value, sharedWithOrganisation: event.currentTarget.checked };
          }}
        />
        <span>{geofenceWords().shareWithOrganisation}</span>
      </label>
      <GroupPicker
        label={geofenceWords().shareWithGroups}
        chosen={value.sharedGroupIds}
        onChange={(sharedGroupIds) => {
          draft.value = { ...value, sharedGroupIds };
        }}
        all={geofenceWords().shareWithNoGroup}
      />
    </>
  );
}

function Appearance({ draft, at }: Pick<FieldsProps, 'draft' | 'at'>) {
  const id = useId();
  const { value } = draft;
  if (value === null) return null;
  const set = (part: Partial<Draft>) => {
    draft.value = { ...value, ...part };
  };
  const errors = at('description');
  return (
    <>
      <div class="row">
        <label class="check">
          <input
            type="checkbox"
            checked={value.color !== null}
            onChange={(event) => set({ color: event.currentTarget.checked ? NEW_COLOR : null })}
          />
          <span>{geofenceWords().ownColor}</span>
        </label>
        {value.color !== null && (
          <input
            type="color"
            aria-label={geofenceWords().color}
            value={value.color}
            onInput={(event) => set({ color: event.currentTarget.value.toLowerCase() })}
          />
        )}
      </div>
      <div class="field">
        <label for={id}>{geofenceWords().description}</label>
        <textarea
          id={id}
          rows={2}
          maxLength={2000}
          aria-invalid={errors.length > 0}
          value={value.description}
          onInput={(event) => set({ description: event.currentTarget.value })}
        />
        {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
      </div>
      <GroupPicker
        label={geofenceWords().groups}
        chosen={value.groupIds ?? []}
        onChange={(groupIds) => set({ groupIds: groupIds.length === 0 ? null : groupIds })}
        all={geofenceWords().allVehicles}
      />
    </>
  );
}

/** The shape as numbers: for keyboard users, for exact places, and for holes. */
function Coordinates({ draft, onShape }: { draft: Signal<Draft | null>; onShape: () => void }) {
  const id = useId();
  const text = useSignal(coordinatesText(draft.value?.geometry ?? null));
  const error = useSignal<string | null>(null);
  const apply = () => {
    const { value } = draft;
    if (value === null) return;
    const geometry = geometryOfText(text.value, value.shape);
    if ('line' in geometry) {
      error.value = geometry.line === 0 ? geofenceWords().fewPoints : geofenceWords().badLine(geometry.line);
      return;
    }
    error.value = null;
    draft.value = { ...value, geometry, shape: shapeOf(geometry) };
    onShape();
  };
  return (
    <details class="coordinates">
      <summary>{geofenceWords().coordinates}</summary>
      <div class="field">
        <label for={id}>{geofenceWords().coordinatesHint}</label>
        <textarea
          id={id}
          rows={6}
          dir="ltr"
          spellcheck={false}
          aria-invalid={error.value !== null}
          aria-describedby={error.value === null ? undefined : `${id}-error`}
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
          }}
        />
        {error.value !== null && (
          <p id={`${id}-error`} class="error" role="alert">
            {error.value}
          </p>
        )}
      </div>
      <button type="button" onClick={apply}>
        {geofenceWords().apply}
      </button>
    </details>
  );
}
