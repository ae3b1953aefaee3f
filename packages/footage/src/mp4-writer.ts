import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import type * as Media from 'mediabunny';
import { AAC_FRAME_SAMPLES, splitAdts } from './adts.ts';
import { expandG711, G711_SAMPLE_RATE } from './g711.ts';
import { copyMovieFirst } from './movie-first.ts';
import { joinNalUnits, type NalUnit, nalRole, type VideoCodec } from './nal-units.ts';
import { type PictureFormat, readPictureFormat } from './picture-format.ts';
import { type Picture, PictureGatherer } from './picture-gatherer.ts';
import { PictureTimes } from './picture-times.ts';
import { Timeline } from './timeline.ts';

/** A frame as a terminal streams it. */
export interface FootageFrame {
  kind: 'key' | 'predicted' | 'bidirectional' | 'audio' | 'data';
  /**
   * `h264` and `h265` in the form of Annex B; `g711a` and `g711u`; `aac` with ADTS headers. Others cannot be written.
   */
  codec: string;
  /** Milliseconds since an arbitrary start that the terminal chose. */
  timestampMs: number;
  data: Uint8Array;
}

export type AudioCodec = 'g711a' | 'g711u' | 'aac';

/** Facts about the file, up to now or complete. */
export interface FootageFacts {
  /** Bytes of pictures and sound; of the whole file once it is finished. */
  bytes: number;
  durationMs: number;
  videoCodec: VideoCodec | null;
  /** Codec of the terminal. The file contains G.711 sound as decoded 16-bit samples. */
  audioCodec: AudioCodec | null;
  width: number;
  height: number;
  videoFrames: number;
  keyFrames: number;
  /** Frames left out because they came before the first key picture, without which they cannot be decoded. */
  framesBeforeKey: number;
  /** Frames left out because they were no frames of the stream's codec. */
  framesUnreadable: number;
  audioFrames: number;
  /** Sound left out: in a codec that cannot be written, before the first picture, or too late. */
  audioDropped: number;
}

/** Why the frames cannot be written to a file. */
export type FootageFault = 'no-picture' | 'unsupported-codec' | 'bad-stream';

export class FootageError extends Error {
  readonly fault: FootageFault;

  constructor(fault: FootageFault, message: string) {
    super(message);
    this.name = 'FootageError';
    this.fault = fault;
  }
}

export interface Mp4WriterOptions {
  /** Path of a file that does not exist yet; it appears when it is finished. */
  path: string;
  /** Whether to write sound if the stream has some. */
  audio: boolean;
}

/** Writes pictures and sound as they came from a terminal into an MP4 file, without transcoding. */
export interface Mp4Writer {
  readonly facts: FootageFacts;
  /**
   * Takes the next frame. Callers must await it: that is the backpressure. From then on, the writer owns the frame's
   * memory.
   *
   * @throws {FootageError} when no file can be made of the stream
   * @throws {Error} when the disk refuses
   */
  add(frame: FootageFrame): Promise<void>;
  /**
   * Finishes the file, with its tables before the pictures, so that players can begin at once.
   *
   * @throws {FootageError} when no picture came with which decoding could begin
   */
  finish(): Promise<FootageFacts>;
  /** Ends without a file. Must also be called if {@link add} or {@link finish} threw. */
  abandon(): Promise<void>;
}

/** Loaded with the first file, because the library is 2 MB of source. */
async function loadMedia(): Promise<typeof Media> {
  const media = await import('mediabunny');
  // Errors report faults of a terminal's stream here; the library would print them to the console.
  media.Logging.level = media.LogLevel.Silent;
  return media;
}

/** Maximum wait for sound before the file is begun without it. */
const PRELUDE_MS = 1500;
const PRELUDE_BYTES = 4 * 1024 * 1024;
/** Maximum number of sound frames that may come before the first complete picture. */
const MAX_EARLY = 32;
/** Maximum number of frames: a quarter of an hour with 60 pictures a second and as much sound is a third of this. */
const MAX_FRAMES = 400_000;
const DISK_CHUNK_BYTES = 256 * 1024;
/** Sound with a smaller deviation from its time is assumed to follow the sound before without a pause. */
const SOUND_TOLERANCE_MS = 60;
const SOUND_TOO_LATE_MS = 500;
const SILENCE_PIECE_MS = 1000;

interface Sound {
  codec: AudioCodec;
  timestampMs: number;
  /** 16-bit samples for G.711, a frame with its ADTS header for AAC. */
  data: Uint8Array;
  durationMs: number;
  sampleRate: number;
  channels: number;
  objectType: number;
}

