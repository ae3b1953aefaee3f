import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { fleet, geofences, groups, loaded } from '../../fleet/store.ts';
import { joined, language, t } from '../../words/words.ts';
import { Icon } from '../icon.tsx';
import { placed, VirtualList } from '../lists/virtual-list.tsx';

export interface PickerItem {
  id: string;
  name: string;
  /** Further searchable text, such as a plate. */
  hint?: string | null;
}

interface Props {
  label: string;
  items: readonly PickerItem[];
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
  /** Label of the empty choice; if left out, an empty choice means none. */
  all?: string;
  /** A new choice replaces the previous one. */
  isSingle?: boolean;
  /** Searches elsewhere, for items that are not all loaded. */
  onSearch?: (text: string) => void;
  errors?: readonly string[];
}

const ROW_REM = 2.5;

/** Chooses among many items: a button with the chosen ones, and a list with a search. */
export function Picker({ label, items, chosen, onChange, all, isSingle = false, onSearch, errors = [] }: Props) {
  const id = useId();
  const search = useSignal('');
  const text = search.value.trim().toLowerCase();
  const found =
    onSearch || text === ''
      ? items
      : items.filter(({ name, hint }) => `${name} ${hint ?? ''}`.toLowerCase().includes(text));
  const set = new Set(chosen);
  const names = items.filter((item) => set.has(item.id)).map(({ name }) => name);
  const summary =
    chosen.length === 0
      ? (all ?? t().parts.nothingChosen)
      : chosen.length <= 2 && names.length === chosen.length
        ? joined(names, ', ')
        : t().parts.chosen(chosen.length);
  const toggle = (item: string) => {
    if (isSingle) return onChange(set.has(item) ? [] : [item]);
    onChange(set.has(item) ? chosen.filter((one) => one !== item) : [...chosen, item]);
  };
  return (
    <div class="field picker">
      <span class="label" id={`${id}-label`}>
        {label}
      </span>
      <button
        type="button"
        id={`${id}-button`}
        popovertarget={id}
        aria-labelledby={`${id}-label ${id}-button`}
        aria-invalid={errors.length > 0}
      >
        <span>{summary}</span>
        <Icon name="down" />
      </button>
      {errors.length > 0 && <p class="error">{errors.join('; ')}</p>}
      <section id={id} popover="auto" class="choices" aria-labelledby={`${id}-label`}>
        <input
          type="search"
          aria-label={`${t().search}: ${label}`}
          placeholder={t().search}
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
            onSearch?.(event.currentTarget.value);
          }}
        />
        {chosen.length > 0 && (
          <button type="button" onClick={() => onChange([])}>
            {all ?? t().parts.chooseNone}
          </button>
        )}
        {found.length === 0 ? (
          <p>{t().parts.noneFound}</p>
        ) : (
          <VirtualList
            label={label}
            count={found.length}
            rowRem={ROW_REM}
            row={(index) => {
              const { id: itemId, name, hint } = found[index] as PickerItem;
              return (
                <li key={itemId} class="choice" {...placed(index, found.length, ROW_REM)}>
                  <label>
                    <input
                      type={isSingle ? 'radio' : 'checkbox'}
                      name={`${id}-choice`}
                      checked={set.has(itemId)}
                      onChange={() => toggle(itemId)}
                    />
                    <span>
                      <bdi>{name}</bdi>
                    </span>
                    {hint && <small>{hint}</small>}
                  </label>
                </li>
              );
            }}
          />
        )}
      </section>
    </div>
  );
}

type Own = Omit<Props, 'items' | 'label'> & { label?: string };

export function VehiclePicker({ label = t().vehicles, ...props }: Own) {
  void fleet.version.value;
  void loaded.value;
  const collator = new Intl.Collator(language.value, { numeric: true });
  const items = fleet.vehicles
    .map(({ id, name, plate }) => ({ id, name, hint: plate }))
    .sort((a, b) => collator.compare(a.name, b.name));
  return <Picker label={label} items={items} {...props} />;
}

export function GroupPicker({ label = t().group, ...props }: Own) {
  return <Picker label={label} items={groups.value} {...props} />;
}

export function GeofencePicker({ label = t().pages.geofences, ...props }: Own) {
  const items = geofences.value.map(({ id, properties }) => ({ id, name: properties.name }));
  return <Picker label={label} items={items} {...props} />;
}
