import { videoOrderLink } from '../links.ts';
import { videoWords } from '../pages/video/words.ts';
import { Icon } from '../parts/icon.tsx';
import { videoProfileOf } from './profiles.ts';

interface Props {
  vehicleId: string;
  /** The moment of the clip; if left out, the present. */
  atMs?: number;
  /** For rows: only the icon. */
  isSmall?: boolean;
}

/** Link to the order form of a clip; empty for a vehicle without cameras. */
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
