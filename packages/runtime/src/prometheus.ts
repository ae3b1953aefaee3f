/** The registry of Prometheus' client is exported as `Metrics`, which it contains. */
export { Counter, Gauge, Histogram, Registry as Metrics } from 'prom-client';
