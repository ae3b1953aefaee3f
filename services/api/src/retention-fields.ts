import { z } from 'zod';

/** For how many days a history is kept; null: that is not limited. */
export const daysKept = z.int().min(1).max(36_500).nullable();
