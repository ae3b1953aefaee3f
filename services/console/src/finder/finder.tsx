import { useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import '../style/finder.css';
import { drivers, loadDrivers } from '../drivers/drivers.ts';
import { fleet, geofences, groups } from '../fleet/store.ts';
import { Icon } from '../parts/icon.tsx';
import { navigate } from '../router.ts';
import { joined, language, t } from '../words/words.ts';
import { allEntries, entriesOfVehicle, type FinderEntry, type FinderGroup, firstEntries } from './entries.ts';
import { find, indexed } from './find.ts';
import { finderWords } from './words.ts';

const PER_GROUP = 7;

interface Section {
  group: FinderGroup;
  entries: FinderEntry[];
  /** Number of matches that are not listed. */
  more: number;
}

/** Global search: vehicles, places, people, reports, screens and actions. */
export function Finder({ onClose }: { onClose: () => void }) {
  const words = finderWords();
  const dialog = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const asked = useSignal('');
  const active = useSignal(0);
  useEffect(() => {
    dialog.current?.showModal();
    void loadDrivers();
  }, []);
  void fleet.version.value;
  const all = useMemo(
    () => indexed(allEntries()),
    [fleet.definitions, drivers.value, geofences.value, groups.value, language.value],
  );
  const text = asked.value.trim();
  const sections = text === '' ? sectionsOf(firstEntries(), new Map()) : sectionsFound(all, text);
  const rows = sections.flatMap(({ entries }) => entries);
  const at = Math.min(active.value, rows.length - 1);
  useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' }), [at]);
  const go = ({ to }: FinderEntry) => {
    dialog.current?.close();
    if (typeof to === 'string') navigate(to);
    else to();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const row = rows[at];
    if (step !== 0 && rows.length > 0) active.value = (at + step + rows.length) % rows.length;
    else if (event.key === 'Enter' && row !== undefined && !event.isComposing) go(row);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="finder" aria-label={t().searchAll} closedby="any" onClose={onClose}>
      <label class="asked">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          aria-label={t().searchAll}
          aria-expanded={rows.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={rows.length > 0 ? `${id}-${at}` : undefined}
          aria-autocomplete="list"
          placeholder={words.placeholder}
          autocomplete="off"
          spellcheck={false}
          value={asked.value}
          onInput={({ currentTarget: { value } }) => {
            asked.value = value;
            active.value = 0;
          }}
          onKeyDown={onKeyDown}
        />
      </label>
      <div ref={list} id={`${id}-list`} role="listbox" aria-label={t().searchAll} class="found">
        {sections.map(({ group, entries, more }) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of a list, and no field set
          <section key={group} role="group" aria-labelledby={`${id}-${group}`}>
            <div class="heading" role="presentation" id={`${id}-${group}`}>
              {words.groups[group]}
            </div>
            {entries.map((entry) => {
              const index = rows.indexOf(entry);
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox, which has the focus
                <div
                  key={entry.id}
                  id={`${id}-${index}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === at}
                  onClick={() => go(entry)}
                >
                  <Icon name={entry.icon} />
                  <bdi>{entry.label}</bdi>
                  {entry.hints.length > 0 && <small>{joined(entry.hints)}</small>}
                </div>
              );
            })}
            {more > 0 && <p role="presentation">{words.more(more)}</p>}
          </section>
        ))}
      </div>
      {rows.length === 0 && <p class="nothing">{words.none}</p>}
      <p class="hidden" role="status">
        {text === '' ? '' : words.found(rows.length)}
      </p>
    </dialog>
  );
}

function sectionsFound(all: ReturnType<typeof indexed<FinderEntry>>, text: string): Section[] {
  const { entries, counts } = find(all, text, PER_GROUP);
  const [best] = entries;
  const sections = sectionsOf(entries, counts);
  // Offers further actions for the best match, a vehicle.
  if (best?.group === 'vehicles') sections[0]?.entries.splice(1, 0, ...entriesOfVehicle(best));
  return sections;
}

function sectionsOf(entries: readonly FinderEntry[], counts: ReadonlyMap<FinderGroup, number>): Section[] {
  const byGroup = Map.groupBy(entries, ({ group }) => group);
  return [...byGroup].map(([group, own]) => ({
    group,
    entries: own,
    more: Math.max(0, (counts.get(group) ?? 0) - own.length),
  }));
}
