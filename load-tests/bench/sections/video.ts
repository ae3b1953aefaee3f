import type { StreamFrame } from '@outrider/protocols';
import { recordedFrames, startVideoTerminal } from '@outrider/simulator';
import { openRest, type RestClient } from '../road/definitions.ts';
import { type Service, startService } from '../road/service.ts';
import { defineSection, figure } from '../section.ts';

const BASE = '/service/ovms/api';
const FRAGMENT_SECONDS = 60;
/** What a camera of 720p commonly sends. */
const BITS_PER_SECOND = 2_000_000;
const PICTURES_PER_SECOND = 25;
const AT_A_TIME = [1, 4, 8, 16];
const MB = 1_000_000;

interface Run {
  downloads: number;
  /** As many as downloads, unless something went wrong on the way. */
  attempts: number;
  seconds: number;
  timesRealTime: number;
  megabytesPerSecond: number;
  fileMb: number;
  peakMb: number | null;
  mbPerDownload: number | null;
  cpuSecondsPerVideoMinute: number | null;
}

/**
 * How fast fragments come off terminals that send as fast as they are taken, and what each download takes in memory.
 */
export const section = defineSection({
  about: 'fragments fetched at a time from JT/T 1078 terminals: times real time, memory for each',
  bare: null,
  async run(say, quick) {
    const runs: Run[] = [];
    for (const downloads of AT_A_TIME) {
      say(`${downloads} at a time`);
      runs.push(await measure(downloads, quick ? FRAGMENT_SECONDS / 10 : FRAGMENT_SECONDS));
    }
    return {
      result: { bitsPerSecond: BITS_PER_SECOND, runs },
      tables: [
        {
          title: `Video: fragments of ${BITS_PER_SECOND / MB} Mbit/s, as fast as they go, from the task to the stored file`,
          columns: [
            ...['at a time', 'attempts', 'seconds', 'times real time', 'MB/s', 'a file, MB', 'memory at most, MB'],
            ...['memory for each, MB', 'CPU seconds a minute of video'],
          ],
          rows: runs.map((run) => [
            run.downloads,
            run.attempts,
            run.seconds,
            run.timesRealTime,
            run.megabytesPerSecond,
            run.fileMb,
            run.peakMb,
            run.mbPerDownload,
            run.cpuSecondsPerVideoMinute,
          ]),
        },
      ],
    };
  },
  figures: ({ runs }) =>
    runs.flatMap((row) => [
      figure(`${row.downloads} downloads at a time`, 'MB/s', row.megabytesPerSecond),
      figure(`${row.downloads} downloads at a time: memory for each`, 'MB', row.mbPerDownload),
    ]),
});

async function measure(downloads: number, fragmentSeconds: number): Promise<Run> {
  const service = await startService({ VIDEO_MAX_DOWNLOADS: String(downloads) });
  const rest = await openRest(service);
  const frames = pictures();
  const phones = Array.from({ length: downloads }, (_, nth) => String(13_800_000_000 + nth));
  const terminals = phones.map((phone) =>
    startVideoTerminal({ host: service.host, port: service.ports.jt808, phone, frames }),
  );
  try {
    const profiles: string[] = [];
    for (const phone of phones) profiles.push(await addProfile(rest, phone));
    await until(() => terminals.every((terminal) => terminal.stats().online));
    // Once in small, so that what is measured is not how it is compiled.
    await fetchAll(service, rest, profiles, 2);
    const idleMb = await service.residentMb();
    const cpuBefore = await service.cpuSeconds();
    const began = performance.now();
    const { bytes, attempts } = await fetchAll(service, rest, profiles, fragmentSeconds);
    const seconds = (performance.now() - began) / 1000;
    const cpuAfter = await service.cpuSeconds();
    const peakMb = await service.peakResidentMb();
    return {
      downloads,
      attempts,
      seconds: rounded(seconds),
      timesRealTime: Math.round((downloads * fragmentSeconds) / seconds),
      megabytesPerSecond: rounded(bytes / seconds / MB),
      fileMb: rounded(bytes / downloads / MB),
      peakMb,
      mbPerDownload: peakMb === null || idleMb === null ? null : rounded((peakMb - idleMb) / downloads),
      cpuSecondsPerVideoMinute:
        cpuBefore === null || cpuAfter === null
          ? null
          : rounded((cpuAfter - cpuBefore) / ((downloads * fragmentSeconds) / 60)),
    };
  } finally {
    for (const terminal of terminals) await terminal.stop();
    rest.close();
    await service.stop();
  }
}

async function addProfile(rest: RestClient, phone: string): Promise<string> {
  const vehicle = (await rest.post('/api/v1/vehicles', { name: `Load ${phone}`, terminalId: phone })) as { id: string };
  const profile = (await rest.post(`${BASE}/profiles`, { vehicleId: vehicle.id })) as { id: string };
  return profile.id;
}

/** @returns the bytes of all files, and the attempts that they took */
async function fetchAll(
  service: Service,
  rest: RestClient,
  profiles: readonly string[],
  seconds: number,
): Promise<{ bytes: number; attempts: number }> {
  const startMs = Math.floor(Date.now() / 1000 - 3600) * 1000;
  const wish = {
    channel: 1,
    start: new Date(startMs).toISOString(),
    end: new Date(startMs + seconds * 1000).toISOString(),
  };
  const waiting = new Set<string>();
  for (const profileId of profiles) {
    const { id } = (await rest.post(`${BASE}/tasks`, { ...wish, profileId })) as { id: string };
    waiting.add(id);
  }
  let bytes = 0;
  let attempts = 0;
  await until(async () => {
    for (const id of waiting) {
      const answer = await fetch(`http://${service.host}:${service.ports.http}${BASE}/tasks/${id}`, {
        headers: { Authorization: `JWT ${rest.jwt}` },
      });
      const task = (await answer.json()) as {
        status: string;
        reason: string | null;
        attempts: number;
        file: { bytes: number } | null;
      };
      if (task.status === 'failed') throw new Error(`a task failed: ${task.reason}`);
      if (task.status !== 'done' || task.file === null) continue;
      waiting.delete(id);
      bytes += task.file.bytes;
      attempts += task.attempts;
    }
    return waiting.size === 0;
  });
  return { bytes, attempts };
}

/**
 * Frames as a camera of a common size sends them: real pictures of a small one, each with filler to the size that is
 * wanted, made once and dated anew for each second, so that the terminals cost next to nothing.
 */
function pictures(): (channel: number, startMs: number, endMs: number) => Iterable<StreamFrame> {
  const bytesPerPicture = BITS_PER_SECOND / 8 / PICTURES_PER_SECOND;
  const second = [...recordedFrames(1, 0, 1000)].map((frame): StreamFrame => {
    if (frame.kind === 'audio') return frame;
    // A filler unit (H.264, 7.3.2.7): a key picture is some times as large as the others.
    const size = Math.round(frame.kind === 'key' ? bytesPerPicture * 5 : bytesPerPicture * (20 / 24));
    const filler = Buffer.alloc(Math.max(0, size - frame.data.length - 6), 0xff);
    const unit = Buffer.concat([Buffer.of(0, 0, 0, 1, 12), filler, Buffer.of(0x80)]);
    return { ...frame, data: Buffer.concat([frame.data, unit]) };
  });
  return function* frames(_, startMs, endMs) {
    for (let at = Math.floor(startMs / 1000) * 1000; at < endMs; at += 1000)
      for (const frame of second) yield { ...frame, timestampMs: at + frame.timestampMs };
  };
}

async function until(reached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, 50));
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
