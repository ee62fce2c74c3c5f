/**
 * Factor for all timeouts: SVC_PATIENCE, from 1 to 20. The default is 1, but 5 in CI, whose machines are often shared.
 */
export const PATIENCE = readPatience(process.env);

/** @throws RangeError for a value that is not a number from 1 to 20 */
export function readPatience(env: NodeJS.ProcessEnv): number {
  const text = env['SVC_PATIENCE'];
  if (text === undefined || text === '') return env['CI'] ? 5 : 1;
  const value = Number(text);
  if (!(value >= 1 && value <= 20)) throw new RangeError(`SVC_PATIENCE must be a number from 1 to 20, not "${text}"`);
  return value;
}
