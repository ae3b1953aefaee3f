import type { VehicleId } from '@outrider/domain';
import type { Parameter } from '../engines/engine.ts';
import { boundMs } from '../native/time.ts';

/**
 * Maximum number of queries that one statement may answer, each about a different vehicle: their values go into the URL
 * of a request.
 */
export const MAX_QUESTIONS = 100;
/** Statements with more queries use the queue of reports, so as not to delay quick ones. */
const QUICK_QUESTIONS = 8;

/** SQL of the value of a parameter for the vehicle of the row, as bound by {@link perVehicleParameters}. */
export function ofVehicle(name: string): string {
  return `arrayElement({${name}:Array(Int64)}, indexOf({vehicleIds:Array(UUID)}, vehicle_id))`;
}

/**
 * Binds the vehicles of many questions, and for each of them a time (Unix milliseconds) under each name.
 *
 * @throws {RangeError} when there are too many questions, two are about one vehicle, or a time is not a number
 */
export function perVehicleParameters<Question extends { vehicleId: VehicleId }>(
  questions: readonly Question[],
  times: Readonly<Record<string, (question: Question) => number>>,
): Record<string, Parameter> {
  const vehicleIds = questions.map(({ vehicleId }) => vehicleId);
  if (questions.length > MAX_QUESTIONS)
    throw new RangeError(`A statement may answer ${MAX_QUESTIONS} questions, not ${questions.length}`);
  if (new Set(vehicleIds).size < vehicleIds.length) throw new RangeError('Two questions are about one vehicle');
  const parameters: Record<string, Parameter> = { vehicleIds };
  for (const [name, timeOf] of Object.entries(times))
    parameters[name] = questions.map((question) => boundMs(timeOf(question)));
  return parameters;
}

/** The queue for a statement with this many queries. */
export function queueOf(questions: readonly unknown[]): 'quick' | 'report' {
  return questions.length > QUICK_QUESTIONS ? 'report' : 'quick';
}
