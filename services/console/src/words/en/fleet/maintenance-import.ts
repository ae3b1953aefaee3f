/** Words of the import of maintenance plans and counter readings. */
export const maintenanceImport = {
  readings: 'Counter readings',
  plansHint:
    'A CSV file with a header. Each row makes a plan for a vehicle or a group, which is named by one of the first columns: every so many kilometres, engine hours or days.',
  readingsHint:
    'A CSV file with a header. Each row says what a counter of a vehicle showed: kilometres, or hours where the counter is engine-hours. Without a time it is now.',
  added: (count: string) => `New: ${count}.`,
};

export type MaintenanceImportWords = typeof maintenanceImport;
