import { badParameter } from '@outrider/access';
import { isoTime, type VehicleId } from '@outrider/domain';
import { type ArchivedFix, MAX_FLEET_OF_FIXES, type Warehouse } from '@outrider/warehouse';
import { z } from 'zod';
import { idOut, listOf, pageAsked, paging, timeIn, timeOut, writeCursor } from '../../fields/fields.ts';
import { answerList, pageOrWhole, WHOLE_LIST } from '../../http/whole-list.ts';
import { type Reply, type Route, route } from '../../route.ts';
import { reportedVehicles } from '../reports/reports.ts';

/** Age beyond which a fix is too old to locate a vehicle. */
const MAX_AGE_DAYS = 31;
/**
 * Search windows before the moment, the shortest first. Moving vehicles have a fix within minutes, most others within
 * hours; only vehicles without one are searched further back.
 */
const LOOKED_BACK_MS = [10 * 60_000, 6 * 3_600_000, MAX_AGE_DAYS * 86_400_000];

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

/** The last fix of each vehicle up to a moment, ordered by vehicle id. */
async function fixesAt(
  archive: Pick<Warehouse, 'fixesBefore'>,
  ids: readonly VehicleId[],
  atMs: number,
  signal: AbortSignal,
): Promise<ArchivedFix[]> {
  let left = ids;
  const found: ArchivedFix[] = [];
  for (const agoMs of LOOKED_BACK_MS) {
    const fixes = await archive.fixesBefore({
      vehicleIds: left,
      fromMs: atMs - agoMs,
      beforeMs: atMs + 1,
      count: 1,
      signal,
    });
    found.push(...fixes);
    const known = new Set(fixes.map(({ vehicleId }) => vehicleId));
    left = left.filter((id) => !known.has(id));
    if (left.length === 0) break;
  }
  return found.sort((a, b) => (a.vehicleId < b.vehicleId ? -1 : 1));
}

export const positionsAtRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/reports/positions-at',
    group: 'Reports',
    operationId: 'reportPositionsAt',
    summary: 'Get the positions of vehicles at a moment: the last valid fix of each vehicle up to then.',
    description:
      'Values that the terminal did not send are left out. ' +
      `Vehicles without a fix in the ${MAX_AGE_DAYS} days before the moment are left out. A page covers \`limit\` vehicles, so it may contain fewer positions; ` +
      `on the last page, \`nextCursor\` is null. ${WHOLE_LIST}`,
    query: z.object({
      ...paging,
      ...reportedVehicles,
      at: timeIn.meta({ description: 'The moment, inclusive.' }),
    }),
    answers: {
      200: pageOrWhole(
        { description: 'A page of positions, in the order of the vehicle ids.', body: listOf(PositionAt) },
        PositionAt,
      ),
    },
    problems: ['not-found', 'vehicle-suspended', 'too-much', 'unavailable'],
    async handle({ query: { at, vehicleId, groupId, ...asked } }, context) {
      if (vehicleId !== undefined && groupId !== undefined)
        throw badParameter('groupId', 'Name a vehicle or a group, not both.');
      const { access, signal } = context;
      const vehicles = await access.vehicles.ofReport(vehicleId, groupId);
      const { archive } = access.reports.sources;
      const page = async (query: typeof asked): Promise<Reply> => {
        const { limit, after } = pageAsked(query);
        const left = after === null ? vehicles : vehicles.filter(({ id }) => id > after);
        const ids = left.slice(0, limit).map(({ id }) => id);
        const fixes = await fixesAt(archive, ids, at, signal);
        return {
          status: 200,
          body: { items: fixes.map(fixBody), nextCursor: left.length > ids.length ? writeCursor(ids.at(-1)) : null },
        };
      };
      return answerList(asked, context, page, MAX_FLEET_OF_FIXES);
    },
  }),
];
