import { type GroupId, isUuid, type VehicleGroup } from '@outrider/domain';

/** Separates the groups of a vehicle in one cell. */
const BETWEEN = '|';

/** Translates between ids and names of the groups that one caller sees. */
export class GroupNames {
  readonly #byName = new Map<string, GroupId[]>();
  readonly #names = new Map<GroupId, string>();

  /** @param groups all groups that the caller may see */
  constructor(groups: Iterable<Pick<VehicleGroup, 'id' | 'name'>>) {
    for (const { id, name } of groups) {
      this.#names.set(id, name);
      const same = this.#byName.get(name);
      if (same) same.push(id);
      else this.#byName.set(name, [id]);
    }
  }

  /** Text of a cell with the groups: by name if it is unique, else by id. */
  write(groupIds: readonly GroupId[]): string {
    return groupIds.map((id) => this.#written(id)).join(` ${BETWEEN} `);
  }

  #written(id: GroupId): string {
    const name = this.#names.get(id);
    if (name === undefined || name.includes(BETWEEN) || isUuid(name)) return id;
    return this.#byName.get(name)?.length === 1 ? name : id;
  }

  /** The groups that a cell names, and the errors in it. */
  read(cell: string): { groupIds: GroupId[]; wrong: string[] } {
    const groupIds: GroupId[] = [];
    const wrong: string[] = [];
    for (const text of cell.split(BETWEEN).map((part) => part.trim())) {
      if (text === '') continue;
      const found = isUuid(text) ? (this.#names.has(text as GroupId) ? [text as GroupId] : []) : this.#byName.get(text);
      if (!found || found[0] === undefined) wrong.push(`There is no group ${JSON.stringify(text)}.`);
      else if (found.length > 1) wrong.push(`${found.length} groups are named ${JSON.stringify(text)}: use the id.`);
      else groupIds.push(found[0]);
    }
    return { groupIds, wrong };
  }
}
