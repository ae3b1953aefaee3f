import type { CustomLayerInterface, CustomRenderMethodInput, Map as MapLibreMap } from 'maplibre-gl';
import type { Fleet } from '../fleet/fleet.ts';
import { mercatorX, mercatorY } from '../fleet/mercator.ts';
import type { MapColors } from './style.ts';

/** Floats of a vehicle: from (4), to (4), start, glide, course, look. */
const FLOATS = 12;
const BYTES = FLOATS * 4;
/** Half of the square in which a vehicle is drawn, in CSS pixels. */
const HALF_SIZE = 15;
const HIDDEN = -1;
const NO_COURSE = -1;

const VERTEX = `#version 300 es
layout(location = 0) in vec2 a_corner;
layout(location = 1) in vec4 a_from;
layout(location = 2) in vec4 a_to;
layout(location = 3) in vec4 a_more;
uniform mat4 u_matrix;
uniform vec4 u_center;
uniform vec2 u_pixel;
uniform float u_now;
uniform float u_bearing;
uniform int u_selected;
out vec2 v_at;
flat out int v_state;
flat out int v_arrow;
flat out int v_selected;
vec2 relative(vec4 place) {
  vec2 r = (place.xy - u_center.xy) + (place.zw - u_center.zw);
  r.x -= floor(r.x + 0.5);
  return r;
}
void main() {
  float part = a_more.y <= 0.0 ? 1.0 : clamp((u_now - a_more.x) / a_more.y, 0.0, 1.0);
  vec4 clip = u_matrix * vec4(mix(relative(a_from), relative(a_to), part), 0.0, 1.0);
  v_state = int(a_more.w);
  v_arrow = v_state == 1 && a_more.z >= 0.0 ? 1 : 0;
  v_selected = gl_InstanceID == u_selected ? 1 : 0;
  v_at = a_corner * ${HALF_SIZE}.0;
  float angle = v_arrow == 1 ? radians(a_more.z) - u_bearing : 0.0;
  vec2 turned = mat2(cos(angle), sin(angle), -sin(angle), cos(angle)) * v_at;
  clip.xy += turned * vec2(1.0, -1.0) * u_pixel * clip.w;
  gl_Position = v_state < 0 ? vec4(2.0, 2.0, 2.0, 1.0) : clip;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec2 v_at;
flat in int v_state;
flat in int v_arrow;
flat in int v_selected;
uniform vec3 u_colors[5];
uniform vec3 u_outline;
uniform vec3 u_accent;
out vec4 color;
float edge(vec2 p, vec2 a, vec2 b, inout float side) {
  vec2 e = b - a, w = p - a;
  vec2 d = w - e * clamp(dot(w, e) / dot(e, e), 0.0, 1.0);
  bvec3 c = bvec3(p.y >= a.y, p.y < b.y, e.x * w.y > e.y * w.x);
  if (all(c) || all(not(c))) side = -side;
  return dot(d, d);
}
float arrow(vec2 p) {
  vec2 a = vec2(0.0, -10.0), b = vec2(7.5, 8.5), c = vec2(0.0, 5.0), d = vec2(-7.5, 8.5);
  float side = 1.0;
  float near = min(min(edge(p, a, b, side), edge(p, b, c, side)), min(edge(p, c, d, side), edge(p, d, a, side)));
  return side * sqrt(near);
}
void main() {
  float body = v_arrow == 1 ? arrow(v_at) : length(v_at) - (v_state == 1 ? 7.0 : 6.0);
  vec3 fill = u_colors[v_state];
  if (v_state == 4 || v_state == 0) fill = mix(fill, u_outline, 1.0 - smoothstep(-3.8, -2.8, body));
  float inside = 1.0 - smoothstep(-0.6, 0.6, body);
  float rim = 1.0 - smoothstep(1.2, 2.4, body);
  vec4 result = vec4(mix(u_outline, fill, inside), 1.0) * rim;
  if (v_selected == 1) {
    float ring = 1.0 - smoothstep(0.8, 1.8, abs(length(v_at) - 13.0));
    result = mix(result, vec4(u_accent, 1.0), ring * (1.0 - rim));
  }
  if (result.a < 0.01) discard;
  color = result;
}`;

/**
 * Draws the vehicles of a fleet: an arrow by course while one moves, else a dot, in the colour of its state. The
 * graphics processor moves them between two fixes. Places are two floats each (high and low part) relative to the
 * centre of the map, so that nothing trembles at any zoom.
 */
export class FleetLayer implements CustomLayerInterface {
  readonly id = 'fleet';
  readonly type = 'custom';
  readonly #fleet: Fleet;
  #colors: MapColors;
  #map: MapLibreMap | null = null;
  #program: WebGLProgram | null = null;
  #vao: WebGLVertexArrayObject | null = null;
  #buffer: WebGLBuffer | null = null;
  #uniforms: Record<string, WebGLUniformLocation | null> = {};
  #data = new Float32Array(0);
  /** Id of the vehicle that is ringed. */
  selected: string | null = null;
  isVisible = true;

  constructor(fleet: Fleet, colors: MapColors) {
    this.#fleet = fleet;
    this.#colors = colors;
  }

