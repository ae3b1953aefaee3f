import type { ReportKind } from '@outrider/client';
import { expect, test } from 'vitest';
import { presetRange } from '../../time-range.ts';
import {
  bodyOf,
  fileLook,
  fitting,
  linkOfTemplate,
  lookOf,
  type Question,
  queryOf,
  questionOf,
  reportLink,
  scheduleLink,
  shapeOf,
  shapeText,
  templateOf,
} from './state.ts';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const range = presetRange('lastWeek', 'Europe/Berlin', NOW);
const QUESTION: Question = {
  kind: 'events',
  range,
  vehicleIds: ['a', 'b'],
  groupId: null,
  period: null,
  eventKinds: ['speeding', 'alarm'],
  geozoneId: null,
  shape: null,
  maxPoints: null,
  workHours: null,
  ecoWeights: null,
  sensors: [],
  driverIds: [],
};
const LOOK = {
  columns: ['kind', 'startedAt'],
  sort: '-startedAt',
  pane: 'heat',
  measure: 'rows',
  by: null,
  groupBy: 'kind',
} as const;
const queryIn = (link: string) => new URL(link, 'http://localhost').searchParams;

test('a report is a link: what stands in it is what was asked', () => {
  const query = queryIn(reportLink(QUESTION, LOOK));
  expect(questionOf(query, 'Europe/Berlin', NOW)).toEqual(QUESTION);
  expect(lookOf(query)).toEqual(LOOK);
  const own = { ...QUESTION, range: { preset: null, fromMs: NOW - 3_600_000, toMs: NOW } };
  expect(questionOf(queryIn(reportLink(own)), null, NOW)).toEqual(own);
});

test('without a kind nothing is asked; what is not understood is left out', () => {
  expect(questionOf(new URLSearchParams('range=lastWeek'), null, NOW)).toBeNull();
  const strange = 'kind=x&period=year&points=many&shape=star:1,2&show=film&range=never';
  expect(questionOf(new URLSearchParams(strange), null, NOW)).toMatchObject({
    kind: 'x',
    period: null,
    maxPoints: null,
    shape: null,
    range: { preset: 'last7days' },
  });
  expect(lookOf(new URLSearchParams(strange)).pane).toBeNull();
});

test('shapes come back from the address', () => {
  for (const text of ['circle:30.31413,59.93863,300', 'polygon:30.1,59.9;30.2,59.9;30.2,59.8']) {
    const shape = shapeOf(text);
    expect(shape && shapeText(shape)).toBe(text);
  }
  expect(shapeOf('polygon:30.1,59.9;30.2,59.9;30.2,59.8')?.geometry).toEqual({
    type: 'Polygon',
    coordinates: [
      [
        [30.1, 59.9],
        [30.2, 59.9],
        [30.2, 59.8],
        [30.1, 59.9],
      ],
    ],
  });
  for (const text of [null, '', 'circle:1,2', 'circle:a,b,c', 'polygon:1,2;3,4', 'polygon:1;2;3'])
    expect(shapeOf(text)).toBeNull();
});

const kind = (parameters: Partial<ReportKind['parameters']>, hasTimeRange = true) =>
  ({
    kind: 'events',
    hasTimeRange,
    parameters: {
      period: null,
      eventKinds: null,
      geozoneId: false,
      shape: false,
      maxPoints: null,
      workHours: null,
      ecoWeights: null,
      sensors: false,
      driverIds: false,
      ...parameters,
    },
  }) as ReportKind;

test('only what the kind takes is sent', () => {
  const full: Question = { ...QUESTION, period: 'day', geozoneId: 'g', maxPoints: 500, groupId: 'h' };
  const events = kind({ eventKinds: { values: ['speeding'] } });
  expect(fitting(full, events)).toEqual({ ...QUESTION, groupId: 'h' });
  const query = queryOf(fitting(QUESTION, events), events, 'Europe/Berlin');
  expect(query).toEqual({
    from: '2026-01-04T23:00:00.000Z',
    to: '2026-01-11T23:00:00.000Z',
    vehicleId: ['a', 'b'],
    kind: 'speeding,alarm',
    timeZone: 'Europe/Berlin',
  });
  expect(queryOf(QUESTION, kind({}, false), 'UTC')).not.toHaveProperty('from');
  expect(bodyOf({ ...QUESTION, vehicleIds: [] })).toEqual({ kind: 'events', eventKinds: ['speeding', 'alarm'] });
});

