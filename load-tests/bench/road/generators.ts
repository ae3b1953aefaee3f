import { type Child, startChild } from './child.ts';
import type { GeneratorTask, GeneratorTells } from './generator.ts';

/** Terminals in a process of their own. */
export function startGenerator(task: GeneratorTask): Promise<Child<GeneratorTells>> {
  return startChild<GeneratorTask, GeneratorTells>('./generator.ts', task);
}
