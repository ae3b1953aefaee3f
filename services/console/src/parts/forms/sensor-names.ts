import type { PickerItem } from './picker.tsx';

/**
 * What is offered: the sensors there are, and what is chosen but none of them, such as the id of a sensor. A chosen
 * name that a sensor has in other case takes its place.
 */
export function namesToChoose(items: readonly PickerItem[], chosen: readonly string[]): PickerItem[] {
  const chosenByKey = new Map(chosen.map((each) => [each.toLowerCase(), each]));
  const offered = items.map((item) => ({ ...item, id: chosenByKey.get(item.name.toLowerCase()) ?? item.id }));
  const others = chosen.filter((each) => !offered.some(({ id }) => id === each));
  return [...offered, ...others.map((each) => ({ id: each, name: each }))];
}
