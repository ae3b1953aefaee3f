import type { NotificationRule } from '@outrider/client';
import type { Edit } from '../../parts/forms/edit.ts';
import { CheckField, ChoiceField, NumberField } from '../../parts/forms/edit-form.tsx';
import { incidentWords } from '../incidents/words.ts';
import { Addresses } from './channels.tsx';
import type { RuleFields } from './draft.ts';
import { ruleWords } from './words.ts';

const SEVERITIES = ['info', 'warning', 'critical'] as const satisfies readonly RuleFields['severity'][];
const WEEK_MINUTES = 10_080;

/** Severity of the rule, who handles its incidents, and the escalation if nobody does. */
export function Severity({ edit, rule }: { edit: Edit<RuleFields>; rule: NotificationRule | null }) {
  const words = ruleWords();
  const { severities } = incidentWords();
  return (
    <fieldset>
      <legend>{words.severity}</legend>
      <ChoiceField
        edit={edit}
        name="severity"
        label={words.severity}
        options={SEVERITIES.map((one) => [one, severities[one] ?? one])}
      />
      <small>{words.severityHint}</small>
      {edit.draft.value.severity !== 'info' && (
        <>
          <CheckField edit={edit} name="shared" label={words.shared} hint={words.sharedHint} />
          <NumberField
            edit={edit}
            name="escalateAfterMinutes"
            label={words.escalateAfter}
            hint={words.escalateAfterHint}
            min={1}
            max={WEEK_MINUTES}
          />
          <Addresses edit={edit} rule={rule} name="escalateTo" label={words.escalateTo} />
        </>
      )}
    </fieldset>
  );
}
