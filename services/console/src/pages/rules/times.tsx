import { dateOf } from '../../days.ts';
import type { Edit } from '../../parts/forms/edit.ts';
import { NumberField } from '../../parts/forms/edit-form.tsx';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { language, t } from '../../words/words.ts';
import { isLicenceRule, isOvernight, type RuleFields, toggled, WEEKDAYS } from './draft.ts';
import { ruleWords } from './words.ts';

const WORK = { from: '08:00', to: '18:00' };

/** When a rule is valid, and how often it notifies. */
export function Times({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { timeZone } = edit.draft.value;
  const zoneErrors = edit.at('/timeZone');
  return (
    <fieldset>
      <legend>{words.when}</legend>
      <Days edit={edit} />
      <Hours edit={edit} />
      <Choice label={t().timeZone} value={timeZone} onChange={(zone) => edit.set({ timeZone: zone })}>
        {[...new Set([timeZone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => (
          <option key={zone} value={zone} selected={zone === timeZone}>
            {zone}
          </option>
        ))}
      </Choice>
      {zoneErrors.length > 0 && <p class="error">{zoneErrors.join('; ')}</p>}
      {!isLicenceRule(edit.draft.value) && (
        <>
          <NumberField
            edit={edit}
            name="minIntervalMinutes"
            label={words.minInterval}
            hint={words.minIntervalHint}
            min={0}
            max={10_080}
          />
          <NumberField
            edit={edit}
            name="maxDataAgeMinutes"
            label={words.maxAge}
            hint={words.maxAgeHint}
            min={1}
            max={525_600}
          />
        </>
      )}
    </fieldset>
  );
}

function Days({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { days, timeZone } = edit.draft.value;
  const choose = (on: string) => {
    const today = dateOf(Date.now(), timeZone);
    if (on === 'weekdays') edit.set({ days: { on, weekdays: WEEKDAYS.slice(0, 5) } });
    else edit.set({ days: on === 'dates' ? { on, from: today, to: today } : { on: 'daily' } });
  };
  return (
    <>
      <Choice label={words.days} value={days.on} onChange={choose}>
        {(['daily', 'weekdays', 'dates'] as const).map((on) => (
          <option key={on} value={on} selected={on === days.on}>
            {words.dayKinds[on]}
          </option>
        ))}
      </Choice>
      {days.on === 'weekdays' && <Weekdays edit={edit} weekdays={days.weekdays} />}
      {days.on === 'dates' && (
        <div class="pair">
          <Field
            label={words.dateFrom}
            type="date"
            value={days.from}
            errors={edit.at('/days/from')}
            onInput={(event) => edit.set({ days: { ...days, from: event.currentTarget.value } })}
          />
          <Field
            label={words.dateTo}
            type="date"
            value={days.to}
            errors={edit.at('/days/to')}
            onInput={(event) => edit.set({ days: { ...days, to: event.currentTarget.value } })}
          />
        </div>
      )}
    </>
  );
}

type Weekday = (typeof WEEKDAYS)[number];

function Weekdays({ edit, weekdays }: { edit: Edit<RuleFields>; weekdays: readonly Weekday[] }) {
  const format = new Intl.DateTimeFormat(language.value, { weekday: 'short', timeZone: 'UTC' });
  const errors = edit.at('/days/weekdays');
  return (
    <fieldset class="options in-row" aria-label={ruleWords().days}>
      {WEEKDAYS.map((weekday, nth) => (
        <label key={weekday} class="check">
          <input
            type="checkbox"
            checked={weekdays.includes(weekday)}
            onChange={() => edit.set({ days: { on: 'weekdays', weekdays: toggled(weekdays, WEEKDAYS, weekday) } })}
          />
          {/* The fifth of January 1970 was a Monday. */}
          <span>{format.format(Date.UTC(1970, 0, 5 + nth))}</span>
        </label>
      ))}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}

function Hours({ edit }: { edit: Edit<RuleFields> }) {
  const words = ruleWords();
  const { hours } = edit.draft.value;
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={hours === null}
          onChange={(event) => edit.set({ hours: event.currentTarget.checked ? null : WORK })}
        />
        <span>{words.allDay}</span>
      </label>
      {hours !== null && (
        <div class="pair">
          {(['from', 'to'] as const).map((end) => (
            <Field
              key={end}
              label={end === 'from' ? words.hoursFrom : words.hoursTo}
              type="time"
              value={hours[end]}
              errors={edit.at(`/hours/${end}`)}
              {...(end === 'to' && isOvernight(hours) ? { hint: words.overnight } : {})}
              onInput={(event) => edit.set({ hours: { ...hours, [end]: event.currentTarget.value } })}
            />
          ))}
        </div>
      )}
    </>
  );
}
