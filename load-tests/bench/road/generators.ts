import { type Child, startChild } from './child.ts';
import type { GeneratorMessage, GeneratorTask } from './generator.ts';

/** Terminals in a process of their own. */
export function startGenerator(task: GeneratorTask): Promise<Child<GeneratorMessage>> {
  return startChild<GeneratorTask, GeneratorMessage>('./generator.ts', task);
}
