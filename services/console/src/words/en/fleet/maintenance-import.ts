/** Words of the import of maintenance plans and counter readings. */
export const maintenanceImport = {
  readings: 'Counter readings',
  plansHint:
    'A CSV file with a header. Each row creates a plan for a vehicle or a group, identified by one of the first columns, that repeats after a number of kilometres, engine hours or days.',
  readingsHint:
    'A CSV file with a header. Each row is the reading of a vehicle’s counter: in kilometres, or in hours if the counter is engine-hours. If no time is given, the current time is used.',
  added: (count: string) => `New: ${count}.`,
};

export type MaintenanceImportWords = typeof maintenanceImport;
