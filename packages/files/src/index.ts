export * from './files.ts';
export { openFolder } from './folder.ts';
export { openS3, parseS3Url, type S3Options } from './s3/s3.ts';
export { removeStrays, type StraySearch } from './strays.ts';
