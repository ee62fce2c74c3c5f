/**
 * How many times longer than a quiet machine needs is waited before something counts as hung: SVC_PATIENCE, from 1 to 20.
 * Where it is not set: 1, or 5 in a pipeline (CI), whose machine may be shared with others.
 */
export const PATIENCE = readPatience(process.env);

/** @throws RangeError for a value that is no number from 1 to 20 */
export function readPatience(env: NodeJS.ProcessEnv): number {
  const given = env['SVC_PATIENCE'];
  if (given === undefined || given === '') return env['CI'] ? 5 : 1;
  const value = Number(given);
  if (!(value >= 1 && value <= 20)) throw new RangeError(`SVC_PATIENCE must be a number from 1 to 20, not "${given}"`);
  return value;
}
