import { videoOrderLink } from '../links.ts';
import { videoWords } from '../pages/video/words.ts';
import { Icon } from '../parts/icon.tsx';
import { videoProfileOf } from './profiles.ts';

interface Props {
  vehicleId: string;
  /** The moment that the clip is about; left out, the present. */
  atMs?: number;
  /** In a row: the icon alone. */
  isSmall?: boolean;
}

/** Leads to the order of a clip; nothing for a vehicle without cameras. */
export function OrderVideo({ vehicleId, atMs, isSmall = false }: Props) {
  if (videoProfileOf(vehicleId) === undefined) return null;
  const label = atMs === undefined ? videoWords().order : videoWords().orderOfThis;
  return (
    <a
      class={isSmall ? 'button icon' : 'button'}
      href={videoOrderLink({ vehicleId, atMs })}
      title={isSmall ? label : undefined}
      aria-label={isSmall ? label : undefined}
    >
      <Icon name="video" /> {!isSmall && label}
    </a>
  );
}
