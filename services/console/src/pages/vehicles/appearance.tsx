import { NewVehicleFields } from '@outrider/client';
import { useId } from 'preact/hooks';
import { VehicleIcon, type VehicleIconName } from '../../parts/vehicle-icon.tsx';
import { vehicleWords } from './words.ts';

interface Props<T> {
  value: T | null;
  onChange: (value: T | null) => void;
  errors?: readonly string[];
}

/** Chooses a colour of the palette, no colour, or a custom one. */
export function ColorField({ value, onChange, errors = [] }: Props<string>) {
  const id = useId();
  const vehicles = vehicleWords();
  const palette = Object.entries(vehicles.colors);
  const isOwn = value !== null && !palette.some(([color]) => color === value);
  return (
    <fieldset class="swatches">
      <legend>{vehicles.fields.color}</legend>
      <label title={vehicles.noColor}>
        <input type="radio" name={id} checked={value === null} onChange={() => onChange(null)} />
        <span class="hidden">{vehicles.noColor}</span>
        <span class="swatch nothing" />
      </label>
      {palette.map(([color, word]) => (
        <label key={color} title={word}>
          <input type="radio" name={id} checked={value === color} onChange={() => onChange(color)} />
          <span class="hidden">{word}</span>
          <span class="swatch" style={{ background: color }} />
        </label>
      ))}
      <label title={vehicles.ownColor} class={isOwn ? 'own chosen' : 'own'}>
        <span class="hidden">{vehicles.ownColor}</span>
        <input type="color" value={value ?? '#1f5fc4'} onInput={(event) => onChange(event.currentTarget.value)} />
      </label>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}

export function IconField({ value, onChange, errors = [], color }: Props<VehicleIconName> & { color: string | null }) {
  const id = useId();
  const vehicles = vehicleWords();
  const names: readonly (VehicleIconName | null)[] = [null, ...NewVehicleFields.icon.values];
  return (
    <fieldset class="swatches">
      <legend>{vehicles.fields.icon}</legend>
      {names.map((name) => (
        <label key={name} title={name === null ? vehicles.noIcon : vehicles.icons[name]}>
          <input type="radio" name={id} checked={value === name} onChange={() => onChange(name)} />
          <span class="hidden">{name === null ? vehicles.noIcon : vehicles.icons[name]}</span>
          <span class="swatch">
            <VehicleIcon name={name} color={color} />
          </span>
        </label>
      ))}
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
    </fieldset>
  );
}
