import { badParameter } from '@outrider/access';
import { isoTime } from '@outrider/domain';
import { z } from 'zod';
import { idOut, listOf, pageAsked, paging, timeIn, timeOut, writeCursor } from '../fields.ts';
import { type Route, route } from '../route.ts';
import { reportedVehicles } from './reports.ts';

/** An older fix says nothing about where a vehicle was. */
const MAX_AGE_DAYS = 31;
const MAX_AGE_MS = MAX_AGE_DAYS * 86_400_000;

const PositionAt = z
  .strictObject({ vehicleId: idOut, fixTime: timeOut, latitude: z.number(), longitude: z.number() })
  .meta({
    id: 'PositionAt',
    examples: [
      {
        vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
        fixTime: '2026-01-15T11:59:55.000Z',
        latitude: 59.9386,
        longitude: 30.3141,
      },
    ],
  });

export const positionsAtRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/reports/positions-at',
    group: 'Reports',
    operationId: 'reportPositionsAt',
    summary: 'Where vehicles were at a moment: of each, the last valid fix until then.',
    description:
      `Vehicles without a fix in the ${MAX_AGE_DAYS} days before are left out. A page is about \`limit\` vehicles, so it may show fewer; ` +
      'the last page is the one without `nextCursor`.',
    query: z.object({
      ...paging,
      ...reportedVehicles,
      at: timeIn.meta({ description: 'The moment, inclusive.' }),
    }),
    answers: { 200: { description: 'A page, in the order of the ids of vehicles.', body: listOf(PositionAt) } },
    problems: ['not-found', 'vehicle-suspended', 'too-much', 'unavailable'],
    async handle({ query: { at, vehicleId, groupId, ...asked } }, { access, signal }) {
      if (vehicleId !== undefined && groupId !== undefined)
        throw badParameter('groupId', 'Name a vehicle or a group, not both.');
      const { limit, after } = pageAsked(asked);
      const vehicles = await access.vehicles.ofReport(vehicleId, groupId);
      const left = after === null ? vehicles : vehicles.filter(({ id }) => id > after);
      const page = left.slice(0, limit);
      const fixes = await access.reports.sources.archive.fixesBefore({
        vehicleIds: page.map(({ id }) => id),
        fromMs: at - MAX_AGE_MS,
        beforeMs: at + 1,
        count: 1,
        signal,
      });
      return {
        status: 200,
        body: {
          items: fixes.map(({ fixTimeMs, ...fix }) => ({ ...fix, fixTime: isoTime(fixTimeMs) })),
          nextCursor: left.length > page.length ? writeCursor(page.at(-1)?.id) : null,
        },
      };
    },
  }),
];
