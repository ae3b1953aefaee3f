import { badField, type ProfileShown, requireParallel, type TaskShown, type VideoFileShown } from '@outrider/access';
import {
  CAMERA_DIRECTIONS,
  checkStreamAddress,
  HIDDEN_CREDENTIALS,
  isFinal,
  isoTime,
  type TerminalId,
  type VehicleId,
  VIDEO_FAILURES,
  VIDEO_PROTOCOLS,
  VIDEO_QUALITIES,
  VIDEO_TASK_STATES,
  type VideoProfileId,
  type VideoTask,
  type VideoTaskId,
  type VideoTaskTransition,
  videoTaskJson,
  withoutCredentials,
} from '@outrider/domain';
import { z } from 'zod';
import { id, idOut, line, pageAsked, pageReply, paging, timeIn, timeOut } from '../fields/fields.ts';
import { FILE_REQUEST_HEADERS, fileReply } from '../http/file-reply.ts';
import { pageOf } from '../http/whole-list.ts';
import { entityHeaders, ResourceRoutes } from '../resource-routes.ts';
import { callsOf, type Reply, type Route } from '../route.ts';

const { get, post, patch, remove } = callsOf('VideoService');

const BASE = '/service/ovms/api';
const EXAMPLE = {
  profile: '01961f3d-1a76-7b2c-8d4e-6f5a3b9c7d21',
  task: '01961f3d-2b87-7c3d-9e5f-7a6b4c8d0e32',
  vehicle: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
};
const DEFAULT_FRAGMENT_SECONDS = 900;
const MAX_FRAGMENT_SECONDS = 86_400;
const MAX_CHANNELS = 64;

const isTimeZone = (zone: string) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== null;
  } catch {
    return false;
  }
};

const channels = z
  .array(
    z.strictObject({
      number: z.int().min(1).max(255).meta({ description: 'Number of the channel in the terminal.' }),
      name: line(100),
      direction: z.enum(CAMERA_DIRECTIONS).default('other'),
    }),
  )
  .min(1)
  .max(MAX_CHANNELS)
  .refine((all) => new Set(all.map(({ number }) => number)).size === all.length, 'Two channels have the same number.');
const address = z
  .string()
  .min(1)
  .max(2048)
  .meta({
    description:
      '`jt1078`: phone number of the terminal. `stream`: URL with the placeholder `{start}` and, if the recorder needs ' +
      'them, `{end}`, `{seconds}`, `{channel}`, `{stream}` and `{quality}`. Times are written as `20260115T120000Z`, or ' +
      'in another format, as in `{start:iso}`, `{start:unix}` or `{start:local}`.',
    examples: ['13800000007'],
  });
const quality = z.enum(VIDEO_QUALITIES).meta({ description: '`main`: full quality. `sub`: reduced quality and size.' });
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'It must be the IANA name of a time zone.')
  .meta({ examples: ['Asia/Shanghai'] });
const profileFields = {
  name: line(200),
  channels,
  quality,
  audio: z.boolean(),
  maxFragmentSeconds: z.number().min(1).max(MAX_FRAGMENT_SECONDS),
  maxParallelDownloads: z.int().min(1).max(16),
  timeZone,
};

const ProfileOut = z
  .strictObject({
    id: idOut,
    vehicleId: idOut,
    terminalId: z.string().nullable().meta({ description: 'Terminal of the vehicle. Null if it has none.' }),
    name: z.string(),
    protocol: z.enum(VIDEO_PROTOCOLS),
    address: z.string().meta({ description: 'As it was set, but login and password in a URL are replaced by `***`.' }),
    channels: z.array(z.strictObject({ number: z.int(), name: z.string(), direction: z.enum(CAMERA_DIRECTIONS) })),
    quality,
    audio: z.boolean(),
    maxFragmentSeconds: z.number(),
    maxParallelDownloads: z.int(),
    timeZone: z
      .string()
      .meta({ description: 'IANA name of the time zone in which the terminal labels its recordings.' }),
    addressRefused: z.boolean().meta({
      description: 'True if the address is the terminal of another vehicle. No video is fetched until it is changed.',
    }),
    online: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether the terminal is connected. Null if this is not known yet.' }),
    onlineChangedAt: timeOut.nullable().meta({ description: 'Time at which `online` last changed.' }),
  })
  .meta({
    id: 'VideoProfile',
    examples: [
      {
        id: EXAMPLE.profile,
        vehicleId: EXAMPLE.vehicle,
        terminalId: '13800000007',
        name: 'Dash camera',
        protocol: 'jt1078',
        address: '13800000007',
        channels: [{ number: 1, name: 'Road', direction: 'front' }],
        quality: 'main',
        audio: true,
        maxFragmentSeconds: 900,
        maxParallelDownloads: 1,
        timeZone: 'Asia/Shanghai',
        addressRefused: false,
        online: true,
        onlineChangedAt: '2026-01-15T11:00:00.000Z',
      },
    ],
  });

