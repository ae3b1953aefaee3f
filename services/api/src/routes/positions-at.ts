import { badParameter } from '@outrider/access';
import { isoTime, type VehicleId } from '@outrider/domain';
import type { ArchivedFix } from '@outrider/warehouse';
import { z } from 'zod';
import { idOut, listOf, pageAsked, paging, timeIn, timeOut, writeCursor } from '../fields.ts';
import { type Route, route } from '../route.ts';
import { reportedVehicles } from './reports.ts';

/** Most vehicles have a fix this recently: only of the others more is read. */
const RECENT_MS = 6 * 3_600_000;
/** An older fix says nothing about where a vehicle was. */
const MAX_AGE_DAYS = 31;
const MAX_AGE_MS = MAX_AGE_DAYS * 86_400_000;

const PositionAt = z
  .strictObject({
    vehicleId: idOut,
    fixTime: timeOut,
    latitude: z.number(),
    longitude: z.number(),
    speedKmh: z.number().optional(),
    courseDeg: z.number().optional(),
    ignition: z.boolean().optional(),
  })
  .meta({
    id: 'PositionAt',
    examples: [
      {
        vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
        fixTime: '2026-01-15T11:59:55.000Z',
        latitude: 59.9386,
        longitude: 30.3141,
        speedKmh: 42.5,
        courseDeg: 270,
        ignition: true,
      },
    ],
  });

function fixBody({ fixTimeMs, speedKmh, courseDeg, ignition, ...place }: ArchivedFix): z.output<typeof PositionAt> {
  return {
    ...place,
    fixTime: isoTime(fixTimeMs),
    ...(speedKmh !== null && { speedKmh }),
    ...(courseDeg !== null && { courseDeg }),
    ...(ignition !== null && { ignition }),
  };
}

export const positionsAtRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/reports/positions-at',
    group: 'Reports',
    operationId: 'reportPositionsAt',
    summary: 'Where vehicles were at a moment: of each, the last valid fix until then.',
    description:
      'What the terminal did not say is left out. ' +
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
      const { archive } = access.reports.sources;
      const lastFixes = (vehicleIds: readonly VehicleId[], fromMs: number) =>
        archive.fixesBefore({ vehicleIds, fromMs, beforeMs: at + 1, count: 1, signal });
      const ids = page.map(({ id }) => id);
      const recent = await lastFixes(ids, at - RECENT_MS);
      const found = new Set(recent.map(({ vehicleId }) => vehicleId));
      const older = await lastFixes(
        ids.filter((id) => !found.has(id)),
        at - MAX_AGE_MS,
      );
      const fixes = [...recent, ...older].sort((a, b) => (a.vehicleId < b.vehicleId ? -1 : 1));
      return {
        status: 200,
        body: {
          items: fixes.map(fixBody),
          nextCursor: left.length > page.length ? writeCursor(page.at(-1)?.id) : null,
        },
      };
    },
  }),
];
