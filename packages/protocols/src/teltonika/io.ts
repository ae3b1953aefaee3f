import type { Alarm } from '@outrider/domain';

/**
 * I/O elements (AVL ids) of the FMB models that map to a field, an alarm or a text; from the "Data Sending Parameters
 * ID" pages of Teltonika's wiki. Every element becomes the attribute `io<id>` with its raw value, except those that map
 * to a field.
 */
export const IO = {
  /** Total odometer, metres. */
  odometer: 16,
  /** External voltage, mV. */
  supply: 66,
  /** Fuel level by a CAN adapter, 0.1 l. */
  fuel: 84,
  /** 1: the alarm button was pressed. */
  alarm: 236,
  ignition: 239,
  /** 1: the vehicle is being towed. */
  towing: 246,
  /** 1: crash detected; 6: crash detected by an uncalibrated device; 2 to 5: crash traces. */
  crash: 247,
  /** 1: jamming began; 0: it ended. */
  jamming: 249,
  /** 1: disconnected from external power. */
  unplug: 252,
  /** 1 acceleration, 2 braking, 3 cornering. */
  greenDriving: 253,
  /** Speed at the beginning or the end of overspeeding, km/h; an alarm in the record that it caused. */
  overspeed: 255,
  /** External voltage of the 1000 V platforms, mV. */
  supplyWide: 800,
  /** Vehicle identification number, text. */
  vin: 256,
  /** Bar code, text. */
  barcode: 264,
  /** Comma-separated fault codes, text. */
  faultCodes: 281,
  /** Vehicle identification number from a CAN adapter, text. */
  canVin: 325,
  /** Place in ISO 6709 notation, text. */
  iso6709: 387,
  /** Number of the SIM card, text. */
  iccid: 641,
} as const;

/** The alarm that an element raises with a value; null where the value raises none. */
export function alarmOf(id: number, value: number, eventId: number): Alarm | null {
  switch (id) {
    case IO.alarm:
      return value === 1 ? 'sos' : null;
    case IO.towing:
      return value === 1 ? 'towing' : null;
    case IO.crash:
      return value === 1 || value === 6 ? 'crash' : null;
    case IO.jamming:
      return value === 1 ? 'jamming' : null;
    case IO.unplug:
      return value === 1 ? 'power-cut' : null;
    case IO.greenDriving:
      return value === 1
        ? 'harsh-acceleration'
        : value === 2
          ? 'harsh-braking'
          : value === 3
            ? 'harsh-cornering'
            : null;
    case IO.overspeed:
      return eventId === IO.overspeed ? 'overspeed' : null;
    default:
      return null;
  }
}

/** The element and value that report an alarm; alarms without an element of Teltonika's are missing. */
export const IO_OF_ALARM: Partial<Record<Alarm, { id: number; value: number }>> = {
  sos: { id: IO.alarm, value: 1 },
  towing: { id: IO.towing, value: 1 },
  crash: { id: IO.crash, value: 1 },
  jamming: { id: IO.jamming, value: 1 },
  'power-cut': { id: IO.unplug, value: 1 },
  'harsh-acceleration': { id: IO.greenDriving, value: 1 },
  'harsh-braking': { id: IO.greenDriving, value: 2 },
  'harsh-cornering': { id: IO.greenDriving, value: 3 },
  overspeed: { id: IO.overspeed, value: 0 },
};

/** Whether an element can raise an alarm: as the event of a record, it needs no attribute of its own. */
export function raisesAlarm(id: number): boolean {
  return IDS_OF_ALARMS.has(id);
}

const IDS_OF_ALARMS: ReadonlySet<number> = new Set(Object.values(IO_OF_ALARM).map(({ id }) => id));

const names: string[] = [];

/** `io<id>`; cached for each id, of which there are at most 65,536. */
export function ioName(id: number): string {
  const known = names[id];
  if (known !== undefined) return known;
  const name = `io${id}`;
  names[id] = name;
  return name;
}
