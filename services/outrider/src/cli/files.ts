import { closeSync, fchmodSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { type CliCommand, CommandError } from './command.ts';

/** Import and export of a resource as files. */
export interface Transfer {
  /** Name in commands, such as `vehicles`. */
  name: string;
  path: string;
  mediaType: string;
  /** Name of the file format for people. */
  format: string;
}

/** Response of an import. */
interface ImportReport {
  created: number;
  updated: number;
  unchanged: number;
}

export function transferCommands({ name, path, mediaType, format }: Transfer): CliCommand[] {
  return [
    {
      name: `${name} export`,
      summary: `write all ${name} as ${format}, to a file or to standard output`,
      operands: ['FILE?'],
      async run({ operands: { FILE: file }, client, terminal }) {
        const response = await (await client()).send('get', `${path}/export`);
        const text = await response.text();
        if (file === undefined) terminal.print(text.replace(/\n$/, ''));
        else writeFile(file, text);
      },
    },
    {
      name: `${name} import`,
      summary: `add and change ${name} from a ${format} file: all of them, or none`,
      operands: ['FILE'],
      options: { 'dry-run': { summary: 'only report what it would do' } },
      async run({ operands: { FILE: file = '' }, options, isJson, client, terminal }) {
        const body = new Blob([read(file)], { type: mediaType });
        const isDry = options['dry-run'] === true;
        const response = await (await client()).send('post', `${path}/import`, {
          body,
          query: isDry ? { dryRun: 'true' } : {},
        });
        const report = (await response.json()) as ImportReport;
        const { created, updated, unchanged } = report;
        if (isJson) terminal.print(JSON.stringify(report, null, 2));
        else
          terminal.print(
            `${isDry ? 'would be' : 'done'}: ${created} added, ${updated} changed, ${unchanged} unchanged`,
          );
      },
    },
  ];
}

function read(file: string): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(readFileSync(file));
  } catch (error) {
    throw new CommandError(`${file} can't be read: ${(error as Error).message}`);
  }
}

/**
 * @param mode file mode, also of an existing file; absent: that of the existing file, or the system's default
 * @throws {CommandError}
 */
export function writeFile(file: string, text: string, mode?: number): void {
  try {
    const opened = openSync(file, 'w', mode);
    try {
      if (mode !== undefined) fchmodSync(opened, mode);
      writeFileSync(opened, text);
    } finally {
      closeSync(opened);
    }
  } catch (error) {
    throw new CommandError(`${file} can't be written: ${(error as Error).message}`);
  }
}
