import { type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';

/** The logger of a process: it can make loggers of parts. */
export type RootLogger = PinoLogger;

/** Logging methods for a part of a service: a message with its variable parts as fields. */
export type Logger = Pick<RootLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> &
  Partial<Pick<RootLogger, 'isLevelEnabled'>>;

/** Whether level `debug` is logged. Callers check it when a log line is expensive to build. */
export function isDebugEnabled(logger: Logger): boolean {
  return logger.isLevelEnabled?.('debug') ?? true;
}

/**
 * Creates a logger to standard error, so that standard output stays free for the results of commands.
 *
 * @param format `json`: a JSON object per line, for machines. `text`: a short line, for people.
 */
export function createLogger(level: string, format: 'json' | 'text'): RootLogger {
  const options = {
    level,
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    // PostgreSQL puts whole rows there, with all their content.
    redact: { paths: ['err.detail', 'err.where'], remove: true },
  };
  if (format === 'json') return pino(options, pino.destination({ dest: 2, sync: true }));
  return pino(options, {
    write(line: string) {
      process.stderr.write(asText(line));
    },
  });
}

const LEVEL_NAMES: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};

/** `2026-01-01T00:00:00.000Z info  gateway: listening port=5027`; an error's stack follows on lines of its own. */
export function asText(line: string): string {
  const { level, time, part, msg, err, ...facts } = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(facts)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('');
  const stack = err ? `\n  ${String((err as Error).stack ?? err).replaceAll('\n', '\n  ')}` : '';
  const levelName = LEVEL_NAMES[level as number] ?? String(level);
  return `${time} ${levelName.padEnd(5)} ${part ? `${part}: ` : ''}${msg ?? ''}${fields}${stack}\n`;
}
