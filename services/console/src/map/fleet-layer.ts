import type { Map as MapLibreMap } from 'maplibre-gl';
import { type Fleet, STATES } from '../fleet/fleet.ts';
import { mercatorX, mercatorY } from '../fleet/mercator.ts';
import { worldSize } from './map.ts';
import { restsForMs } from './pace.ts';
import type { MapColors } from './style.ts';

/** Floats per vehicle: from (4), to (4), start, glide, look, own colour. */
const FLOATS = 12;
/** Texels of four floats per vehicle. A row of the texture has `ROW` vehicles. */
const TEXELS = FLOATS / 4;
const ROW = 256;
const ROW_FLOATS = ROW * FLOATS;
/** A look encodes the state times this, plus the course in tenths of degrees: a float represents both exactly. */
const COURSES = 4096;
const NO_COURSE = COURSES - 1;
const HIDDEN = -1;
/** Used instead of a state: the vehicle moves, and its next fix is overdue. */
const OVERDUE = STATES.length;
/** Opacity of an overdue vehicle. */
const FADED = 0.65;
/** Added to the state (or `OVERDUE`) of a vehicle that speeds or raises an alarm. */
const TROUBLED = 8;
/** Duration of a frame: shorter waits are not worth a timer. */
const FRAME_MS = 17;
const UNIFORMS = [
  'center',
  'turn',
  'pixel',
  'now',
  'bearing',
  'scale',
  'ringed',
  'colors',
  'outline',
  'accent',
  'alert',
  'own',
] as const;
type Uniforms = Record<(typeof UNIFORMS)[number], WebGLUniformLocation | null>;

interface Program {
  handle: WebGLProgram;
  /** Null until first used: querying uniforms waits for the linker. */
  uniforms: Uniforms | null;
}

// A vehicle is one triangle, as small as its icon allows. Vertices are not instanced: some drivers, and software
// rendering, take microseconds per instance.
const VERTEX = `#version 300 es
precision highp float;
precision highp int;
uniform highp sampler2D u_data;
uniform vec4 u_center;
uniform vec2 u_turn;
uniform vec2 u_pixel;
uniform float u_now;
uniform float u_bearing;
uniform float u_scale;
uniform int u_ringed;
uniform vec3 u_colors[5];
uniform vec3 u_outline;
uniform vec3 u_alert;
uniform int u_own;
out vec2 v_at;
flat out vec3 v_fill;
flat out vec3 v_around;
flat out vec4 v_shape;
vec2 relative(vec4 place) {
  vec2 r = (place.xy - u_center.xy) + (place.zw - u_center.zw);
  r.x -= floor(r.x + 0.5);
  return r;
}
vec4 texel(int index, int nth) {
  return texelFetch(u_data, ivec2((index % ${ROW}) * ${TEXELS} + nth, index / ${ROW}), 0);
}
void main() {
  int corner = gl_VertexID % 3;
  int index = u_ringed < 0 ? gl_VertexID / 3 : u_ringed;
  vec4 more = texel(index, 2);
  int look = int(more.z);
  if (look < 0) {
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    return;
  }
  int drawn = (look / ${COURSES}) % ${TROUBLED};
  bool isTroubled = look / ${COURSES} >= ${TROUBLED};
  bool isOverdue = drawn == ${OVERDUE};
  int state = isOverdue ? 1 : drawn;
  int course = look % ${COURSES};
  int tint = int(more.w);
  float part = more.y <= 0.0 ? 1.0 : clamp((u_now - more.x) / more.y, 0.0, 1.0);
  vec2 place = mix(relative(texel(index, 0)), relative(texel(index, 1)), part);
  vec2 at = vec2(dot(place, u_turn), dot(place, vec2(-u_turn.y, u_turn.x)));

  vec3 own = vec3(float((tint >> 16) & 255), float((tint >> 8) & 255), float(tint & 255)) / 255.0;
  bool isByVehicle = tint >= 0 && u_own == 1;
  v_fill = isTroubled ? u_alert : isByVehicle ? own : u_colors[state];
  v_around = tint < 0 ? u_outline : isByVehicle ? u_colors[state] : own;
  float width = tint < 0 ? 1.8 : 3.0;
  bool isArrow = state == 1 && course != ${NO_COURSE};
  float hole = isOverdue && isArrow ? 1.5 : state == 4 || state == 0 || isOverdue ? 2.8 : 99.0;
  float radius = isArrow ? 0.0 : state == 1 ? 7.0 : 6.0;
  v_shape = vec4(radius, width, hole, isOverdue ? ${FADED} : 1.0);

  // The triangle around the icon and its rim, or around the ring.
  float reach = width + 0.6 / u_scale;
  float top, bottom, side;
  if (isArrow && u_ringed < 0) {
    top = -10.0 - reach * 2.662;
    bottom = 8.5 + reach;
    side = (bottom - top) * 0.4055;
  } else {
    bottom = u_ringed < 0 ? radius + reach : 15.0;
    top = -2.0 * bottom;
    side = 1.7321 * bottom;
  }
  v_at = corner == 0 ? vec2(0.0, top) : vec2(corner == 1 ? side : -side, bottom);
  float angle = isArrow ? radians(0.1 * float(course)) - u_bearing : 0.0;
  vec2 turned = mat2(cos(angle), sin(angle), -sin(angle), cos(angle)) * v_at * u_scale;
  gl_Position = vec4((at + turned) * u_pixel, 0.0, 1.0);
}`;