  setColors(colors: MapColors): void {
    this.#colors = colors;
    this.#map?.triggerRepaint();
  }

  onAdd(map: MapLibreMap, gl: WebGL2RenderingContext): void {
    this.#map = map;
    this.#program = link(gl);
    const names = ['matrix', 'center', 'pixel', 'now', 'bearing', 'selected', 'colors', 'outline', 'accent'];
    const program = this.#program;
    this.#uniforms = Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, `u_${name}`)]));
    this.#vao = gl.createVertexArray();
    gl.bindVertexArray(this.#vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    this.#buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
    for (const [location, offset] of [
      [1, 0],
      [2, 16],
      [3, 32],
    ] as const) {
      gl.enableVertexAttribArray(location);
      gl.vertexAttribPointer(location, 4, gl.FLOAT, false, BYTES, offset);
      gl.vertexAttribDivisor(location, 1);
    }
    gl.bindVertexArray(null);
    // A new context begins with an empty buffer.
    this.#data = new Float32Array(0);
    this.#fleet.onChange = () => map.triggerRepaint();
  }

  onRemove(_map: MapLibreMap, gl: WebGL2RenderingContext): void {
    this.#fleet.onChange = () => {};
    gl.deleteProgram(this.#program);
    gl.deleteBuffer(this.#buffer);
    gl.deleteVertexArray(this.#vao);
    this.#map = null;
  }

  render(gl: WebGL2RenderingContext, { defaultProjectionData }: CustomRenderMethodInput): void {
    const map = this.#map;
    if (map === null || this.#program === null) return;
    this.#upload(gl);
    if (!this.isVisible || this.#fleet.count === 0) return;
    const { lng, lat } = map.getCenter();
    const x = mercatorX(lng);
    const y = mercatorY(lat);
    const { clientWidth, clientHeight } = map.getCanvas();
    const uniforms = this.#uniforms;
    const nowMs = performance.now();
    gl.useProgram(this.#program);
    gl.uniformMatrix4fv(uniforms.matrix ?? null, false, relativeTo(defaultProjectionData.mainMatrix, x, y));
    gl.uniform4f(uniforms.center ?? null, Math.fround(x), Math.fround(y), x - Math.fround(x), y - Math.fround(y));
    gl.uniform2f(uniforms.pixel ?? null, 2 / clientWidth, 2 / clientHeight);
    gl.uniform1f(uniforms.now ?? null, nowMs / 1000);
    gl.uniform1f(uniforms.bearing ?? null, (map.getBearing() * Math.PI) / 180);
    gl.uniform1i(uniforms.selected ?? null, this.selected === null ? -1 : this.#fleet.indexOf(this.selected));
    gl.uniform3fv(uniforms.colors ?? null, this.#colors.states.flat());
    gl.uniform3fv(uniforms.outline ?? null, this.#colors.outline);
    gl.uniform3fv(uniforms.accent ?? null, this.#colors.accent);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.STENCIL_TEST);
    gl.disable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindVertexArray(this.#vao);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.#fleet.count);
    gl.bindVertexArray(null);
    if (nowMs < this.#fleet.restsAtMs) map.triggerRepaint();
  }

  /** Copies what changed into the buffer; all of it after the fleet has grown. */
  #upload(gl: WebGL2RenderingContext): void {
    const fleet = this.#fleet;
    const isNew = fleet.count * FLOATS > this.#data.length;
    if (isNew) this.#data = new Float32Array(2 ** Math.ceil(Math.log2(Math.max(64, fleet.count))) * FLOATS);
    const from = isNew ? 0 : fleet.dirtyFrom;
    const to = isNew ? fleet.count : Math.min(fleet.dirtyTo, fleet.count);
    fleet.dirtyFrom = fleet.dirtyTo = 0;
    if (to <= from) return;
    for (let index = from; index < to; index += 1) this.#write(index);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.#buffer);
    if (isNew) gl.bufferData(gl.ARRAY_BUFFER, this.#data, gl.DYNAMIC_DRAW);
    else gl.bufferSubData(gl.ARRAY_BUFFER, from * BYTES, this.#data, from * FLOATS, (to - from) * FLOATS);
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
    data[at + 10] = Number.isNaN(course) ? NO_COURSE : course;
    data[at + 11] = isDrawn ? (fleet.state[index] as number) : HIDDEN;
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

/** The matrix for places relative to (x, y), computed in doubles. */
function relativeTo(matrix: ArrayLike<number>, x: number, y: number): Float32Array {
  const result = new Float32Array(16);
  for (let row = 0; row < 4; row += 1) {
    for (let column = 0; column < 3; column += 1) result[column * 4 + row] = matrix[column * 4 + row] ?? 0;
    result[12 + row] = (matrix[row] ?? 0) * x + (matrix[4 + row] ?? 0) * y + (matrix[12 + row] ?? 0);
  }
  return result;
}

function link(gl: WebGL2RenderingContext): WebGLProgram {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type);
    if (shader === null) throw new Error('the graphics context is lost');
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(`the shader of the vehicles was refused: ${gl.getProgramInfoLog(program)}`);
  return program;
}