/** Creates a writer. Nothing is written before the contents of the stream are known. */
export function createMp4Writer(options: Mp4WriterOptions): Mp4Writer {
  return new Writer(options);
}

class Writer implements Mp4Writer {
  readonly facts: FootageFacts = {
    bytes: 0,
    durationMs: 0,
    videoCodec: null,
    audioCodec: null,
    width: 0,
    height: 0,
    videoFrames: 0,
    keyFrames: 0,
    framesBeforeKey: 0,
    framesUnreadable: 0,
    audioFrames: 0,
    audioDropped: 0,
  };
  readonly #path: string;
  readonly #partPath: string;
  readonly #wantsAudio: boolean;
  #gatherer: PictureGatherer | null = null;
  #format: PictureFormat | null = null;
  /** Frames since the first key picture, until the file is begun. */
  #prelude: ({ picture: Picture } | { sound: Sound })[] = [];
  #preludeBytes = 0;
  #zeroMs: number | null = null;
  /** Sound that came before the first complete picture. */
  #early: Sound[] = [];
  #media: typeof Media | null = null;
  #output: Media.Output | null = null;
  #file: FileHandle | null = null;
  #videoSource: Media.EncodedVideoPacketSource | null = null;
  #audioSource: Media.EncodedAudioPacketSource | null = null;
  /** The first sound, which describes the track. */
  #soundOf: Sound | null = null;
  #pictures = new PictureTimes(0);
  #sounds = new Timeline(0);
  #soundEndMs: number | null = null;
  /** Parameter sets in the file's header. */
  #described = new Set<string>();
  #ended = false;

  constructor({ path, audio }: Mp4WriterOptions) {
    this.#path = path;
    this.#partPath = `${path}.part`;
    this.#wantsAudio = audio;
  }

