import { type Position, positionJson } from '@outrider/domain';
import { z } from 'zod';
import { listOf, paging, readCursor, timeIn, writeCursor } from '../fields.ts';
import { badParameter } from '../problem.ts';
import { type Route, route } from '../route.ts';
import { PositionOut, vehicleKey } from './vehicles.ts';

const trackCursor = z.strictObject({
  fixTimeMs: z.int(),
  rejection: z.enum(['out-of-range', 'null-island', 'time-in-future', 'time-too-old', 'jump']).nullable(),
});

export const reportRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/reports/track',
    group: 'Reports',
    operationId: 'reportTrack',
    summary: 'Positions of a vehicle in a stretch of time, oldest first.',
    description: 'Good positions only: what was refused as a position is in no track.',
    query: z.object({
      ...paging,
      vehicleId: vehicleKey,
      from: timeIn.meta({ description: 'Time of the fix, inclusive.' }),
      to: timeIn.meta({ description: 'Time of the fix, exclusive.', examples: ['2026-01-16T12:00:00.000Z'] }),
    }),
    answers: { 200: { description: 'A page.', body: listOf(PositionOut) } },
    problems: ['not-found'],
    async handle({ query }, { reach }) {
      if (query.to <= query.from) throw badParameter('to', 'It must be later than from.');
      const { vehicleId, positions, next } = await reach.track(query.vehicleId, {
        fromMs: query.from,
        toMs: query.to,
        limit: query.limit,
        after: readCursor(trackCursor, query.cursor),
      });
      return {
        status: 200,
        body: {
          items: positions.map((position) => positionJson(vehicleId, positionAlone(position))),
          nextCursor: next && writeCursor(next),
        },
      };
    },
  }),
];

/** The archive knows more of a position than a position is: terminal, protocol, time of arrival. */
function positionAlone(archived: Position): Position {
  return {
    fixTimeMs: archived.fixTimeMs,
    latitude: archived.latitude,
    longitude: archived.longitude,
    valid: archived.valid,
    speedKmh: archived.speedKmh,
    courseDeg: archived.courseDeg,
    altitudeM: archived.altitudeM,
    satellites: archived.satellites,
    ignition: archived.ignition,
    odometerM: archived.odometerM,
    supplyV: archived.supplyV,
    fuelL: archived.fuelL,
    alarms: archived.alarms,
    attributes: archived.attributes,
  };
}
