export { compileExpression, type Evaluate, ExpressionError, RECORD_NUMBERS, RECORD_STATES } from './expression.ts';
export { freshSeries, SensorSeries, type SeriesState } from './sensor-series.ts';
export { CompiledSensor, medianOf, VehicleSensors, vehicleSensors } from './vehicle-sensors.ts';