  async add(frame: FootageFrame): Promise<void> {
    if (this.#ended) throw new Error('the file is ended');
    if (frame.kind === 'data') return;
    if (frame.kind === 'audio') await this.#takeSound(frame);
    else await this.#takeVideo(frame.kind, frame);
  }

  async finish(): Promise<FootageFacts> {
    if (this.#ended) throw new Error('the file is ended');
    const last = this.#gatherer?.end();
    if (last) await this.#takePicture(last);
    if (this.#output === null) await this.#begin();
    const output = this.#output;
    if (output === null) {
      throw new FootageError(
        'no-picture',
        `no picture from which decoding could begin, of ${this.facts.framesBeforeKey}`,
      );
    }
    await output.finalize();
    this.#ended = true;
    await this.#closeFile();
    try {
      await copyMovieFirst(this.#partPath, this.#path);
    } finally {
      await rm(this.#partPath, { force: true });
    }
    this.facts.bytes = (await stat(this.#path)).size;
    return this.facts;
  }

  async abandon(): Promise<void> {
    const wasEnded = this.#ended;
    this.#ended = true;
    this.#prelude = [];
    if (!wasEnded && this.#output !== null) await this.#output.cancel();
    await this.#closeFile();
    await rm(this.#partPath, { force: true });
    await rm(this.#path, { force: true });
  }

  async #takeVideo(kind: 'key' | 'predicted' | 'bidirectional', frame: FootageFrame): Promise<void> {
    const { codec, timestampMs, data } = frame;
    if (codec !== 'h264' && codec !== 'h265') {
      if (this.#gatherer === null) throw new FootageError('unsupported-codec', `pictures coded as ${codec}`);
      this.facts.framesUnreadable++;
      return;
    }
    this.#gatherer ??= new PictureGatherer(codec);
    if (this.#gatherer.codec !== codec) {
      this.facts.framesUnreadable++;
      return;
    }
    const unreadable = this.#gatherer.unreadable;
    const picture = this.#gatherer.add({ kind, timestampMs, data });
    this.facts.framesUnreadable += this.#gatherer.unreadable - unreadable;
    if (picture !== null) await this.#takePicture(picture);
  }

  async #takePicture(picture: Picture): Promise<void> {
    if (this.#output !== null) return this.#writePicture(picture);
    if (this.#zeroMs === null) {
      const sps = this.#gatherer?.sequenceParameters ?? null;
      const format = this.#gatherer && sps ? readPictureFormat(this.#gatherer.codec, sps) : null;
      if (!picture.key || format === null) {
        this.facts.framesBeforeKey++;
        return;
      }
      this.#format = format;
      this.#zeroMs = picture.timestampMs;
    }
    this.#prelude.push({ picture });
    this.#preludeBytes += picture.bytes;
    for (const sound of this.#early.splice(0)) this.#prelude.push({ sound });
    await this.#beginWhenKnown(picture.timestampMs);
  }

  async #takeSound(frame: FootageFrame): Promise<void> {
    if (!this.#wantsAudio) return;
    const sounds = soundsOf(frame);
    const known = this.#soundOf ?? sounds[0];
    const fits = sounds.filter((sound) => known !== undefined && isAlike(sound, known));
    if (known === undefined || fits.length === 0 || (this.#output !== null && this.#audioSource === null)) {
      this.facts.audioDropped++;
      return;
    }
    this.#soundOf ??= known;
    for (const sound of fits) {
      if (this.#output !== null) await this.#writeSound(sound);
      else if (this.#zeroMs === null) {
        this.#early.push(sound);
        if (this.#early.length > MAX_EARLY) {
          this.#early.shift();
          this.facts.audioDropped++;
        }
      } else {
        this.#prelude.push({ sound });
        this.#preludeBytes += sound.data.length;
      }
    }
    if (this.#output === null) await this.#beginWhenKnown(frame.timestampMs);
  }

  async #beginWhenKnown(timestampMs: number): Promise<void> {
    const waitsForSound = this.#wantsAudio && this.#soundOf === null;
    const waitedMs = Math.abs(timestampMs - (this.#zeroMs ?? timestampMs));
    if (waitsForSound && waitedMs < PRELUDE_MS && this.#preludeBytes < PRELUDE_BYTES) return;
    await this.#begin();
  }

  /** Begins the file with the known contents of the stream, and writes the frames that waited. */
  async #begin(): Promise<void> {
    const gatherer = this.#gatherer;
    const format = this.#format;
    if (gatherer === null || format === null || this.#zeroMs === null) return;
    const { facts } = this;
    facts.videoCodec = gatherer.codec;
    facts.width = format.width;
    facts.height = format.height;
    this.#pictures = new PictureTimes(this.#zeroMs);
    this.#sounds = new Timeline(this.#zeroMs);

    const media = await loadMedia();
    this.#media = media;
    const file = await open(this.#partPath, 'wx');
    this.#file = file;
    const output = new media.Output({
      format: new media.Mp4OutputFormat({ fastStart: false }),
      target: new media.StreamTarget(
        new WritableStream<Media.StreamTargetChunk>({
          write: async ({ data, position }) => {
            await file.write(data, 0, data.length, position);
          },
        }),
        { chunked: true, chunkSize: DISK_CHUNK_BYTES },
      ),
    });
    this.#videoSource = new media.EncodedVideoPacketSource(gatherer.codec === 'h264' ? 'avc' : 'hevc');
    output.addVideoTrack(this.#videoSource);
    const sound = this.#soundOf;
    if (sound !== null) {
      facts.audioCodec = sound.codec;
      this.#audioSource = new media.EncodedAudioPacketSource(sound.codec === 'aac' ? 'aac' : 'pcm-s16');
      output.addAudioTrack(this.#audioSource);
    }
    await output.start();
    this.#output = output;
    const waited = this.#prelude;
    this.#prelude = [];
    for (const item of waited) {
      if ('picture' in item) await this.#writePicture(item.picture);
      else await this.#writeSound(item.sound);
    }
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  async #writePicture(picture: Picture): Promise<void> {
    const { facts } = this;
    const source = this.#videoSource;
    const gatherer = this.#gatherer;
    const format = this.#format;
    const media = this.#media;
    if (source === null || gatherer === null || format === null || media === null) return;
    this.#countFrame();

    const atMs = this.#pictures.place(picture);
    if (atMs === null) {
      facts.framesBeforeKey++;
      return;
    }
    const { stepMs } = this.#pictures;
    const isFirst = facts.videoFrames === 0;
    const data = joinNalUnits(isFirst ? this.#describe(picture, gatherer) : picture.units.filter(this.#isNews));
    const type = picture.key ? 'key' : 'delta';
    const packet = new media.EncodedPacket(data, type, atMs / 1000, stepMs / 1000);
    if (isFirst) {
      const { codecString: codec, width: codedWidth, height: codedHeight } = format;
      await source.add(packet, { decoderConfig: { codec, codedWidth, codedHeight } }).catch(asBadStream);
    } else await source.add(packet);
    facts.videoFrames++;
    if (picture.key) facts.keyFrames++;
    facts.bytes += data.length;
    facts.durationMs = Math.max(facts.durationMs, atMs + stepMs);
  }

  /** The first picture, preceded by all known parameter sets: they become the file's header. */
  #describe(picture: Picture, gatherer: PictureGatherer): NalUnit[] {
    for (const unit of gatherer.parameters) this.#described.add(Buffer.from(unit).toString('latin1'));
    return [...gatherer.parameters, ...picture.units.filter((unit) => nalRole(gatherer.codec, unit) !== 'parameters')];
  }

  /** Whether this unit is not one of the parameter sets in the file's header. */
  readonly #isNews = (unit: NalUnit): boolean =>
    this.#gatherer === null ||
    nalRole(this.#gatherer.codec, unit) !== 'parameters' ||
    !this.#described.has(Buffer.from(unit).toString('latin1'));

  async #writeSound(sound: Sound): Promise<void> {
    const { facts } = this;
    this.#countFrame();
    let atMs = this.#sounds.place(sound.timestampMs, true);
    const endMs = this.#soundEndMs;
    if (atMs < 0 || (endMs !== null && atMs < endMs - SOUND_TOO_LATE_MS)) {
      facts.audioDropped++;
      return;
    }
    if (endMs !== null) {
      if (atMs - endMs < SOUND_TOLERANCE_MS) atMs = endMs;
      else if (sound.codec !== 'aac') await this.#writeSilence(sound, endMs, atMs);
    }
    await this.#putSound(sound, sound.data, atMs, sound.durationMs);
    facts.audioFrames++;
  }

  /** Fills a pause with silence: samples have no times of their own, and would follow each other without a pause. */
  async #writeSilence(like: Sound, fromMs: number, toMs: number): Promise<void> {
    for (let atMs = fromMs; atMs < toMs; atMs += SILENCE_PIECE_MS) {
      const durationMs = Math.min(SILENCE_PIECE_MS, toMs - atMs);
      const samples = Math.round((durationMs * like.sampleRate) / 1000);
      if (samples > 0) await this.#putSound(like, Buffer.alloc(2 * like.channels * samples), atMs, durationMs);
    }
  }

  async #putSound(sound: Sound, data: Uint8Array, atMs: number, durationMs: number): Promise<void> {
    const source = this.#audioSource;
    const media = this.#media;
    if (source === null || media === null) return;
    const packet = new media.EncodedPacket(data, 'key', atMs / 1000, durationMs / 1000);
    const codec = sound.codec === 'aac' ? `mp4a.40.${sound.objectType}` : 'pcm-s16';
    const decoderConfig = { codec, sampleRate: sound.sampleRate, numberOfChannels: sound.channels };
    await source.add(packet, { decoderConfig }).catch(asBadStream);
    this.facts.bytes += data.length;
    this.#soundEndMs = atMs + durationMs;
  }

  /** Counts a frame and limits their number: the library keeps a little memory for each. */
  #countFrame(): void {
    const { videoFrames, audioFrames } = this.facts;
    if (videoFrames + audioFrames >= MAX_FRAMES) throw new FootageError('bad-stream', `more than ${MAX_FRAMES} frames`);
  }
}

/** The sound of a frame, in pieces that each have a time; none if its codec cannot be written. */
function soundsOf({ codec, timestampMs, data }: FootageFrame): Sound[] {
  if (codec === 'g711a' || codec === 'g711u') {
    const samples = expandG711(codec, data);
    if (samples.length === 0) return [];
    const durationMs = (samples.length / 2 / G711_SAMPLE_RATE) * 1000;
    return [
      { codec, timestampMs, data: samples, durationMs, sampleRate: G711_SAMPLE_RATE, channels: 1, objectType: 0 },
    ];
  }
  if (codec !== 'aac') return [];
  return splitAdts(data).map(({ bytes, sampleRate, channels, objectType }, i) => {
    const durationMs = (AAC_FRAME_SAMPLES / sampleRate) * 1000;
    return {
      codec: 'aac' as const,
      timestampMs: timestampMs + i * durationMs,
      data: bytes,
      durationMs,
      sampleRate,
      channels,
      objectType,
    };
  });
}

function isAlike(one: Sound, other: Sound): boolean {
  return one.codec === other.codec && one.sampleRate === other.sampleRate && one.channels === other.channels;
}

/** Reports errors of the library about an unreadable header as a fault of the stream. Disk errors stay unchanged. */
function asBadStream(error: unknown): never {
  if (error instanceof Error && !('code' in error)) throw new FootageError('bad-stream', error.message);
  throw error;
}
