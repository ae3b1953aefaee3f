import { videoOrderLink } from '../links.ts';
import { Icon } from '../parts/icon.tsx';
import { t } from '../words/words.ts';
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
  const label = atMs === undefined ? t().video.order : t().video.orderOfThis;
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
