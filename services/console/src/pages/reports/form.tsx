import type { ReportKind } from '@outrider/client';
import { spaced } from '@outrider/words/spaced';
import { type Signal, useSignal } from '@preact/signals';
import { DriverPicker } from '../../drivers/driver-picker.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { GeofencePicker, GroupPicker, Picker, VehiclePicker } from '../../parts/forms/picker.tsx';
import { SensorPicker } from '../../parts/forms/sensor-picker.tsx';
import { TimeRangeField } from '../../parts/forms/time-range-field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { t } from '../../words/words.ts';
import { titleOfKind } from './kinds.ts';
import { ShapeDialog } from './shape-dialog.tsx';
import { fitting, type Question } from './state.ts';
import { reportWords } from './words.ts';

interface Props {
  kinds: readonly ReportKind[];
  question: Signal<Question>;
  onSubmit: () => void;
  isBusy: boolean;
  /** Errors of the API by the name of the parameter. */
  errorsAt: (parameter: string) => string[];
}

/** Form of a report. The button runs it. */
export function QuestionForm({ kinds, question, onSubmit, isBusy, errorsAt }: Props) {
  const value = question.value;
  const kind = kinds.find((one) => one.kind === value.kind);
  return (
    <form
      class="question"
      aria-label={reportWords().question}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <KindChoice
        kinds={kinds}
        value={value.kind}
        onChange={(chosen) => {
          question.value = fitting({ ...value, kind: chosen.kind }, chosen);
        }}
      />
      {kind?.hasTimeRange && (
        <div>
          <TimeRangeField range={value.range} onChange={(range) => (question.value = { ...value, range })} />
          <Errors errors={[...errorsAt('from'), ...errorsAt('to')]} />
        </div>
      )}
      {kind && (
        <QuestionFields
          kind={kind}
          value={value}
          errorsAt={errorsAt}
          onChange={(part) => (question.value = { ...value, ...part })}
        />
      )}
      <button type="submit" class="primary" disabled={isBusy}>
        <Icon name="chart" /> {reportWords().show}
      </button>
    </form>
  );
}

export function KindChoice({
  kinds,
  value,
  onChange,
}: {
  kinds: readonly ReportKind[];
  value: string;
  onChange: (kind: ReportKind) => void;
}) {
  return (
    <Choice
      label={reportWords().kind}
      value={value}
      onChange={(name) => {
        const chosen = kinds.find(({ kind }) => kind === name);
        if (chosen) onChange(chosen);
      }}
    >
      {kinds.map(({ kind }) => (
        <option key={kind} value={kind} selected={kind === value}>
          {titleOfKind(kind)}
        </option>
      ))}
    </Choice>
  );
}

interface FieldsProps {
  kind: ReportKind;
  value: Omit<Question, 'range'>;
  onChange: (part: Partial<Question>) => void;
  errorsAt: (parameter: string) => string[];
  /** False for schedules, which support no shape. */
  hasShape?: boolean;
}

