import type { PickerItem } from './picker.tsx';

/**
 * Items to offer: the existing sensors, and chosen values that match none of them, such as the id of a sensor. A chosen
 * name that differs from a sensor's name only in case replaces that sensor's id.
 */
export function namesToChoose(items: readonly PickerItem[], chosen: readonly string[]): PickerItem[] {
  const chosenByKey = new Map(chosen.map((each) => [each.toLowerCase(), each]));
  const offered = items.map((item) => ({ ...item, id: chosenByKey.get(item.name.toLowerCase()) ?? item.id }));
  const others = chosen.filter((each) => !offered.some(({ id }) => id === each));
  return [...offered, ...others.map((each) => ({ id: each, name: each }))];
}