// Without branches and with few varyings: in software rendering, the fragment shader takes most of a frame.
const FRAGMENT = `#version 300 es
precision highp float;
in vec2 v_at;
flat in vec3 v_fill;
flat in vec3 v_around;
// Radius of a dot, 0 of an arrow; how far the rim reaches out, how deep inside a hole begins, and the opacity.
flat in vec4 v_shape;
uniform vec3 u_outline;
uniform float u_scale;
out vec4 color;
// How far outside the arrow: its two edges, right of its axis, with the tips cut where the rim would run to a point.
float arrow() {
  float x = abs(v_at.x), y = v_at.y;
  float edges = max(0.9268 * x - 0.3757 * (y + 10.0), 0.9062 * (y - 5.0) - 0.4229 * x);
  float tips = max(-10.0 - y, 0.6887 * (x - 7.5) + 0.7251 * (y - 8.5));
  return max(edges, tips);
}
void main() {
  float body = v_shape.x == 0.0 ? arrow() : length(v_at) - v_shape.x;
  vec3 fill = mix(v_fill, u_outline, clamp(-v_shape.z - body, 0.0, 1.0));
  // A fine line keeps two colours apart.
  vec3 rim = mix(u_outline, v_around, clamp((body - 0.6) * 1.67, 0.0, 1.0));
  float alpha = v_shape.w * clamp(0.5 + (v_shape.y - body) * u_scale, 0.0, 1.0);
  color = vec4(mix(rim, fill, clamp(0.5 - body * u_scale, 0.0, 1.0)), 1.0) * alpha;
}`;

const RING_FRAGMENT = `#version 300 es
precision highp float;
in vec2 v_at;
uniform vec3 u_accent;
out vec4 color;
void main() {
  color = vec4(u_accent, 1.0) * clamp(1.8 - abs(length(v_at) - 13.0), 0.0, 1.0);
}`;

/**
 * Draws the vehicles of a fleet: an arrow by course while one moves, otherwise a dot. It has the colour of its state
 * with a rim in its own colour, or the reverse. It is red while the vehicle speeds or raises an alarm, and hollow and
 * faded while its next fix is overdue. The GPU moves vehicles between two fixes. Each coordinate is two floats (high
 * and low part) relative to the centre of the map, so that nothing trembles at any zoom.
 *
 * Its canvas lies above that of MapLibre: the map is not redrawn when only vehicles move, and vehicles appear before
 * the map. It supports only maps that are seen from above.
 */
export class FleetLayer {
  readonly #map: MapLibreMap;
  readonly #fleet: Fleet;
  readonly #canvas = document.createElement('canvas');
  readonly #gl: WebGL2RenderingContext;
  readonly #onRender = () => this.#draw();
  readonly #onDrawn: () => void;
  #colors: MapColors;
  #icons: Program | null = null;
  #ring: Program | null = null;
  #data = new Float32Array(0);
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #selected: string | null = null;
  #isVisible = true;
  #scale = 1;
  #isByVehicle = false;

