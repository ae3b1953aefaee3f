/** Time of one frame by phase, from the first message that it shows; in milliseconds. */
export interface Picture {
  /** Reading messages, and writing their data into the arrays. */
  takeMs: number;
  /** Waiting until the browser began the frame. */
  waitMs: number;
  /** Filling buffers and calling WebGL. */
  callsMs: number;
  /** Drawing by the GPU, or by software rendering. */
  drawMs: number;
}

/** Results of the probe in a page; times in milliseconds by `performance.now()`. */
export interface Probe {
  /** When the first vehicle with a position was on the map; null before. */
  firstVehicleMs: number | null;
  /** When the complete snapshot, with this number of `vehicles`, was on the map; null before. */
  allVehiclesMs: number | null;
  vehicles: number;
  pictures: Picture[];
  longTasks: number[];
  snapshotBytes: number;
  positionBytes: number;
  positions: number;
  /** False: frames are drawn normally, without waiting for their end. */
  waitsForPicture: boolean;
}

/**
 * Runs in a page before any other script. It records binary messages of the live API, and when the frame after them is
 * drawn. Reading one pixel makes the page wait for the end of the frame.
 */
export function installProbe(): void {
  const probe: Probe = {
    firstVehicleMs: null,
    allVehiclesMs: null,
    vehicles: 0,
    pictures: [],
    longTasks: [],
    snapshotBytes: 0,
    positionBytes: 0,
    positions: 0,
    waitsForPicture: true,
  };
  (globalThis as unknown as { probe: Probe }).probe = probe;
  let messageMs = 0;
  let takeMs = 0;
  let hasPositions = false;
  let drawn: WebGL2RenderingContext | null = null;
  let isComplete = false;
  let drawnVehicles = 0;

  const VEHICLES = 1;
  const POSITIONS = 2;
  const IS_COMPLETE = 2;
  const NativeSocket = globalThis.WebSocket;
  globalThis.WebSocket = class extends NativeSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      super.addEventListener('message', ({ data }) => {
        if (!(data instanceof ArrayBuffer)) return;
        const view = new DataView(data);
        const about = view.getUint8(0);
        if (about === VEHICLES) probe.snapshotBytes += data.byteLength;
        isComplete ||= (view.getUint8(1) & IS_COMPLETE) !== 0;
        if (about === POSITIONS) {
          probe.positionBytes += data.byteLength;
          probe.positions += view.getUint32(4, true);
        }
        hasPositions = true;
        if (messageMs === 0) messageMs = performance.now();
      });
    }

    /** Wraps the console's listeners to measure their time. */
    override addEventListener(type: string, listener: EventListenerOrEventListenerObject): void {
      super.addEventListener(type, (event) => {
        const beganMs = performance.now();
        if (typeof listener === 'function') listener.call(this, event);
        else listener.handleEvent(event);
        if (type === 'message' && messageMs > 0) takeMs += performance.now() - beganMs;
      });
    }
  };
  // Only the console calls `drawArrays`; MapLibre draws with elements.
  const draw = WebGL2RenderingContext.prototype.drawArrays;
  WebGL2RenderingContext.prototype.drawArrays = function (mode, first, count) {
    draw.call(this, mode, first, count);
    if (count > 0 && hasPositions) drawn = this;
    drawnVehicles = Math.max(drawnVehicles, count / 3);
  };
  const nextFrame = globalThis.requestAnimationFrame.bind(globalThis);
  globalThis.requestAnimationFrame = (callback) =>
    nextFrame((time) => {
      const frameMs = performance.now();
      callback(time);
      if (drawn === null) return;
      const gl = drawn;
      drawn = null;
      const calledMs = performance.now();
      if (probe.waitsForPicture) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
      const nowMs = performance.now();
      probe.firstVehicleMs ??= nowMs;
      if (isComplete && drawnVehicles >= probe.vehicles) probe.allVehiclesMs ??= nowMs;
      const picture = { takeMs, waitMs: frameMs - messageMs - takeMs, callsMs: calledMs - frameMs };
      if (messageMs > 0) probe.pictures.push({ ...picture, drawMs: nowMs - calledMs });
      messageMs = takeMs = 0;
    });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) probe.longTasks.push(duration);
  }).observe({ type: 'longtask' });
}

/** Scrolls a list for a number of frames. Returns the time between successive frames. */
export async function scrollList(selector: string, frames: number): Promise<number[]> {
  const box = document.querySelector(selector);
  if (box === null) throw new Error(`no ${selector}`);
  const gaps: number[] = [];
  let step = 240;
  let beforeMs = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
  for (let frame = 0; frame < frames; frame += 1) {
    if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) step = -240;
    box.scrollTop += step;
    const nowMs = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
    gaps.push(nowMs - beforeMs);
    beforeMs = nowMs;
  }
  return gaps;
}
