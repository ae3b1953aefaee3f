import { ApiError } from '@outrider/client';
import { expect, test, vi } from 'vitest';
import { Edit } from './edit.ts';

interface Fields {
  name: string;
  note: string | null;
  tags: string[];
}

const problem = (status: number, errors: { pointer?: string; detail: string }[] = []) =>
  new ApiError(
    { type: 'urn:outrider:problem:invalid-request', title: 'No', status, detail: 'no', errors } as never,
    null,
  );

test('only changed fields are sent, with the tag; a new resource is sent whole', async () => {
  const save = vi.fn(async () => {});
  const edit = new Edit<Fields>({ value: { name: 'a', note: null, tags: ['x'] }, etag: '"1"', save });
  expect(edit.isChanged.value).toBe(false);
  edit.set({ note: 'n', tags: ['x'] });
  expect(await edit.save()).toBe(true);
  expect(save).toHaveBeenCalledWith({ note: 'n' }, '"1"');
  expect(edit.isChanged.value).toBe(false);

  const created = new Edit<Fields>({ value: { name: '', note: null, tags: [] }, etag: null, save });
  created.set({ name: 'b' });
  await created.save();
  expect(save).toHaveBeenLastCalledWith({ name: 'b', note: null, tags: [] }, null);
});

test('errors stand at the field that shows them, the others are named', async () => {
  const errors = [
    { pointer: '/name', detail: 'too long' },
    { pointer: '/tags/0', detail: 'unknown' },
  ];
  const save = async () => Promise.reject(problem(422, errors));
  const edit = new Edit<Fields>({ value: { name: '', note: null, tags: [] }, etag: null, save });
  expect(await edit.save()).toBe(false);
  expect(edit.at('/name')).toEqual(['too long']);
  expect(edit.otherErrors).toEqual(['tags.0: unknown']);
});

test('a change by somebody else is shown beside the own one, and neither is lost', async () => {
  const first = { name: 'a', note: null, tags: [] };
  const theirs = { name: 'theirs', note: 'their note', tags: [] };
  const save = vi.fn(async (_: Partial<Fields>, etag: string | null) => {
    if (etag === '"1"') throw problem(412);
  });
  const options = { value: first, etag: '"1"', save, read: async () => ({ body: theirs, etag: '"2"' }) };
  const edit = new Edit<Fields>(options);
  edit.set({ name: 'mine' });
  expect(await edit.save()).toBe(false);
  expect(edit.conflicts.value).toEqual([
    { name: 'name', mine: 'mine', theirs: 'theirs' },
    { name: 'note', mine: null, theirs: 'their note' },
  ]);
  edit.keepMine();
  expect(edit.draft.value).toEqual({ name: 'mine', note: 'their note', tags: [] });
  expect(await edit.save()).toBe(true);
  expect(save).toHaveBeenLastCalledWith({ name: 'mine' }, '"2"');

  const other = new Edit<Fields>(options);
  other.set({ name: 'mine' });
  await other.save();
  other.takeTheirs();
  expect(other.draft.value).toEqual(theirs);
  expect(other.isChanged.value).toBe(false);
});

test('an action does not run twice at once', async () => {
  let finish = () => {};
  const edit = new Edit<Fields>({ value: { name: '', note: null, tags: [] }, etag: null, save: async () => {} });
  const first = edit.run(() => new Promise<void>((resolve) => (finish = resolve)));
  expect(await edit.save()).toBe(false);
  finish();
  expect(await first).toBe(true);
});
