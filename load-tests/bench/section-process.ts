import type { Figure, SectionModule, SectionReport } from './section.ts';
import { chooseSections } from './sections.ts';

/** A message from the process of a section to the process that started it. */
export type SectionMessage = { progress: string } | { run: SectionRun } | { error: string };

/** What one run of a section found out. */
export interface SectionRun extends SectionReport {
  bare: string | null;
  figures: Figure[];
}

/*
 * Runs one section, named on the command line. A process each: what one section made the compiler believe about a
 * function, or left on the heap, is not measured in the next.
 */
function send(message: SectionMessage): Promise<void> {
  return new Promise((resolve) => {
    if (!process.send) throw new Error('run by the benchmark, not by hand: npm run bench -- <section>');
    process.send(message, () => resolve());
  });
}

// The parent has ended: so must this process and its children.
process.on('disconnect', () => process.exit(1));
try {
  const [name] = chooseSections(process.argv.slice(2, 3));
  const { section } = (await import(`./sections/${name}.ts`)) as SectionModule;
  const report = await section.run((progress) => void send({ progress }), process.argv.includes('--quick'));
  await send({ run: { ...report, bare: section.bare, figures: section.figures(report.result) } });
  process.exit(0);
} catch (error) {
  await send({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.exit(1);
}