const FileOut = z.strictObject({
  bytes: z.int(),
  durationSeconds: z.number(),
  videoCodec: z.string(),
  audioCodec: z.string().nullable(),
  frames: z.int(),
  packetsLost: z.int().meta({ description: 'Number of packets that were lost on the way from the terminal.' }),
  expiresAt: timeOut.meta({ description: 'Time at which the file is deleted at the latest.' }),
});

const taskFields = {
  id: idOut,
  profileId: idOut,
  vehicleId: idOut,
  createdBy: idOut
    .nullable()
    .meta({ description: 'Account that created the task. Null if it was deleted or is not visible to the caller.' }),
  channel: z.int(),
  start: timeOut,
  end: timeOut,
  quality,
  audio: z.boolean(),
  status: z.enum(VIDEO_TASK_STATES).meta({
    description:
      '`new`: created. `waiting`: the terminal is offline, or the next attempt is not due. `requested`: the terminal was ' +
      'asked to play the recording. `downloading`: video is arriving. `processing`: the file is being finished and ' +
      'stored. `done`, `failed` and `cancelled` are final.',
  }),
  reason: z.enum(VIDEO_FAILURES).nullable().meta({
    description: 'Result of the last attempt, or the reason why the task failed. Null if there is nothing to report.',
  }),
  detail: z.string().nullable(),
  attempts: z.int(),
  progress: z.strictObject({ percent: z.int().min(0).max(100), bytes: z.int() }),
  createdAt: timeOut,
  changedAt: timeOut,
  expiresAt: timeOut.meta({ description: 'No attempt is made after this time.' }),
  nextAttemptAt: timeOut.nullable(),
  finishedAt: timeOut.nullable(),
  file: FileOut.nullable().meta({
    description: 'The video file. Null until the task is done, and after the file was deleted.',
  }),
  fileDeletedAt: timeOut.nullable(),
};
const TASK_EXAMPLE = {
  id: EXAMPLE.task,
  profileId: EXAMPLE.profile,
  vehicleId: EXAMPLE.vehicle,
  createdBy: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  channel: 1,
  start: '2026-01-15T11:30:00.000Z',
  end: '2026-01-15T11:31:00.000Z',
  quality: 'main' as const,
  audio: true,
  status: 'done' as const,
  reason: null,
  detail: null,
  attempts: 1,
  progress: { percent: 100, bytes: 7_864_320 },
  createdAt: '2026-01-15T12:00:00.000Z',
  changedAt: '2026-01-15T12:00:20.000Z',
  expiresAt: '2026-01-16T12:00:00.000Z',
  nextAttemptAt: null,
  finishedAt: '2026-01-15T12:00:20.000Z',
  file: {
    bytes: 7_864_320,
    durationSeconds: 60,
    videoCodec: 'h264',
    audioCodec: 'g711a',
    frames: 1500,
    packetsLost: 0,
    expiresAt: '2026-02-14T12:00:20.000Z',
  },
  fileDeletedAt: null,
};
const ListedTaskOut = z.strictObject(taskFields).meta({ id: 'ListedVideoTask', examples: [TASK_EXAMPLE] });
const TaskOut = z
  .strictObject({
    ...taskFields,
    history: z.array(
      z.strictObject({
        status: z.enum(VIDEO_TASK_STATES),
        at: timeOut,
        reason: z.enum(VIDEO_FAILURES).nullable(),
        detail: z.string().nullable(),
      }),
    ),
  })
  .meta({
    id: 'VideoTask',
    examples: [
      {
        ...TASK_EXAMPLE,
        history: (['new', 'requested', 'downloading', 'processing', 'done'] as const).map((status, nth) => ({
          status,
          at: `2026-01-15T12:00:${String(nth * 5).padStart(2, '0')}.000Z`,
          reason: null,
          detail: null,
        })),
      },
    ],
  });

