import { expect, test } from 'vitest';
import type { SectionModule } from './section.ts';
import { sectionNames } from './sections.ts';

test.each(sectionNames)(
  'section %s says what it measures, what it is put beside, and which figures it has',
  async (name) => {
    const { section } = (await import(`./sections/${name}.ts`)) as SectionModule;
    expect(section.about).toMatch(/^[^\n]{20,200}$/);
    // Null where nothing does the same.
    if (section.bare !== null) expect(section.bare).toMatch(/^[^\n]{10,250}$/);
    expect(section.figures).toBeTypeOf('function');
    expect(section.run).toBeTypeOf('function');
  },
);
