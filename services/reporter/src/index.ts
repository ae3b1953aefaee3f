export { type ReporterParts, type ReporterSettings, startReporter } from './reporter.ts';
export { reporterVariables } from './settings.ts';