const StorageOut = z
  .strictObject({
    retentionDays: z.number().meta({ description: 'Number of days for which a file is kept.' }),
    quotaBytes: z.int().meta({
      description: 'Maximum total size of all files, in bytes. Above it, the oldest files are deleted first.',
    }),
    usedBytes: z.int(),
    files: z.int(),
    oldestAt: timeOut.nullable(),
    unfinishedTasks: z.int(),
  })
  .meta({
    id: 'VideoStorage',
    examples: [
      {
        retentionDays: 30,
        quotaBytes: 10_485_760_000,
        usedBytes: 7_864_320,
        files: 1,
        oldestAt: '2026-01-15T12:00:20.000Z',
        unfinishedTasks: 3,
      },
    ],
  });

const byTask = z.object({ task_id: id<VideoTaskId>() });

function profileBody(
  { profile, presence, addressRefused }: ProfileShown,
  terminalId: string | null,
): z.output<typeof ProfileOut> {
  const { kind: _, version: __, ...fields } = profile;
  return {
    ...fields,
    terminalId,
    address: withoutCredentials(profile.address),
    channels: profile.channels.map((channel) => ({ ...channel })),
    addressRefused,
    online: presence?.online ?? null,
    onlineChangedAt: presence && isoTime(presence.sinceMs),
  };
}

function taskBody({ task, fileExpiresAtMs }: TaskShown): Record<string, unknown> {
  const { file, ...fields } = videoTaskJson(task);
  return {
    ...fields,
    createdBy: task.createdBy,
    file: file === null || fileExpiresAtMs === null ? null : { ...file, expiresAt: isoTime(fileExpiresAtMs) },
  };
}

function taskReply(status: number, shown: TaskShown & { history: VideoTaskTransition[] }): Reply {
  const { task, history } = shown;
  return {
    status,
    body: {
      ...taskBody(shown),
      history: history.map(({ state, atMs, reason, detail }) => ({ status: state, at: isoTime(atMs), reason, detail })),
    },
    headers: {
      ...entityHeaders(status, `${BASE}/tasks`, { id: task.id, version: task.changedAtMs }),
      ...(isFinal(task.state) ? {} : { 'retry-after': String(secondsToWait(task)) }),
    },
  };
}

/** Seconds after which a client should poll again: an offline terminal takes longer to return. */
function secondsToWait({ state }: VideoTask): number {
  return state === 'waiting' ? 10 : 2;
}

const profiles = new ResourceRoutes({
  group: 'VideoService',
  path: `${BASE}/profiles`,
  operations: ['VideoProfile', 'VideoProfiles'],
  noun: 'video profile',
  params: z.object({ profile_id: id<VideoProfileId>() }),
  body: ProfileOut,
  show: (shown: ProfileShown, { access }) => profileBody(shown, access.vehicles.terminalOf(shown.profile.vehicleId)),
  entityOf: ({ profile }) => profile,
  scope: 'video',
});
const oneTask = {
  description: 'The task as it is now, with its state and its file.',
  body: TaskOut,
  headers: {
    ETag: 'Version of the task, for `If-Match`.',
    'Retry-After': 'Seconds to wait before the next query. Only while the task is not finished.',
  },
};
const ETAG_ALONE = { ETag: oneTask.headers.ETag };

