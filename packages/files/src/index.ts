export * from './files.ts';
export { openFolder } from './folder.ts';
export { s3ClockMs } from './s3/probe-s3.ts';
export { openS3, parseS3Url, type S3Options } from './s3/s3.ts';
export { removeStrays, type StraySearch } from './strays.ts';
export { syncFolder } from './whole-file.ts';
