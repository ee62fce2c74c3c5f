const FIRST_MS = 500;

/** The pause after so many failures in a row: twice as long each time up to `maxMs`, ±25 %, so that stores spread. */
export function backoffMs(failures: number, maxMs: number, random: () => number = Math.random): number {
  const pause = Math.min(maxMs, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  return Math.round(pause * (0.75 + random() / 2));
}
