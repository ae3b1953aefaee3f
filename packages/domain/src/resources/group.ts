import type { GroupId, UserId } from '../ids.ts';
import type { CustomFields } from './custom-fields.ts';
import type { FieldTable, FieldValues } from './fields.ts';

/** The plain fields of a group of vehicles. */
export const GROUP_FIELDS = {
  name: { type: 'text', maxCharacters: 200, example: 'Refrigerated' },
  retentionDays: {
    type: 'number',
    isWhole: true,
    min: 1,
    max: 36_500,
    default: null,
    description:
      'Age in days (UTC) at which positions, events, videos and notifications of its vehicles are permanently erased. ' +
      'The erasure runs once a day. Null: the group sets no limit. If a vehicle is in several groups, or the fleet of ' +
      'its owner has a limit (`/api/v1/users/{id}/retention`), the shortest limit applies. Nothing is kept longer than ' +
      'the service keeps it (`ARCHIVE_RETENTION_DAYS`, `VIDEO_RETENTION_DAYS`).',
    example: 90,
    since: 5,
  },
} as const satisfies FieldTable;

/** A group of vehicles, visible to the users who were given it. Its plain fields are in {@link GROUP_FIELDS}. */
export interface VehicleGroup extends FieldValues<typeof GROUP_FIELDS>, CustomFields {
  kind: 'group';
  id: GroupId;
  version: number;
  /** The dealer that the group belongs to; null: the operator. */
  dealerId: UserId | null;
}
