import { SENSOR_KINDS, type SensorId, type SensorKind, THRESHOLD_CONDITIONS } from '../resources/sensor.ts';
import { choice, describeEvents, type EventOf, id, nullable, number, text, word } from './description.ts';
import { after, measures } from './said.ts';

export const sensorThreshold = describeEvents({
  record: 'SensorThresholdExceeded',
  prefix: 'Threshold',
  about: 'The value of a sensor exceeded one of its thresholds.',
  since: 5,
  kinds: {
    'sensor-threshold': {
      meaning: 'The value of a sensor exceeds one of its thresholds.',
      isUnwanted: true,
      words: {
        en: {
          name: 'Sensor beyond threshold',
          hint: 'A sensor is beyond one of its thresholds.',
          begin: ({ vehicle, sensor, threshold, value }) =>
            `${sensor ?? 'A sensor'} of ${vehicle} is ${threshold}${measures(value)}`,
          end: (said) =>
            `${said.sensor ?? 'A sensor'} of ${said.vehicle} was ${said.threshold}${after(said, 'for')}${measures(said.value)}`,
        },
        ru: {
          name: 'Порог датчика',
          hint: 'Значение датчика вышло за порог.',
          begin: ({ vehicle, sensor, threshold, value }) =>
            `${vehicle}: датчик${sensor === null ? '' : ` ${sensor}`}: ${threshold}${measures(value)}`,
          end: (said) =>
            `${said.vehicle}: датчик${said.sensor === null ? '' : ` ${said.sensor}`}: ${said.threshold}, закончилось${after(said, 'через')}${measures(said.value)}`,
        },
        de: {
          name: 'Sensor-Grenzwert',
          hint: 'Ein Sensor liegt jenseits eines seiner Grenzwerte.',
          begin: ({ vehicle, sensor, threshold, value }) =>
            `${sensor ?? 'Ein Sensor'} von ${vehicle} liegt ${threshold}${measures(value)}`,
          end: (said) =>
            `${said.sensor ?? 'Ein Sensor'} von ${said.vehicle} lag ${said.threshold}${after(said, 'für')}${measures(said.value)}`,
        },
        es: {
          name: 'Umbral de sensor',
          hint: 'Un sensor está fuera de uno de sus umbrales.',
          begin: ({ vehicle, sensor, threshold, value }) =>
            `${sensor ?? 'Un sensor'} de ${vehicle} está ${threshold}${measures(value)}`,
          end: (said) =>
            `${said.sensor ?? 'Un sensor'} de ${said.vehicle} estuvo ${said.threshold}${after(said, 'durante')}${measures(said.value)}`,
        },
        he: {
          name: 'חריגת חיישן',
          hint: 'חיישן חרג מאחד הספים שלו.',
          begin: ({ vehicle, sensor, threshold, value }) =>
            `חיישן${sensor === null ? '' : ` ${sensor}`} ברכב ${vehicle} ${threshold}${measures(value)}`,
          end: (said) =>
            `חיישן${said.sensor === null ? '' : ` ${said.sensor}`} ברכב ${said.vehicle} היה ${said.threshold}${after(said, 'במשך')}${measures(said.value)}`,
        },
      },
    },
  },
  fields: {
    sensorId: id<SensorId>(),
    sensorName: text({ about: 'Name of the sensor at that time.' }),
    sensorKind: word<SensorKind>({
      about: 'Kind of the sensor, such as `temperature`. More kinds may be added.',
      values: SENSOR_KINDS,
    }),
    unit: word<string>(),
    thresholdId: id<string>(),
    condition: choice(THRESHOLD_CONDITIONS),
    min: nullable(number({ column: 'threshold_min' })),
    max: nullable(number({ column: 'threshold_max' })),
    value: number({ about: 'Value of the sensor at this phase.', column: 'sensor_value' }),
    // For the condition `inside`: the first value.
    peakValue: number({ about: 'Value farthest beyond the threshold.', column: 'sensor_peak' }),
  },
  subject: ['sensorId', 'thresholdId'],
  // `gap`: the sensor sent no value for too long.
  endReasons: ['returned', 'gap', 'sensor-changed', 'no-longer-watched'],
  // The total is the farthest value. After a gap the end has the last value and its place.
  isSummed: true,
});

/** The value of a sensor was beyond one of its thresholds, from the first record that shows it. */
export type SensorThresholdExceeded = EventOf<typeof sensorThreshold>;
