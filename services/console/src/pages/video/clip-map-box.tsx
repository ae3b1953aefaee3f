import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { type Track, trackOf } from '../../track/track.ts';
import { ClipMap } from './clip-map.ts';
import { videoWords } from './words.ts';

interface Props {
  /** Null: loading. */
  track: Track | null;
  timeMs: Signal<number>;
  onPick: (timeMs: number) => void;
}

/** The map beside a video, or beside the form that orders one. */
export function ClipMapBox({ track, timeMs, onPick }: Props) {
  const container = useRef<HTMLDivElement>(null);
  const map = useRef<ClipMap | null>(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    if (container.current === null) return;
    const made = new ClipMap(container.current, timeMs, (at) => pick.current(at));
    map.current = made;
    return () => {
      map.current = null;
      made.destroy();
    };
  }, [timeMs]);
  useEffect(() => map.current?.show(track ?? trackOf([])), [track]);
  return (
    <div class="mapbox">
      <div class="canvas" ref={container} />
      {track?.count === 0 && <p class="no-track">{videoWords().noTrack}</p>}
    </div>
  );
}