  /** @param onDrawn called after each frame with vehicles */
  constructor(map: MapLibreMap, fleet: Fleet, colors: MapColors, onDrawn: () => void = () => {}) {
    this.#onDrawn = onDrawn;
    this.#map = map;
    this.#fleet = fleet;
    this.#colors = colors;
    const canvas = this.#canvas;
    canvas.setAttribute('aria-hidden', 'true');
    Object.assign(canvas.style, { position: 'absolute', top: '0', left: '0', pointerEvents: 'none' });
    const gl = canvas.getContext('webgl2', { antialias: false, depth: false, stencil: false });
    if (gl === null) throw new Error('no WebGL 2');
    this.#gl = gl;
    map.getCanvasContainer().append(canvas);
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => this.#prepare());
    map.on('render', this.#onRender);
    fleet.onChange = () => this.#request();
    this.#prepare();
  }

  get isVisible(): boolean {
    return this.#isVisible;
  }

  set isVisible(isVisible: boolean) {
    if (isVisible !== this.#isVisible) this.#request();
    this.#isVisible = isVisible;
  }

  /** Sets the vehicle that gets a ring, by id. */
  select(id: string | null): void {
    this.#selected = id;
    this.#request();
  }

  /** @param isByVehicle whether vehicles are filled with their own colour, with the colour of the state around */
  setColors(colors: MapColors, isByVehicle = false): void {
    this.#colors = colors;
    this.#isByVehicle = isByVehicle;
    this.#request();
  }

  /** Sets the scale of icons; at 1 they have 20 pixels. */
  setScale(scale: number): void {
    if (scale === this.#scale) return;
    this.#scale = scale;
    this.#request();
  }

  destroy(): void {
    this.#fleet.onChange = () => {};
    this.#map.off('render', this.#onRender);
    this.#repaintAfter(Number.POSITIVE_INFINITY);
    cancelAnimationFrame(this.#frame);
    this.#canvas.remove();
    // Browsers allow few contexts at once, and free them late.
    this.#gl.getExtension('WEBGL_lose_context')?.loseContext();
  }

  /** Requests drawing in the next frame. */
  #request(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #prepare(): void {
    const gl = this.#gl;
    this.#icons = { handle: link(gl, FRAGMENT), uniforms: null };
    this.#ring = { handle: link(gl, RING_FRAGMENT), uniforms: null };
    // No vertex attributes: the vertex id determines what a vertex reads from the texture.
    gl.bindVertexArray(gl.createVertexArray());
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    // The new texture is empty.
    this.#data = new Float32Array(0);
    this.#request();
  }

  #draw(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    const gl = this.#gl;
    const fleet = this.#fleet;
    if (gl.isContextLost() || this.#icons === null || this.#ring === null) return;
    const { clientWidth, clientHeight } = this.#map.getCanvas();
    this.#resize(clientWidth, clientHeight);
    this.#upload();
    gl.clear(gl.COLOR_BUFFER_BIT);
    if (!this.#isVisible || fleet.count === 0) return;
    const nowMs = performance.now();
    this.#use(this.#icons, nowMs, -1);
    gl.drawArrays(gl.TRIANGLES, 0, 3 * fleet.count);
    const selected = this.#selected === null ? -1 : fleet.indexOf(this.#selected);
    if (selected >= 0) {
      this.#use(this.#ring, nowMs, selected);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
    }
    this.#repaintAfter(restsForMs(fleet, nowMs, worldSize(this.#map)));
    this.#onDrawn();
  }

  /** @param ringed index of the one vehicle that a ring is drawn around; -1: all are drawn */
  #use(program: Program, nowMs: number, ringed: number): void {
    const gl = this.#gl;
    gl.useProgram(program.handle);
    program.uniforms ??= uniformsOf(gl, program.handle);
    const { uniforms } = program;
    const { lng, lat } = this.#map.getCenter();
    const x = mercatorX(lng);
    const y = mercatorY(lat);
    const bearing = (this.#map.getBearing() * Math.PI) / 180;
    const worldPx = worldSize(this.#map);
    const { clientWidth, clientHeight } = this.#map.getCanvas();
    gl.uniform4f(uniforms.center, Math.fround(x), Math.fround(y), x - Math.fround(x), y - Math.fround(y));
    gl.uniform2f(uniforms.turn, worldPx * Math.cos(bearing), worldPx * Math.sin(bearing));
    gl.uniform2f(uniforms.pixel, 2 / clientWidth, -2 / clientHeight);
    gl.uniform1f(uniforms.now, nowMs / 1000);
    gl.uniform1f(uniforms.bearing, bearing);
    gl.uniform1f(uniforms.scale, this.#scale);
    gl.uniform1i(uniforms.ringed, ringed);
    gl.uniform3fv(uniforms.colors, this.#colors.states.flat());
    gl.uniform3fv(uniforms.outline, this.#colors.outline);
    gl.uniform3fv(uniforms.accent, this.#colors.accent);
    gl.uniform3fv(uniforms.alert, this.#colors.alert);
    gl.uniform1i(uniforms.own, this.#isByVehicle ? 1 : 0);
  }

  /** Adapts the canvas to the size of the map. Setting the size of a canvas clears it. */
  #resize(clientWidth: number, clientHeight: number): void {
    const canvas = this.#canvas;
    const { width, height } = this.#map.getCanvas();
    if (canvas.width === width && canvas.height === height) return;
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${clientWidth}px`;
    canvas.style.height = `${clientHeight}px`;
    this.#gl.viewport(0, 0, width, height);
  }

  /** Draws again when a vehicle has moved far enough to be seen. */
  #repaintAfter(waitMs: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (waitMs < FRAME_MS) this.#request();
    else if (waitMs < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#request(), waitMs);
  }

  /** Uploads the changed rows to the texture; the whole texture after the fleet has grown. */
  #upload(): void {
    const gl = this.#gl;
    const fleet = this.#fleet;
    const isNew = fleet.count * FLOATS > this.#data.length;
    if (isNew) this.#data = new Float32Array(2 ** Math.ceil(Math.log2(Math.max(ROW, fleet.count))) * FLOATS);
    const from = isNew ? 0 : fleet.dirtyFrom;
    const to = isNew ? fleet.count : Math.min(fleet.dirtyTo, fleet.count);
    fleet.dirtyFrom = fleet.dirtyTo = 0;
    if (to <= from) return;
    for (let index = from; index < to; index += 1) this.#write(index);
    const width = ROW * TEXELS;
    const data = this.#data;
    if (isNew) {
      const rows = data.length / ROW_FLOATS;
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, width, rows, 0, gl.RGBA, gl.FLOAT, data);
      return;
    }
    const row = Math.floor(from / ROW);
    const rows = Math.ceil(to / ROW) - row;
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, row, width, rows, gl.RGBA, gl.FLOAT, data, row * ROW_FLOATS);
  }

  #write(index: number): void {
    const fleet = this.#fleet;
    const data = this.#data;
    const at = index * FLOATS;
    const course = fleet.courseDeg[index] as number;
    const isDrawn = fleet.shown[index] === 1 && fleet.hasPosition(index);
    split(data, at, fleet.fromX[index] as number, fleet.fromY[index] as number);
    split(data, at + 4, fleet.x[index] as number, fleet.y[index] as number);
    data[at + 8] = (fleet.startMs[index] as number) / 1000;
    data[at + 9] = (fleet.glideMs[index] as number) / 1000;
    const tenths = Number.isNaN(course) ? NO_COURSE : Math.round(10 * course) % 3600;
    const state = fleet.overdue[index] === 1 ? OVERDUE : (fleet.state[index] as number);
    const drawn = fleet.trouble[index] === 0 ? state : state + TROUBLED;
    data[at + 10] = isDrawn ? drawn * COURSES + tenths : HIDDEN;
    data[at + 11] = fleet.tint[index] as number;
  }
}

function split(data: Float32Array, at: number, x: number, y: number): void {
  const highX = Math.fround(x);
  const highY = Math.fround(y);
  data[at] = highX;
  data[at + 1] = highY;
  data[at + 2] = x - highX;
  data[at + 3] = y - highY;
}

function uniformsOf(gl: WebGL2RenderingContext, program: WebGLProgram): Uniforms {
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`a shader of the vehicles was refused: ${gl.getProgramInfoLog(program)}`);
  return Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, `u_${name}`)])) as Uniforms;
}

function link(gl: WebGL2RenderingContext, fragment: string): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, fragment],
  ] as const) {
    const shader = gl.createShader(type);
    if (shader === null) throw new Error('the graphics context is lost');
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  return program;
}
