import { expect, test } from 'vitest';
import { readAlerts } from './alerts.ts';

test('alerts are off until they are switched on, and where what is stored can not be read', () => {
  expect(readAlerts(null)).toEqual({ sound: false, browser: false });
  expect(readAlerts('{"sound":true,"browser":"yes"}')).toEqual({ sound: true, browser: false });
  for (const text of ['null', '[', '7', '"sound"']) expect(readAlerts(text)).toEqual({ sound: false, browser: false });
});
