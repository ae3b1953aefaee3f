/** Message ids: the first two bytes of the header (JT/T 808, and JT/T 1078 for video). */
export const MESSAGE = {
  terminalAck: 0x0001,
  heartbeat: 0x0002,
  deregister: 0x0003,
  askTime: 0x0004,
  register: 0x0100,
  authorize: 0x0102,
  properties: 0x0107,
  askTimeOfMakers: 0x0109,
  location: 0x0200,
  locationAnswer: 0x0201,
  shortBatch: 0x0210,
  driver: 0x0702,
  storedLocations: 0x0704,
  transparent: 0x0900,
  recordings: 0x1205,
  serverAck: 0x8001,
  timeAnswer: 0x8004,
  registered: 0x8100,
  setParameters: 0x8103,
  controlTerminal: 0x8105,
  timeAnswerOfMakers: 0x8109,
  askLocation: 0x8201,
  sendText: 0x8300,
  playRecording: 0x9201,
  controlPlayback: 0x9202,
  listRecordings: 0x9205,
} as const;

/** Result codes of the general acknowledgement of either side. */
export const RESULT = { done: 0, failed: 1, wrong: 2, unsupported: 3 } as const;

/** Result codes of a registration. */
export const REGISTRATION = { done: 0, terminalRegistered: 3, noSuchTerminal: 4 } as const;