/** Rejects a URL as it is shown, in which login and password are hidden. */
function requireStreamAddress(text: string): void {
  const wrong = checkStreamAddress(text);
  if (wrong !== null) throw badField('/address', wrong);
  if (text.includes(`//${HIDDEN_CREDENTIALS}@`) || text.includes(`=${HIDDEN_CREDENTIALS}`))
    throw badField(
      '/address',
      'The login and password in this URL are hidden: enter them again, or leave the address out.',
    );
}

const FILE_HEADERS = {
  'Content-Disposition': 'Suggested file name, made of vehicle, time and channel.',
  ETag: 'Changes only if the file changes.',
  'Last-Modified': 'Time at which the file was stored.',
  'Accept-Ranges': '`bytes`.',
};
const aVideo = z.string().meta({ format: 'binary', examples: ['the bytes of an MP4'] });

export const videoRoutes: Route[] = [
  profiles.list({
    summary: 'List the video profiles of vehicles that the caller may see.',
    description:
      'All calls of this group are for operators, dealers, and users who were granted the service `video`. The list is ' +
      'empty for a `terminalId` that the caller may not see, or whose vehicle has no profile.',
    query: z.object({
      ...paging,
      terminalId: z
        .string()
        .min(1)
        .max(64)
        .optional()
        .meta({ description: 'Return only the profile of the vehicle with this terminal.', examples: ['13800000007'] }),
    }),
    problems: ['forbidden'],
    page: (query, { access }) => access.video.profiles(query.terminalId as TerminalId | undefined, pageAsked(query)),
  }),
  profiles.add({
    summary: 'Add a video profile to a vehicle.',
    description:
      'A vehicle has at most one video profile. The answer shows the defaults of the fields that were left out. For ' +
      '`jt1078`, `address` defaults to the terminal of the vehicle, and must be that terminal; only operators may use a ' +
      'terminal that no vehicle has instead. For `stream`, `address` is required.',
    body: z
      .strictObject({
        vehicleId: id<VehicleId>(),
        protocol: z.enum(VIDEO_PROTOCOLS).default('jt1078'),
        address: address.optional(),
        ...profileFields,
        name: profileFields.name.default('Video'),
        channels: channels.default([{ number: 1, name: 'Channel 1', direction: 'front' }]),
        quality: quality.default('main'),
        audio: profileFields.audio.default(true),
        maxFragmentSeconds: profileFields.maxFragmentSeconds.default(DEFAULT_FRAGMENT_SECONDS),
        maxParallelDownloads: profileFields.maxParallelDownloads.default(1),
        timeZone: timeZone.default('Asia/Shanghai'),
      })
      .meta({
        id: 'NewVideoProfile',
        examples: [
          {
            vehicleId: EXAMPLE.vehicle,
            address: '13800000007',
            channels: [{ number: 1, name: 'Road', direction: 'front' }],
          },
        ],
      }),
    problems: ['forbidden', 'conflict'],
    async add(body, { access }) {
      if (body.protocol === 'stream') {
        if (body.address === undefined) throw badField('/address', 'It must be the URL of the source.');
        requireStreamAddress(body.address);
      }
      requireParallel(body.protocol, body.maxParallelDownloads);
      return access.video.addProfile({ ...body, address: body.address });
    },
  }),
  profiles.get({ problems: ['forbidden'], get: ({ profile_id: id }, { access }) => access.video.profile(id) }),
  profiles.change({
    summary: 'Change a video profile (JSON merge patch).',
    description: 'The change applies from the next attempt of each task.',
    body: z
      .strictObject({ ...profileFields, address })
      .partial()
      .meta({ id: 'VideoProfilePatch', examples: [{ quality: 'sub' }] }),
    problems: ['forbidden', 'conflict'],
    async change({ profile_id: id }, body, { access, ifMatch }) {
      const { profile } = await access.video.profile(id);
      if (profile.protocol === 'stream' && body.address !== undefined) requireStreamAddress(body.address);
      return access.video.changeProfile(id, ifMatch, body);
    },
  }),
  profiles.remove({
    summary: 'Delete a video profile. Its unfinished tasks fail; its files are kept.',
    problems: ['forbidden'],
    remove: ({ profile_id: id }, { access, ifMatch }) => access.video.removeProfile(id, ifMatch),
  }),
  post(`${BASE}/tasks`, {
    operationId: 'addVideoTask',
    scope: 'video',
    summary: 'Order a fragment of video.',
    description:
      'Rejected if the fragment lies in the future, if it is longer than the profile allows, or if the profile has no ' +
      'such channel. The tasks of a profile are processed in the order of their creation, at most ' +
      '`maxParallelDownloads` at a time. They wait while the terminal is offline.',
    body: z
      .strictObject({
        profileId: id<VideoProfileId>(),
        channel: z.int().min(1).max(255),
        start: timeIn,
        end: timeIn,
        quality: quality.optional().meta({ description: 'Default: that of the profile.' }),
        audio: z.boolean().optional().meta({ description: 'Default: that of the profile.' }),
      })
      .meta({
        id: 'NewVideoTask',
        examples: [
          {
            profileId: EXAMPLE.profile,
            channel: 1,
            start: '2026-01-15T11:30:00.000Z',
            end: '2026-01-15T11:31:00.000Z',
          },
        ],
      }),
    answers: { 201: { ...oneTask, description: 'The new task.' } },
    problems: ['forbidden', 'conflict'],
    async handle({ body }, { access, nowMs }) {
      const { start, end, ...rest } = body;
      const wish = { ...rest, startMs: start, endMs: end, quality: body.quality, audio: body.audio };
      const { task } = await access.video.addTask(wish, nowMs);
      return taskReply(201, await access.video.task(task.id));
    },
  }),
  get(`${BASE}/tasks`, {
    operationId: 'listVideoTasks',
    scope: 'video',
    summary: 'List the video tasks of vehicles that the caller may see, newest first.',
    query: z.object({
      ...paging,
      profileId: id<VideoProfileId>().optional().meta({ description: 'Return only tasks of this profile.' }),
      status: z.enum(VIDEO_TASK_STATES).optional().meta({ description: 'Return only tasks in this state.' }),
    }),
    answers: { 200: pageOf(ListedTaskOut) },
    problems: ['not-found', 'forbidden'],
    async handle({ query }, { access }) {
      const { profileId, status: state } = query;
      return pageReply(await access.video.tasks({ profileId, state }, pageAsked(query)), taskBody);
    },
  }),
  get(`${BASE}/tasks/{task_id}`, {
    operationId: 'getVideoTask',
    scope: 'video',
    summary: 'Get a video task, with its progress and history.',
    params: byTask,
    answers: { 200: oneTask },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access }) {
      return taskReply(200, await access.video.task(params.task_id));
    },
  }),
  post(`${BASE}/tasks/{task_id}/cancel`, {
    operationId: 'cancelVideoTask',
    scope: 'video',
    summary: 'Cancel a video task.',
    description:
      'Only for the account that created the task, and accounts with the right `edit-vehicles`. A task that is done or failed cannot be cancelled. Cancelling a task again has no effect.',
    params: byTask,
    answers: { 200: { ...oneTask, headers: ETAG_ALONE } },
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params }, { access }) {
      return taskReply(200, await access.video.cancelTask(params.task_id));
    },
  }),
  patch(`${BASE}/tasks/{task_id}`, {
    operationId: 'changeVideoTask',
    scope: 'video',
    summary: 'Change a video task before its terminal is asked to play (JSON merge patch).',
    description:
      'Only for the account that created the task, and accounts with the right `edit-vehicles`. A task can be changed ' +
      'while it is `new` or `waiting`; later the call is refused as a conflict. The task is tried again at once. ' +
      '`expiresAt` stays the same.',
    params: byTask,
    body: z
      .strictObject({
        channel: z.int().min(1).max(255),
        start: timeIn,
        end: timeIn,
        quality,
        audio: z.boolean(),
      })
      .partial()
      .meta({ id: 'VideoTaskPatch', examples: [{ quality: 'sub', audio: false }] }),
    conditional: true,
    answers: { 200: oneTask },
    problems: ['not-found', 'forbidden', 'conflict', 'stale'],
    async handle({ params, body }, { access, ifMatch, nowMs }) {
      const { start, end, ...rest } = body;
      const patch = { ...rest, startMs: start, endMs: end };
      return taskReply(200, await access.video.changeTask(params.task_id, ifMatch, patch, nowMs));
    },
  }),
  remove(`${BASE}/tasks/{task_id}`, {
    operationId: 'deleteVideoTask',
    scope: 'video',
    summary: 'Delete a video task and its video.',
    description:
      'Only for the account that created the task, and accounts with the right `edit-vehicles`. An unfinished task is stopped. This cannot be undone.',
    params: byTask,
    conditional: true,
    answers: { 204: { description: 'The task and its video are deleted.' } },
    problems: ['not-found', 'forbidden', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.video.removeTask(params.task_id, ifMatch);
      return { status: 204 };
    },
  }),
  get(`${BASE}/tasks/file/{task_id}`, {
    operationId: 'getVideoFile',
    scope: 'video',
    summary: 'Download the video of a finished task, as MP4.',
    description: 'With `Range`, a part of the video is returned. `HEAD` is supported.',
    headers: FILE_REQUEST_HEADERS,
    params: byTask,
    answers: {
      200: { description: 'The file.', body: aVideo, mediaType: 'video/mp4', headers: FILE_HEADERS },
      206: {
        description: 'The requested part of the file.',
        body: aVideo,
        mediaType: 'video/mp4',
        headers: { ...FILE_HEADERS, 'Content-Range': 'Range of the bytes in this answer, and the length of the file.' },
      },
      304: { description: 'The client already has the file.', headers: FILE_HEADERS },
    },
    problems: ['not-found', 'forbidden', 'not-done', 'gone', 'range-not-satisfiable'],
    async handle({ params }, { access, method, header }) {
      const { video } = access;
      const file = await video.file(params.task_id);
      const { task, bytes, sha256 } = file;
      const sent = {
        mediaType: 'video/mp4',
        disposition: dispositionOf(file),
        bytes,
        sha256,
        modifiedMs: task.finishedAtMs ?? task.changedAtMs,
        read: (start: number, end: number) => video.bytes(task.id, start, end),
      };
      return fileReply(sent, { method, header });
    },
  }),
  remove(`${BASE}/tasks/file/{task_id}`, {
    operationId: 'deleteVideoFile',
    scope: 'video',
    summary: 'Delete the video of a finished task. The task stays in the list.',
    description:
      'Only for the account that created the task, and accounts with the right `edit-vehicles`. This cannot be undone. Deleting the video again has no effect.',
    params: byTask,
    answers: { 204: { description: 'The video is deleted.' } },
    problems: ['not-found', 'forbidden', 'not-done'],
    async handle({ params }, { access }) {
      await access.video.removeFile(params.task_id);
      return { status: 204 };
    },
  }),
  get(`${BASE}/storage`, {
    operationId: 'getVideoStorage',
    scope: 'video',
    summary: 'Get the use and the limits of the video storage.',
    description: 'For operators.',
    answers: { 200: { description: 'Use and limits of the video storage.', body: StorageOut } },
    problems: ['forbidden'],
    async handle(_, { access }) {
      const { usage, config, waiting } = await access.video.storage();
      return {
        status: 200,
        body: {
          retentionDays: config.retentionDays,
          quotaBytes: config.quotaBytes,
          usedBytes: usage.bytes,
          files: usage.files,
          oldestAt: usage.oldestMs === null ? null : isoTime(usage.oldestMs),
          unfinishedTasks: [...waiting.values()].reduce((sum, count) => sum + count, 0),
        },
      };
    },
  }),
];

/** `Content-Disposition` with a descriptive file name (RFC 6266): in ASCII for old clients, else unchanged. */
function dispositionOf({ task, vehicle }: VideoFileShown): string {
  const time = new Date(task.startMs).toISOString().slice(0, 19).replaceAll(':', '-');
  const name = `${vehicle.name} ${time}Z channel ${task.channel}.mp4`.replaceAll(/[/\\:*?"<>|]/g, '-');
  const ascii = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
