import { useEffect } from 'preact/hooks';
import { Picker } from '../parts/forms/picker.tsx';
import { t } from '../words/words.ts';
import { drivers, loadDrivers } from './drivers.ts';

interface Props {
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  /** Label of the empty choice. */
  all: string;
  errors?: readonly string[];
}

/** Lets the user choose among the drivers that they may see. */
export function DriverPicker(props: Props) {
  useEffect(() => void loadDrivers(), []);
  const items = (drivers.value ?? []).map(({ id, name, codes }) => ({ id, name, hint: codes.join(', ') }));
  return <Picker label={t().pages.drivers} items={items} {...props} />;
}
