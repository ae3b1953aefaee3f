import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ruleWords } from '../../pages/rules/words.ts';
import { api } from '../../session.ts';
import { Picker, type PickerItem } from './picker.tsx';
import { namesToChoose } from './sensor-names.ts';

interface Props {
  label: string;
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  /** Label of the empty choice. */
  all: string;
  errors?: readonly string[];
}

/** Chooses sensors by their names, among those of all vehicles that the caller may see. */
export function SensorPicker({ chosen, ...props }: Props) {
  const items = useSignal<readonly PickerItem[]>([]);
  useEffect(() => {
    const controller = new AbortController();
    api.get('/api/v1/sensors', { signal: controller.signal }).then(
      (page) => {
        items.value = page.items.map(({ name, vehicles }) => ({
          id: name,
          name,
          hint: ruleWords().vehicleCount(vehicles),
        }));
      },
      // Without the list, chosen sensors can still be removed.
      () => {},
    );
    return () => controller.abort();
  }, []);
  return <Picker items={namesToChoose(items.value, chosen)} chosen={chosen} {...props} />;
}
