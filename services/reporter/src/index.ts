export { createReportRunner, type ReportRunner, type ReportRunnerConfig, type ReportRunnerParts } from './runner.ts';
export { createReportScheduler, type ReportSchedulerParts } from './scheduler.ts';
