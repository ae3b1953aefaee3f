import type { Vehicle } from '@outrider/client';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { State } from '../../fleet/fleet.ts';
import { stateName } from '../../fleet/state-name.ts';
import { fleet } from '../../fleet/store.ts';
import { fanOf, type Spoke } from '../../map/fan.ts';
import { remPx } from '../../text-size.ts';
import { t } from '../../words/words.ts';
import type { Spot } from './fleet-map.ts';
import { MapMenu } from './map-menu.tsx';

/** More vehicles than this are shown as a list, which can be scrolled. */
const MOST_FANNED = 12;

/** Vehicles at one place, and its position in pixels of the map. */
export interface Choice {
  spot: Spot;
  x: number;
  y: number;
}

/** The vehicles at a place, by name. */
export function vehiclesOf(spot: readonly string[]): { id: string; name: string; state: State }[] {
  return spot
    .map((id) => fleet.indexOf(id))
    .filter((index) => index >= 0)
    .map((index) => ({ ...(fleet.vehicles[index] as Vehicle), state: fleet.stateOf(index) }))
    .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
}

interface SpotMenuProps extends Choice {
  selected: string | null;
  onSelect: (id: string) => void;
  onClose: () => void;
}

/** Menu to choose one of the vehicles at a place: fanned out around it, or a list beside it for many. */
export function SpotMenu({ spot, x, y, selected, onSelect, onClose }: SpotMenuProps) {
  void fleet.version.value;
  const vehicles = vehiclesOf(spot);
  const choices = vehicles.map(({ id, name, state }) => ({
    id,
    isSelected: id === selected,
    onChoose: () => {
      onClose();
      onSelect(id);
    },
    content: (
      <>
        <bdi title={name}>{name}</bdi>
        <span class={`chip ${state}`}>{stateName(state)}</span>
      </>
    ),
  }));
  const props = { label: t().fleetMap.vehiclesHere(spot.length), x, y, onClose };
  if (spot.length <= MOST_FANNED) return <Fan {...props} choices={choices} />;
  return (
    <MapMenu {...props}>
      {choices.map(({ id, isSelected, onChoose, content }) => (
        <button key={id} type="button" aria-current={isSelected ? 'true' : undefined} onClick={onChoose}>
          {content}
        </button>
      ))}
    </MapMenu>
  );
}

interface FanProps {
  label: string;
  /** The place, in pixels of the map. */
  x: number;
  y: number;
  onClose: () => void;
  choices: readonly { id: string; isSelected: boolean; onChoose: () => void; content: ComponentChildren }[];
}

/** Choices around a place of the map, each with a line to it. */
function Fan({ label, x, y, onClose, choices }: FanProps) {
  const fan = useRef<HTMLElement>(null);
  const [{ spot, spokes }, place] = useState<{ spot: { x: number; y: number }; spokes: readonly Spoke[] }>({
    spot: { x: 0, y: 0 },
    spokes: [],
  });
  const { length } = choices;
  useLayoutEffect(() => {
    const element = fan.current;
    const box = element?.parentElement?.getBoundingClientRect();
    if (!element || !box) return;
    // Rows are higher if the text is larger.
    const px = remPx();
    const at = { x: (box.left + x) / px, y: (box.top + y) / px };
    place({ spot: at, spokes: fanOf(length, at, { width: innerWidth / px, height: innerHeight / px }) });
    element.showPopover();
  }, [x, y, length]);
  const isPlaced = spokes.length > 0;
  useLayoutEffect(() => {
    if (isPlaced) fan.current?.querySelector('button')?.focus();
  }, [isPlaced]);
  return (
    <section
      class="fan"
      popover="auto"
      ref={fan}
      aria-label={label}
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      <svg aria-hidden="true">
        {spokes.map((spoke) => (
          <line key={`${spoke.x} ${spoke.y}`} x1={rem(spot.x)} y1={rem(spot.y)} x2={rem(spoke.x)} y2={rem(spoke.y)} />
        ))}
      </svg>
      {choices.map(({ id, isSelected, onChoose, content }, nth) => (
        <button
          key={id}
          type="button"
          aria-current={isSelected ? 'true' : undefined}
          style={styleOf(spokes[nth])}
          onClick={onChoose}
        >
          {content}
        </button>
      ))}
    </section>
  );
}

/** Physical sides: the map is not mirrored in right-to-left languages. */
function styleOf(spoke: Spoke | undefined): Record<string, string> {
  if (spoke === undefined) return { visibility: 'hidden' };
  const { x, y, side, width } = spoke;
  const placed = { top: rem(y), 'max-inline-size': rem(width) };
  return side === 'right' ? { ...placed, left: rem(x) } : { ...placed, right: `calc(100% - ${rem(x)})` };
}

function rem(rems: number): string {
  return `${rems}rem`;
}
