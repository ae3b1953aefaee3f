import { expect, test } from 'vitest';
import { Formats } from '../../format.ts';
import { sensorsOf } from './sensors.ts';

const format = new Formats({ language: 'en', units: 'metric', timeZone: 'UTC' });
const words = { names: { temperature: 'Temperature', gsmSignal: 'Mobile signal' }, yes: 'yes', no: 'no' };

test('sensors have names and units; known ones come first, numbered inputs last, bits not at all', () => {
  const sensors = sensorsOf(
    { io21: 4, temperature2: -18.46, charging: true, statusBits: 7, batteryPercent: 87, gsmSignal: 5, adc1: 0.126 },
    format,
    words,
  );
  expect(sensors.map(({ label, text }) => `${label}: ${text}`)).toEqual([
    'Mobile signal: 5',
    'Temperature 2: -18.5 °C',
    'Battery: 87 %',
    'Charging: yes',
    'adc1: 0.13',
    'io21: 4',
  ]);
});

test('units are those of the reader', () => {
  const imperial = new Formats({ language: 'en', units: 'imperial', timeZone: 'UTC' });
  const [speed] = sensorsOf({ recorderSpeedKmh: 100 }, imperial, words);
  expect(speed).toEqual({ name: 'recorderSpeedKmh', label: 'Recorder speed', text: '62mph' });
});

test('a record without attributes has no sensors', () => {
  expect(sensorsOf(null, format, words)).toEqual([]);
});