/** Vehicles and the parameters of the kind, as the API declares them. */
export function QuestionFields(props: FieldsProps) {
  const { kind, value, onChange, errorsAt, hasShape = true } = props;
  const { parameters } = kind;
  const isDrawing = useSignal(false);
  const { vehicleIds, groupId, eventKinds, geozoneId, shape, sensors, driverIds } = value;
  return (
    <>
      <VehiclePicker
        chosen={vehicleIds}
        all={reportWords().allVehicles}
        errors={errorsAt('vehicleId')}
        onChange={(chosen) => onChange({ vehicleIds: chosen, ...(chosen.length > 0 ? { groupId: null } : {}) })}
      />
      <GroupPicker
        isSingle
        chosen={groupId === null ? [] : [groupId]}
        all={t().allGroups}
        errors={errorsAt('groupId')}
        onChange={([chosen = null]) => onChange({ groupId: chosen, ...(chosen === null ? {} : { vehicleIds: [] }) })}
      />
      <Period {...props} />
      {parameters.eventKinds && (
        <Picker
          label={reportWords().eventKinds}
          all={reportWords().allEvents}
          items={parameters.eventKinds.values.map((id) => ({ id, name: t().events[id] ?? spaced(id) }))}
          chosen={eventKinds}
          errors={errorsAt('kind')}
          onChange={(chosen) => onChange({ eventKinds: chosen })}
        />
      )}
      {parameters.geozoneId && shape === null && (
        <GeofencePicker
          isSingle
          label={t().geofence}
          all={reportWords().allGeofences}
          chosen={geozoneId === null ? [] : [geozoneId]}
          errors={errorsAt('geozoneId')}
          onChange={([chosen = null]) => onChange({ geozoneId: chosen })}
        />
      )}
      {parameters.shape && hasShape && (
        <ShapeField shape={shape} onDraw={() => (isDrawing.value = true)} onRemove={() => onChange({ shape: null })} />
      )}
      <MostPoints {...props} />
      <TextParameter {...props} name="workHours" />
      <TextParameter {...props} name="ecoWeights" />
      {parameters.sensors && (
        <SensorPicker
          label={reportWords().sensors}
          chosen={sensors}
          all={reportWords().allSensors}
          errors={errorsAt('sensor')}
          onChange={(chosen) => onChange({ sensors: chosen })}
        />
      )}
      {parameters.driverIds && (
        <DriverPicker
          chosen={driverIds}
          all={reportWords().allDrivers}
          errors={errorsAt('driverId')}
          onChange={(chosen) => onChange({ driverIds: chosen })}
        />
      )}
      {isDrawing.value && (
        <ShapeDialog
          shape={shape}
          onClose={() => (isDrawing.value = false)}
          onDrawn={(drawn) => onChange({ shape: drawn, geozoneId: null })}
        />
      )}
    </>
  );
}

function Period({ kind: { parameters }, value: { period }, onChange }: FieldsProps) {
  if (!parameters.period) return null;
  const { values, default: usual } = parameters.period;
  return (
    <Choice
      label={reportWords().period}
      value={period ?? usual}
      onChange={(chosen) => onChange({ period: chosen === usual ? null : (chosen as Question['period']) })}
    >
      {values.map((one) => (
        <option key={one} value={one} selected={one === (period ?? usual)}>
          {reportWords().periods[one]}
        </option>
      ))}
    </Choice>
  );
}

interface ShapeProps {
  shape: Question['shape'];
  onDraw: () => void;
  onRemove: () => void;
}

function ShapeField({ shape, onDraw, onRemove }: ShapeProps) {
  return (
    <div class="field">
      <span class="label">{reportWords().shape}</span>
      <div class="actions">
        <button type="button" onClick={onDraw}>
          <Icon name="fence" /> {shape === null ? reportWords().drawShape : t().shapes[shape.properties.shape]}
        </button>
        {shape !== null && (
          <button type="button" onClick={onRemove}>
            {reportWords().removeShape}
          </button>
        )}
      </div>
      <small>{reportWords().shapeHint}</small>
    </div>
  );
}

function MostPoints({ kind: { parameters, isTrack }, value: { maxPoints }, onChange, errorsAt }: FieldsProps) {
  if (!parameters.maxPoints) return null;
  return (
    <Field
      label={isTrack ? reportWords().maxPoints : reportWords().maxIntervals}
      hint={isTrack ? reportWords().maxPointsHint : reportWords().maxIntervalsHint}
      type="number"
      min={parameters.maxPoints.min}
      max={parameters.maxPoints.max}
      value={maxPoints ?? ''}
      errors={errorsAt('maxPoints')}
      onInput={({ currentTarget: { valueAsNumber } }) =>
        onChange({ maxPoints: Number.isNaN(valueAsNumber) ? null : valueAsNumber })
      }
    />
  );
}

/** Text field of a parameter. Empty means the kind's default, which is the placeholder. */
function TextParameter({
  kind: { parameters },
  value,
  onChange,
  errorsAt,
  name,
}: FieldsProps & { name: 'workHours' | 'ecoWeights' }) {
  const usual = parameters[name];
  if (usual === null) return null;
  return (
    <Field
      label={reportWords()[name]}
      hint={reportWords()[`${name}Hint` as const]}
      maxLength={200}
      placeholder={usual}
      dir="ltr"
      value={value[name] ?? ''}
      errors={errorsAt(name)}
      onInput={({ currentTarget }) => onChange({ [name]: currentTarget.value.trim() || null })}
    />
  );
}

function Errors({ errors }: { errors: readonly string[] }) {
  return errors.length === 0 ? null : <p class="error">{errors.join('; ')}</p>;
}
