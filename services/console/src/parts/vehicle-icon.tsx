import type { Vehicle } from '@outrider/client';

/** Types of vehicle that have an icon. */
export type VehicleIconName = NonNullable<Vehicle['icon']>;

const wheel = (x: number, y: number, radius: number) =>
  `M${x + radius} ${y}a${radius} ${radius} 0 1 0 -${2 * radius} 0a${radius} ${radius} 0 1 0 ${2 * radius} 0Z`;

/** SVG paths on a grid of 24, each seen from the vehicle's right side. */
const PATHS: Readonly<Record<VehicleIconName, string>> = {
  car: `M3 17v-4l3-1 2.500-4.500h6L18 12l3 1v4h-2M9.500 17h5M3 17h1.500${wheel(7, 17, 2)}${wheel(17, 17, 2)}`,
  taxi: `M3 17v-4l3-1 2.500-4.500h6L18 12l3 1v4h-2M9.500 17h5M3 17h1.500M10 7.500V4.500h4v3${wheel(7, 17, 2)}${wheel(17, 17, 2)}`,
  van: `M3 17V7h11l4 4 3 1.500V17h-2M9.500 17h5M3 17h1.500M14 7v5h6${wheel(7, 17, 2)}${wheel(17, 17, 2)}`,
  truck: `M4.500 17H2V6h12v11H8.500M14 10h4l4 3v4h-2.500M14 17h1.500${wheel(6.5, 17, 2)}${wheel(17.5, 17, 2)}`,
  bus: `M5 17H3V6h17l1 5v6h-2.500M9 17h5.500M3 11h18M9 6v5m6-5v5${wheel(7, 17, 2)}${wheel(16.5, 17, 2)}`,
  trailer: `M2 6h16v10h-3M18 15h4M2 6v10h1${wheel(6, 17, 2)}${wheel(12, 17, 2)}`,
  motorcycle: `M5.500 16 10 11h5l3.500 5M13 8h3l1.500 4M8 11h4${wheel(5.5, 16, 3)}${wheel(18.5, 16, 3)}`,
  bicycle: `M6 15.500 9.500 9H15l3 6.500M9.500 9l3 6.500H6M12.500 15.500 15 9M8 7h3m4 2-.500-3H17${wheel(6, 15.5, 3.5)}${wheel(18, 15.5, 3.5)}`,
  tractor: `M6 10.500V5h7l1 5h6v6M13 16h4${wheel(8, 15.5, 4.5)}${wheel(19, 18, 2)}`,
  excavator: 'M3 19h11a1.500 1.500 0 0 0 0-3H3a1.500 1.500 0 0 0 0 3Zm1-3v-5h7v5m0-4 4-7 5 4v5l-3 2-1-3',
  crane: 'M3 20h8M5 20V5h3v15M3 8h2M5 5h16v6m-1.500 0h3v2.500M8 9l5-4M5 10l3 4m0-4-3 4',
  ship: 'M3 14h18l-3 5H7ZM7 14V9h9v5m-5-5V5h3v4',
  train: 'M7 4h10v12H7ZM7 10h10M9.500 20l1.500-4m3.500 4L13 16m-2.500-3h.1m3 0h.1',
  person: 'M12 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5Zm0 0V15M7.500 11h9M12 15l-3 6.500m3-6.500 3 6.500',
  animal: 'M12 12c-3 0-5 3-5 5.500S9 20 12 20s5 0 5-2.500-2-5.500-5-5.500ZM5 10.500v.1m4-4.600v.1m6-.1v.1m4 4.400v.1',
  container: 'M3 7h18v10H3ZM7 10v4m3.500-4v4m3.500-4v4m3-4v4',
};

interface Props {
  name: string | null;
  /** Colour of the vehicle; null: that of the text. */
  color: string | null;
}

/** Icon of a vehicle in its colour; a plain dot without a known type. */
export function VehicleIcon({ name, color }: Props) {
  const path = name === null ? undefined : (PATHS as Readonly<Record<string, string>>)[name];
  return (
    <svg
      class="glyph vehicle-icon"
      viewBox="0 0 24 24"
      aria-hidden="true"
      style={color === null ? {} : { '--vehicle': color }}
    >
      <path d={path ?? wheel(12, 12, 3)} />
    </svg>
  );
}
