/** What counts: the registry of Prometheus' client is called by what it holds. */
export { Counter, Gauge, Histogram, Registry as Metrics } from 'prom-client';
