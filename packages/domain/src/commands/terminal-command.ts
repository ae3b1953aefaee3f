import type { TerminalId } from '../ids.ts';
import type { CommandOrder } from './vehicle-command.ts';

/** Which of a recording's tracks are meant. */
export type RecordedMedia = 'video-and-audio' | 'audio' | 'video';

/** A camera's picture in full, or its smaller copy; `any` leaves it to the terminal. */
export type VideoStream = 'any' | 'main' | 'sub';

/** Which of the terminal's stores a recording lies in. */
export type VideoStorage = 'any' | 'main' | 'backup';

/** What the service can ask of a terminal that records video. Times are Unix milliseconds. */
export type MediaCommand =
  | {
      type: 'list-recordings';
      channel: number;
      startMs: number;
      endMs: number;
      media: RecordedMedia;
      stream: VideoStream;
    }
  | {
      type: 'play-recording';
      /** Where the terminal is to send the pictures to. A port of 0 is not offered. */
      server: { host: string; tcpPort: number; udpPort: number };
      channel: number;
      startMs: number;
      endMs: number;
      media: RecordedMedia;
      stream: VideoStream;
    }
  | {
      type: 'control-playback';
      channel: number;
      action: 'go-on' | 'pause' | 'end' | 'seek';
      /** Where to go on from, with `seek`; else null. */
      seekToMs: number | null;
    };

/** What the service can ask of a terminal that is connected now. */
export type TerminalCommand = MediaCommand | CommandOrder;

/** A time range that the terminal has recorded. */
export interface StoredRecording {
  channel: number;
  startMs: number;
  endMs: number;
  /** The alarms marked in it: 64 bits in hexadecimal. */
  alarmFlags: string;
  media: RecordedMedia;
  stream: VideoStream;
  storage: VideoStorage;
  sizeBytes: number;
}

/** What a terminal says to a command. */
export type TerminalAnswer =
  | {
      type: 'acknowledged';
      result: 'done' | 'failed' | 'wrong' | 'unsupported';
      /** In its own words, where it answers with text. */
      text?: string;
    }
  | { type: 'recordings'; recordings: StoredRecording[] };

/** What became of a command. */
export type CommandOutcome =
  | { outcome: 'answered'; answer: TerminalAnswer }
  /** The terminal is not connected, or went before it answered: then `maybeSent`. */
  | { outcome: 'offline'; maybeSent?: true }
  /** It was sent, and not answered in time. */
  | { outcome: 'unanswered' }
  /** Its protocol has no such command. */
  | { outcome: 'unsupported' }
  /** Too many commands are under way. */
  | { outcome: 'overloaded' }
  /** The caller withdrew the command. */
  | { outcome: 'aborted' };

/** A command on its way to one terminal. */
export interface AddressedCommand {
  terminalId: TerminalId;
  command: TerminalCommand;
  timeoutMs: number;
}
