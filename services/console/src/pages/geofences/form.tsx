import { ApiError } from '@outrider/client';
import { type Signal, useSignal } from '@preact/signals';
import { describeError } from '../../errors.ts';
import { loadGeofences } from '../../fleet/store.ts';
import { Field } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { toast } from '../../parts/toast.tsx';
import { api } from '../../session.ts';
import { t } from '../../words/words.ts';
import { bodyOf, type Draft } from './draft.ts';

interface Props {
  draft: Signal<Draft | null>;
  onClose: () => void;
  /** Reads the geofence again and gives up the own changes. */
  onReload: () => void;
  /** A number that shapes the area was typed. */
  onResize: () => void;
}

const FIELDS = ['name', 'radiusM', 'widthM', 'speedLimitKmh', 'minDwellSeconds'] as const;
type FieldName = (typeof FIELDS)[number];

/** The numbers and the name of a geofence. A change by somebody else in the meantime is shown, not overwritten. */
export function GeofenceForm({ draft, onClose, onReload, onResize }: Props) {
  const error = useSignal<unknown>(null);
  const isAsking = useSignal(false);
  const value = draft.value;
  if (value === null) return null;
  const { id, etag, shape, geometry } = value;
  const headers = etag === null ? {} : { 'If-Match': etag };

  const run = async (work: () => Promise<unknown>, done: string) => {
    try {
      await work();
      error.value = null;
      await loadGeofences();
      toast(done);
      onClose();
    } catch (reason) {
      error.value = reason;
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
    run(() => api.delete('/api/v1/geozones/{id}', { path: { id: id ?? '' }, headers }), t().geofenceDeleted);
  const reload = () => {
    error.value = null;
    onReload();
  };

  const at = (name: FieldName) => (error.value instanceof ApiError ? error.value.at(`/properties/${name}`) : []);
  const isStale = error.value instanceof ApiError && error.value.status === 412;
  const isOfAField = FIELDS.some((name) => at(name).length > 0);
  const field = (name: FieldName, label: string, isNumber = true) => (
    <Field
      label={label}
      name={name}
      value={value[name]}
      errors={at(name)}
      {...(isNumber ? { type: 'number', step: 'any', min: 0 } : { required: true, maxLength: 200 })}
      onInput={(event) => {
        draft.value = { ...value, [name]: event.currentTarget.value };
        if (name === 'radiusM') onResize();
      }}
    />
  );
  return (
    <aside class="panel" aria-label={t().geofence}>
      <header>
        <h2>{id === null ? t().newGeofence : value.name}</h2>
        <button type="button" class="icon" aria-label={t().close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <form class="body" onSubmit={save}>
        {geometry === null && <p role="status">{shape === 'circle' ? t().drawCircle : t().drawPolygon}</p>}
        {field('name', t().name, false)}
        {shape === 'circle' && field('radiusM', t().radiusM)}
        {shape === 'line' && field('widthM', t().widthM)}
        {field('speedLimitKmh', t().speedLimitKmh)}
        {field('minDwellSeconds', t().minDwellSeconds)}
        {isStale ? (
          <div role="alert">
            <p class="error">{t().changedMeanwhile}</p>
            <button type="button" onClick={reload}>
              {t().showTheirs}
            </button>
          </div>
        ) : (
          error.value !== null &&
          !isOfAField && (
            <p class="error" role="alert">
              {describeError(error.value)}
            </p>
          )
        )}
        <div class="actions">
          <button type="submit" class="primary" disabled={geometry === null}>
            {t().save}
          </button>
          {id !== null && !isAsking.value && (
            <button type="button" onClick={() => (isAsking.value = true)}>
              <Icon name="trash" /> {t().delete}
            </button>
          )}
        </div>
        {isAsking.value && (
          <div role="alertdialog" aria-label={t().delete}>
            <p>{t().deleteGeofence(value.name)}</p>
            <div class="actions">
              <button type="button" onClick={remove}>
                <Icon name="trash" /> {t().delete}
              </button>
              <button type="button" onClick={() => (isAsking.value = false)}>
                {t().cancel}
              </button>
            </div>
          </div>
        )}
      </form>
    </aside>
  );
}
