/** Factor for all timeouts: SVC_PATIENCE, from 1 to 20. The default is 1, but 5 on a busy machine. */
export const PATIENCE = readPatience(process.env);

/**
 * @param isBusy whether other programs use the processors; by default only in CI, whose machines are often shared
 * @throws RangeError for a value that is not a number from 1 to 20
 */
export function readPatience(env: NodeJS.ProcessEnv, isBusy = Boolean(env['CI'])): number {
  const text = env['SVC_PATIENCE'];
  if (text === undefined || text === '') return isBusy ? 5 : 1;
  const value = Number(text);
  if (!(value >= 1 && value <= 20)) throw new RangeError(`SVC_PATIENCE must be a number from 1 to 20, not "${text}"`);
  return value;
}