test('hours of work stand in the address, in the question and in a template', () => {
  const question = { ...QUESTION, workHours: 'Mo-Fr 08:00-17:00; Sa 22:00-06:00' };
  expect(questionOf(queryIn(reportLink(question)), 'Europe/Berlin', NOW)).toEqual(question);
  expect(bodyOf(question)).toMatchObject({ workHours: question.workHours });
  expect(fitting(question, kind({})).workHours).toBeNull();
  const template = templateOf('Work', question, LOOK);
  const back = questionOf(queryIn(linkOfTemplate(template, range, null)), null, NOW);
  expect(back?.workHours).toBe(question.workHours);
});

test('sensors stand in the address, in the question and in a template, where the kind has them', () => {
  const question = { ...QUESTION, sensors: ['Cargo, left', 'Supply'] };
  expect(questionOf(queryIn(reportLink(question)), 'Europe/Berlin', NOW)).toEqual(question);
  expect(bodyOf(question)).toMatchObject({ sensors: question.sensors });
  const ofSensors = kind({ sensors: true });
  expect(queryOf(fitting(question, ofSensors), ofSensors, 'UTC')).toMatchObject({ sensor: question.sensors });
  expect(fitting(question, kind({})).sensors).toEqual([]);
  const template = templateOf('Cold', question, LOOK);
  expect(template.sensors).toEqual(question.sensors);
  expect(questionOf(queryIn(linkOfTemplate(template, range, null)), null, NOW)?.sensors).toEqual(question.sensors);
});

test('drivers stand in the address, in the question and in a template, where the kind has them', () => {
  const question = { ...QUESTION, driverIds: ['anna', 'boris'] };
  expect(questionOf(queryIn(reportLink(question)), 'Europe/Berlin', NOW)).toEqual(question);
  expect(bodyOf(question)).toMatchObject({ driverIds: question.driverIds });
  const ofDrivers = kind({ driverIds: true });
  expect(queryOf(fitting(question, ofDrivers), ofDrivers, 'UTC')).toMatchObject({ driverId: question.driverIds });
  expect(fitting(question, kind({})).driverIds).toEqual([]);
  const template = templateOf('Two', question, LOOK);
  expect(template.driverIds).toEqual(question.driverIds);
  expect(questionOf(queryIn(linkOfTemplate(template, range, null)), null, NOW)?.driverIds).toEqual(question.driverIds);
});

test('a file takes over what it can show', () => {
  const events = { ...kind({}), groupings: ['vehicle', 'kind'] } as ReportKind;
  expect(fileLook(LOOK, events, 'pdf')).toEqual({ columns: ['kind', 'startedAt'], groupBy: 'kind' });
  expect(fileLook(LOOK, events, 'xlsx')).toEqual({ groupBy: 'kind' });
  expect(fileLook(LOOK, events, 'csv')).toEqual({});
  expect(fileLook({ ...LOOK, groupBy: 'day' }, events, 'xlsx')).toEqual({});
});

test('a shape takes the place of a geofence', () => {
  const shape = shapeOf('circle:30,60,300');
  const visits = kind({ geozoneId: true, shape: true });
  expect(fitting({ ...QUESTION, geozoneId: 'g', shape }, visits)).toMatchObject({ geozoneId: null, shape });
});

test('a template leads back to its report; its interval moves along', () => {
  const template = templateOf('Week', QUESTION, LOOK);
  expect(template).toMatchObject({ name: 'Week', range: 'last-week', vehicleIds: ['a', 'b'], sort: '-startedAt' });
  const query = queryIn(linkOfTemplate(template, range, 'Europe/Berlin'));
  expect(query.get('range')).toBe('lastWeek');
  expect(questionOf(query, 'Europe/Berlin', NOW)).toEqual(QUESTION);
  const open = templateOf('Own', { ...QUESTION, range: { ...range, preset: null } }, LOOK);
  expect(open.range).toBeNull();
  const schedule = queryIn(scheduleLink({ ...template, format: 'pdf' }, range, 'Europe/Berlin'));
  expect(Object.fromEntries(schedule)).toMatchObject({ schedule: 'new', name: 'Week', format: 'pdf', groups: 'kind' });
  expect(queryIn(linkOfTemplate(open, range, null)).get('range')).toBe('lastWeek');
});
