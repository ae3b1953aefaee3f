import { commandWords } from '../../commands/command-words.ts';
import { COMMAND_TYPES, EXPIRIES_SECONDS } from '../../commands/model.ts';
import { formats } from '../../format.ts';
import type { Edit } from '../../parts/forms/edit.ts';
import { Choice, Field } from '../../parts/forms/field.tsx';
import { mayCommand } from '../../rights.ts';
import { user } from '../../session.ts';
import { mayStopVehicle, newCommand, type RuleCommand, type RuleFields } from './draft.ts';

interface Part {
  edit: Edit<RuleFields>;
}

/** A command that a rule sends to the terminal of the vehicle; hidden without the right to send any. */
export function CommandAction({ edit }: Part) {
  const words = commandWords();
  const { command } = edit.draft.value;
  if (user.value == null || (!mayCommand(user.value) && command === null)) return null;
  const errors = [...edit.at('/command'), ...edit.at('/command/type')];
  return (
    <fieldset>
      <legend>{words.type}</legend>
      <label class="check">
        <input
          type="checkbox"
          checked={command !== null}
          onChange={({ currentTarget: { checked } }) =>
            edit.set({ command: checked ? newCommand('position-request') : null })
          }
        />
        <span>
          {words.ofRule}
          <small>{words.ofRuleHint}</small>
        </span>
      </label>
      {command !== null && <CommandFields edit={edit} command={command} />}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}

function CommandFields({ edit, command }: Part & { command: RuleCommand }) {
  const words = commandWords();
  const role = user.value?.role;
  const mayText = role !== 'user' || (user.value?.services.includes('command-text') ?? false);
  const types = COMMAND_TYPES.filter((type) => type !== 'text' || mayText || command.type === 'text');
  const set = (part: Partial<RuleCommand>) => edit.set({ command: { ...command, ...part } });
  const expiry = command.expiresInSeconds;
  return (
    <>
      <Choice
        label={words.type}
        value={command.type}
        onChange={(type) => edit.set({ command: newCommand(type as RuleCommand['type']) })}
      >
        {types.map((type) => (
          <option key={type} value={type} selected={type === command.type}>
            {words.types[type]}
          </option>
        ))}
      </Choice>
      <Parameters edit={edit} command={command} set={set} />
      {mayStopVehicle(command) && <Guard edit={edit} command={command} set={set} />}
      <Choice label={words.expiry} value={String(expiry)} onChange={(text) => set({ expiresInSeconds: Number(text) })}>
        {[...new Set([...EXPIRIES_SECONDS, expiry])]
          .sort((a, b) => a - b)
          .map((seconds) => (
            <option key={seconds} value={seconds} selected={seconds === expiry}>
              {formats().duration(seconds)}
            </option>
          ))}
      </Choice>
    </>
  );
}

interface PartOfCommand extends Part {
  command: RuleCommand;
  set: (part: Partial<RuleCommand>) => void;
}

function Parameters({ edit, command, set }: PartOfCommand) {
  const words = commandWords();
  return (
    <>
      {Object.entries(command.parameters).map(([name, value]) => {
        const change = (next: string | number | boolean) =>
          set({ parameters: { ...command.parameters, [name]: next } });
        const label = words.parameters[name] ?? name;
        const errors = edit.at(`/command/parameters/${name}`);
        if (typeof value === 'boolean')
          return (
            <label key={name} class="check">
              <input type="checkbox" checked={value} onChange={({ currentTarget }) => change(currentTarget.checked)} />
              <span>{label}</span>
            </label>
          );
        const isNumber = typeof value === 'number';
        return (
          <Field
            key={name}
            label={label}
            required
            {...(isNumber ? { type: 'number' as const, min: 1, step: 1 } : { type: 'text' as const })}
            value={value}
            errors={errors}
            onInput={({ currentTarget }) => change(isNumber ? currentTarget.valueAsNumber || 1 : currentTarget.value)}
          />
        );
      })}
    </>
  );
}

/** Conditions for sending a command that can stop a vehicle. */
function Guard({ edit, command, set }: PartOfCommand) {
  const words = commandWords();
  const errors = edit.at('/command/confirm');
  return (
    <>
      <Field
        label={words.maxSpeed}
        type="number"
        min={0}
        hint={words.ofRuleGuard}
        value={command.maxSpeedKmh ?? ''}
        errors={edit.at('/command/maxSpeedKmh')}
        onInput={({ currentTarget: { valueAsNumber } }) =>
          set({ maxSpeedKmh: Number.isNaN(valueAsNumber) ? null : valueAsNumber })
        }
      />
      <label class="check">
        <input
          type="checkbox"
          checked={command.confirm === true}
          onChange={({ currentTarget: { checked } }) => set({ confirm: checked })}
        />
        <span>{words.confirm}</span>
      </label>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </>
  );
}
