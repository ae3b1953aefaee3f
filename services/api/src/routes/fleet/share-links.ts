import { MAX_SHARED_TRACK_DAYS, MAX_SHARED_VEHICLES } from '@outrider/access';
import { isoTime, type ShareLinkId, type VehicleId } from '@outrider/domain';
import type { ShareLink } from '@outrider/registry';
import { z } from 'zod';
import { id, idOut, line, listOf, pageAsked, pageReply, paging, timeIn, timeOut } from '../../fields/fields.ts';
import { callsOf, type Route } from '../../route.ts';

const { get, post, remove } = callsOf('Vehicles');

const EXAMPLE = {
  name: 'Delivery to Hill Street',
  vehicleIds: ['01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57'],
  track: null,
  expiresAt: '2026-01-16T12:00:00.000Z',
};
const LINK_EXAMPLE = {
  id: '01961f3d-4d90-7a1b-8c2d-5e6f7a8b9c0d',
  ownerId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  ...EXAMPLE,
  createdAt: '2026-01-15T12:00:00.000Z',
};
const fields = {
  id: idOut,
  ownerId: idOut.meta({ description: 'Who made it: it shows what this account may see.' }),
  name: z.string().nullable(),
  vehicleIds: z
    .array(idOut)
    .meta({ description: 'Without those that the caller may not see any more. Empty: it shows nothing to anyone.' }),
  track: z
    .strictObject({ from: timeOut, to: timeOut })
    .nullable()
    .meta({ description: 'The interval of its tracks; null: where the vehicles are now.' }),
  createdAt: timeOut,
  expiresAt: timeOut,
};
const LinkOut = z.strictObject(fields).meta({ id: 'ShareLink', examples: [LINK_EXAMPLE] });
const NewLinkOut = z
  .strictObject({
    ...fields,
    path: z.string().meta({
      description:
        'Where the link leads, on this service. It holds the token, is in this answer alone, and can’t be read again.',
    }),
  })
  .meta({ id: 'CreatedShareLink', examples: [{ ...LINK_EXAMPLE, path: '/s/Jm3vXQ0c5Yl8bTz1oWkR9w' }] });

function linkBody({ id: linkId, ownerId, name, vehicleIds, track, createdAtMs, expiresAtMs }: ShareLink) {
  return {
    id: linkId,
    ownerId,
    name,
    vehicleIds: [...vehicleIds],
    track: track && { from: isoTime(track.fromMs), to: isoTime(track.toMs) },
    createdAt: isoTime(createdAtMs),
    expiresAt: isoTime(expiresAtMs),
  };
}

const byId = z.object({ id: id<ShareLinkId>() });

export const shareLinkRoutes: Route[] = [
  get('/api/v1/share-links', {
    operationId: 'listShareLinks',
    summary: 'Links that show vehicles to others; a dealer’s users’ as well, for an operator everybody’s.',
    description: 'Those that have expired or were revoked are not listed.',
    query: z.object({
      ...paging,
      own: z.enum(['true', 'false']).optional().meta({ description: '`true`: the caller’s own only.' }),
    }),
    answers: { 200: { description: 'A page, in the order of their creation.', body: listOf(LinkOut) } },
    async handle({ query }, { access }) {
      return pageReply(await access.shareLinks.links(pageAsked(query), query.own === 'true'), linkBody);
    },
  }),
  post('/api/v1/share-links', {
    operationId: 'addShareLink',
    summary: 'Make a link that shows vehicles to anyone who has it, without a login.',
    description:
      'It shows their names, states, speeds and last fixes, or their tracks of an interval, and nothing else. A vehicle is shown only while who made the link may see it. The link ends at `expiresAt`, when it is revoked, and when the account is blocked or deleted.',
    body: z
      .strictObject({
        name: line(100).nullable().default(null).meta({ description: 'Shown above the map.' }),
        vehicleIds: z
          .array(id<VehicleId>())
          .min(1)
          .max(MAX_SHARED_VEHICLES)
          .refine((ids) => new Set(ids).size === ids.length, 'A vehicle is named twice.'),
        track: z
          .strictObject({ from: timeIn, to: timeIn })
          .nullable()
          .default(null)
          .meta({
            description: `Their tracks of this interval, ${MAX_SHARED_TRACK_DAYS} days at most, in place of where they are now.`,
          }),
        expiresAt: timeIn.meta({ description: 'At most `SHARE_LINK_MAX_DAYS` from now.' }),
      })
      .meta({ id: 'NewShareLink', examples: [EXAMPLE as never] }),
    answersSecret: true,
    answers: {
      201: {
        description: 'The new link, with its address, which is not shown again.',
        body: NewLinkOut,
        headers: { Location: 'URL of the link’s description.' },
      },
    },
    problems: ['quota-exceeded'],
    async handle({ body }, { access, nowMs }) {
      const { name, vehicleIds, track, expiresAt } = body;
      const wish = {
        name,
        vehicleIds,
        track: track && { fromMs: track.from, toMs: track.to },
        expiresAtMs: expiresAt,
      };
      const { link, token } = await access.shareLinks.add(wish, nowMs);
      return {
        status: 201,
        body: { ...linkBody(link), path: `/s/${token}` },
        headers: { location: `/api/v1/share-links/${link.id}`, 'cache-control': 'no-store' },
      };
    },
  }),
  get('/api/v1/share-links/{id}', {
    operationId: 'getShareLink',
    summary: 'One share link, without its token.',
    params: byId,
    answers: { 200: { description: 'The link, without its token.', body: LinkOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: linkBody(await access.shareLinks.link(params.id)) };
    },
  }),
  remove('/api/v1/share-links/{id}', {
    operationId: 'deleteShareLink',
    summary: 'Revoke a share link: from then on it shows nothing.',
    params: byId,
    answers: { 204: { description: 'The link shows nothing any more.' } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      await access.shareLinks.remove(params.id);
      return { status: 204 };
    },
  }),
];
