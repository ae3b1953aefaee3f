#!/usr/bin/env node
// Stands for ffmpeg, as far as its arguments, its input and its words go. What it copies is what it reads: from
// standard input, or from an RTSP URL by one request. It plays what the text of its source says:
//   "fail <words>": says the words and ends with 1; "hang": never ends; anything else is copied.
import { createWriteStream, existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';

const args = process.argv.slice(2);
const after = (name) => args[args.indexOf(name) + 1];
const path = args.at(-1);
if (process.env.SECRET_OF_THE_SERVICE) process.exit(9);
if (existsSync(path)) process.exit(8);
writeFileSync(`${path}.args`, JSON.stringify(args));

const input = after('-i');
let source = process.stdin;
if (input !== 'pipe:0') {
  const url = new URL(input);
  source = connect(Number(url.port), url.hostname);
  source.write(`DESCRIBE ${url.pathname}${url.search} RTSP/1.0\r\nCSeq: 1\r\n\r\n`);
}
source.on('error', () => {
  process.stderr.write('Connection refused\n');
  process.exit(1);
});
let file = null;
let bytes = 0;
for await (const part of source) {
  const text = part.toString('latin1');
  const [, words] = /fail (.*)/.exec(text) ?? [];
  if (words !== undefined) {
    process.stderr.write(`${words}\n`);
    process.exit(1);
  }
  if (text.includes('hang')) await new Promise(() => setInterval(() => {}, 1000));
  file ??= createWriteStream(path, { flags: 'wx' });
  file.write(part);
  bytes += part.length;
  process.stdout.write(`frame=${bytes}\nout_time_us=${bytes * 1000}\ntotal_size=${bytes}\nprogress=continue\n`);
}
if (file === null) process.exit(1);
file.end(() => {
  process.stderr.write('  Stream #0:0(und): Video: h264 (High) (avc1), yuv420p\n  Stream #0:1: Audio: aac (LC)\n');
  process.stdout.write(`frame=${bytes}\nout_time_us=${bytes * 1000}\ntotal_size=${bytes}\nprogress=end\n`);
  process.exitCode = 0;
});
