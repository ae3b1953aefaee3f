import type { Vehicle } from '@outrider/client';
import { Picker } from '../../parts/forms/picker.tsx';
import { modelsFor, terminalProtocols } from './protocols.ts';
import { vehicleWords } from './words.ts';

export type DeviceModel = Vehicle['deviceModel'];

interface Props {
  value: DeviceModel | undefined;
  /** Protocol of the terminal, if known. Only its models are offered. */
  protocol?: string;
  errors?: readonly string[];
  onChange: (model: DeviceModel) => void;
}

/** Chooses the model of a terminal. Hidden for a protocol without models: those do not differ in what they send. */
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
