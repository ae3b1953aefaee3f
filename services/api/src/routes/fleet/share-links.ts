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
  ownerId: idOut.meta({
    description: 'Account that made the link. The link shows only vehicles that this account may see.',
  }),
  name: z.string().nullable(),
  vehicleIds: z.array(idOut).meta({
    description:
      'Vehicles of the link, without those that the caller may no longer see. If empty, the link shows nothing to anyone.',
  }),
  track: z.strictObject({ from: timeOut, to: timeOut }).nullable().meta({
    description: 'Time range of the tracks that the link shows. Null if it shows where the vehicles are now.',
  }),
  createdAt: timeOut,
  expiresAt: timeOut,
};
const LinkOut = z.strictObject(fields).meta({ id: 'ShareLink', examples: [LINK_EXAMPLE] });
const NewLinkOut = z
  .strictObject({
    ...fields,
    path: z.string().meta({
      description:
        'Path of the link on this service. It contains the token, is returned only in this answer, and cannot be read again.',
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
    summary: 'List share links: the caller’s own, for dealers also those of their users, for operators all.',
    description: 'Links that have expired or were revoked are not listed.',
    query: z.object({
      ...paging,
      own: z.enum(['true', 'false']).optional().meta({ description: '`true`: return only the caller’s own links.' }),
    }),
    answers: { 200: { description: 'A page of links, in the order of their creation.', body: listOf(LinkOut) } },
    async handle({ query }, { access }) {
      return pageReply(await access.shareLinks.links(pageAsked(query), query.own === 'true'), linkBody);
    },
  }),
  post('/api/v1/share-links', {
    operationId: 'addShareLink',
    summary: 'Add a share link, which shows vehicles to anyone who has it, without a login.',
    description:
      'The link shows the names, states, speeds and last fixes of the vehicles, or their tracks in a time range, and nothing else. A vehicle is shown only while the account that made the link may see it. The link ends at `expiresAt`, when it is revoked, and when the account is blocked or deleted. It shows nothing while the account does not have the right `share`.',
    body: z
      .strictObject({
        name: line(100).nullable().default(null).meta({ description: 'Name that is shown above the map.' }),
        vehicleIds: z
          .array(id<VehicleId>())
          .min(1)
          .max(MAX_SHARED_VEHICLES)
          .refine((ids) => new Set(ids).size === ids.length, 'A vehicle is listed twice.'),
        track: z
          .strictObject({ from: timeIn, to: timeIn })
          .nullable()
          .default(null)
          .meta({
            description: `Show the tracks in this time range, at most ${MAX_SHARED_TRACK_DAYS} days, instead of where the vehicles are now.`,
          }),
        expiresAt: timeIn.meta({
          description: 'Time at which the link ends: at most `SHARE_LINK_MAX_DAYS` days from now.',
        }),
      })
      .meta({ id: 'NewShareLink', examples: [EXAMPLE as never] }),
    answersSecret: true,
    answers: {
      201: {
        description: 'The new link, with its path, which is not shown again.',
        body: NewLinkOut,
        headers: { Location: 'URL of the share link in this API.' },
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
    summary: 'Get a share link, without its token.',
    params: byId,
    answers: { 200: { description: 'The link, without its token.', body: LinkOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: linkBody(await access.shareLinks.link(params.id)) };
    },
  }),
  remove('/api/v1/share-links/{id}', {
    operationId: 'deleteShareLink',
    summary: 'Revoke a share link. From then on, it shows nothing.',
    params: byId,
    answers: { 204: { description: 'The link is revoked.' } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      await access.shareLinks.remove(params.id);
      return { status: 204 };
    },
  }),
];
