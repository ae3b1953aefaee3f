export {
  type AudioCodec,
  createMp4Writer,
  FootageError,
  type FootageFacts,
  type FootageFault,
  type FootageFrame,
  type Mp4Writer,
  type Mp4WriterOptions,
} from './mp4-writer.ts';
