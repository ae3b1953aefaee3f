import { counted } from '../counted.ts';

export const live = {
  title: 'From packet to map',
  none: 'No positions arrived in the last minute, or the map does not show every position.',
  of: (count: number) =>
    counted('en', count, {
      one: '# position in the last minute, 99 of 100 within',
      other: '# positions in the last minute, 99 of 100 within',
    }),
  stages: { service: 'Service', network: 'Network', page: 'This page' },
  median: 'Half of them within',
  hint: 'From the arrival of a terminal’s packet until its position appears on the map.',
};
