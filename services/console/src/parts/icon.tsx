/** SVG paths on a grid of 24. */
const PATHS = {
  map: 'M9 4 3 6v14l6-2 6 2 6-2V4l-6 2-6-2Zm0 0v14m6-12v14',
  track: 'M6 19a2 2 0 1 0 0-.1M6 17c0-5 12-3 12-9M18 5a2 2 0 1 0 0-.1',
  fence: 'M5 5h.1M19 6h.1M18 18h.1M6 19h.1M5 5l14 1-1 12-12 1Z',
  circle: 'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-8h.1',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4Zm4 4h4',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 8c1-4 4-5 8-5s7 1 8 5',
  driver:
    'M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16Zm0-5.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5ZM4.500 11 9.600 11.500m4.800 0 5.100-.5M12 14.500V20',
  settings: 'M4 7h10m4 0h2M4 17h2m4 0h10M16 5v4M8 15v4',
  book: 'M5 4h13v16H6a1 1 0 0 1-1-1Zm0 13h13M9 8h5',
  logout: 'M10 4H5v16h5m4-12 4 4-4 4m4-4H9',
  search: 'M10.5 17a6.500 6.500 0 1 0 0-13 6.500 6.500 0 0 0 0 13Zm5-1.500L20 20',
  star: 'm12 4 2.400 5.200 5.600.600-4.200 3.800 1.200 5.600-5-2.900-5 2.900 1.200-5.600L4 9.800l5.600-.600Z',
  close: 'm6 6 12 12M18 6 6 18',
  warning: 'M12 4 3 20h18Zm0 6v4m0 3v.1',
  offline: 'M3 3l18 18M8.500 15.500a5 5 0 0 1 7 0M5 12a10 10 0 0 1 4-2.400m5.500.200A10 10 0 0 1 19 12m-7 7v.1',
  list: 'M4 6h16M4 12h16M4 18h16',
  rows: 'M4 5h16v5H4Zm0 9h16v5H4Z',
  follow: 'M12 3v4m0 10v4M3 12h4m10 0h4M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  fit: 'M4 9V4h5m6 0h5v5m0 6v5h-5m-6 0H4v-5',
  group:
    'M8 8h.1M16 7h.1M12 15h.1M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm8-1a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-4 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  play: 'M8 5v14l11-7Z',
  pause: 'M8 5v14M16 5v14',
  back: 'm14 6-6 6 6 6',
  forward: 'm10 6 6 6-6 6',
  up: 'm6 14 6-6 6 6',
  down: 'm6 10 6 6 6-6',
  plus: 'M12 5v14M5 12h14',
  edit: 'M5 19h3L19 8l-3-3L5 16Zm9-12 3 3',
  download: 'M12 4v11m-5-5 5 5 5-5M5 20h14',
  upload: 'M12 15V4M7 9l5-5 5 5M5 20h14',
  copy: 'M9 9h11v11H9ZM15 9V4H4v11h5',
  share:
    'M6 14a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm12-6a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm0 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 11l8-4M8 13l8 4',
  video: 'M4 6h11v12H4Zm11 4 5-3v10l-5-3',
  chart: 'M4 20h16M7 20v-6m5 6V8m5 12v-9',
  calendar: 'M4 6h16v14H4Zm0 4h16M8 3v4m8-4v4',
  users:
    'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7Zm-6 8c1-4 3-5 6-5s5 1 6 5m1-15a3.500 3.500 0 0 1 0 7m2 3c2 1 3 2 3.500 5',
  send: 'm4 12 16-8-6 16-3-7Zm7 1 9-9',
  terminal: 'M4 5h16v14H4Zm3 4 3 3-3 3m5 1h5',
  gauge: 'M4 17a8 8 0 1 1 16 0M12 17l4-6',
  more: 'M5 12h.1M12 12h.1M19 12h.1',
  next: 'm6 6 8 6-8 6Zm12 0v12',
  previous: 'm18 6-8 6 8 6ZM6 6v12',
  palette:
    'M12 4a8 8 0 1 0 0 16c2 0 1.500-1.500 1-2.500s0-2.500 1.500-2.500H17a3 3 0 0 0 3-3c0-4.500-3.500-8-8-8ZM8 12h.1M10 8h.1M15 8h.1',
  check: 'm5 12 5 5 9-10',
  trash: 'M5 7h14M9 7V4h6v3m-8 0 1 13h8l1-13',
  lock: 'M6 11h12v9H6Zm2.500 0V8a3.500 3.500 0 0 1 7 0v3M12 14.500v2',
  install: 'M12 4v10m-4-4 4 4 4-4M5 15v4h14v-4',
  refresh: 'M19 12a7 7 0 1 1-2-5l2 2m0-5v5h-5',
  wrench:
    'M14 7a4 4 0 0 1 5-3l-2.500 2.500 1 2 2 1L22 7a4 4 0 0 1-5.500 4.500L8 20a2.100 2.100 0 0 1-3-3l8.500-8.500A4 4 0 0 1 14 7Z',
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
