import type { Vehicle } from '@outrider/client';
import { Picker } from '../../parts/forms/picker.tsx';
import { modelsFor, terminalProtocols } from './protocols.ts';
import { vehicleWords } from './words.ts';

export type DeviceModel = Vehicle['deviceModel'];

interface Props {
  value: DeviceModel | undefined;
  /** What the terminal speaks, where that is known; only its models are offered. */
  protocol?: string;
  errors?: readonly string[];
  onChange: (model: DeviceModel) => void;
}

/** Chooses the model of a terminal; nothing for a protocol whose models all say the same. */
export function DeviceModelField({ value = null, protocol, errors = [], onChange }: Props) {
  const vehicles = vehicleWords();
  const models = modelsFor(terminalProtocols.value?.items ?? [], protocol);
  if (models.length === 0 && value === null) return null;
  const items = [...new Set([...models, ...(value === null ? [] : [value])])].map((id) => ({ id, name: id }));
  return (
    <>
      <Picker
        label={vehicles.fields.deviceModel}
        items={items}
        chosen={value === null ? [] : [value]}
        all={vehicles.modelNotSaid}
        isSingle
        errors={errors}
        onChange={([model]) => onChange((model ?? null) as DeviceModel)}
      />
      <small>{vehicles.deviceModelHint}</small>
    </>
  );
}
