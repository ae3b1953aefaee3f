/** Outlines on a grid of 24. */
const PATHS = {
  map: 'M9 4 3 6v14l6-2 6 2 6-2V4l-6 2-6-2Zm0 0v14m6-12v14',
  track: 'M6 19a2 2 0 1 0 0-.1M6 17c0-5 12-3 12-9M18 5a2 2 0 1 0 0-.1',
  fence: 'M5 5h.1M19 6h.1M18 18h.1M6 19h.1M5 5l14 1-1 12-12 1Z',
  circle: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-8h.1',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4Zm4 4h4',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 8c1-4 4-5 8-5s7 1 8 5',
  settings: 'M4 7h10m4 0h2M4 17h2m4 0h10M16 5v4M8 15v4',
  book: 'M5 4h13v16H6a1 1 0 0 1-1-1Zm0 13h13M9 8h5',
  logout: 'M10 4H5v16h5m4-12 4 4-4 4m4-4H9',
  search: 'M10.5 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13Zm5-1.500L20 20',
  star: 'm12 4 2.400 5.200 5.600.600-4.200 3.800 1.200 5.600-5-2.900-5 2.900 1.200-5.600L4 9.800l5.600-.600Z',
  close: 'm6 6 12 12M18 6 6 18',
  warning: 'M12 4 3 20h18Zm0 6v4m0 3v.1',
  offline: 'M3 3l18 18M8.500 15.500a5 5 0 0 1 7 0M5 12a10 10 0 0 1 4-2.400m5.500.200A10 10 0 0 1 19 12m-7 7v.1',
  list: 'M4 6h16M4 12h16M4 18h16',
  follow: 'M12 3v4m0 10v4M3 12h4m10 0h4M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  fit: 'M4 9V4h5m6 0h5v5m0 6v5h-5m-6 0H4v-5',
  group:
    'M8 8h.1M16 7h.1M12 15h.1M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm8-1a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-4 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  play: 'M8 5v14l11-7Z',
  pause: 'M8 5v14M16 5v14',
  back: 'm14 6-6 6 6 6',
  forward: 'm10 6 6 6-6 6',
  check: 'm5 12 5 5 9-10',
  trash: 'M5 7h14M9 7V4h6v3m-8 0 1 13h8l1-13',
  truck:
    'M3 6h11v10H3Zm11 4h4l3 3v3h-7M7 18.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3Zm10 0a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3Z',
};

export type IconName = keyof typeof PATHS;

export function Icon({ name, filled = false }: { name: IconName; filled?: boolean }) {
  return (
    <svg class={filled ? 'glyph filled' : 'glyph'} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
