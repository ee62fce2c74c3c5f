/**
 * The error of this machine's clock. A wrong clock makes valid certificates and signatures look invalid, and the error
 * of such a call does not mention the clock. These functions compare it with the header `Date` of the API's responses.
 */
import { request } from 'node:https';

/** A smaller difference makes neither a certificate nor a signature invalid. */
const MIN_ERROR_MS = 60_000;
const PROBE_TIMEOUT_MS = 2_000;
/** Codes of Node.js for a certificate that is not valid at the present time. */
const TIME_CODES: readonly unknown[] = ['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED'];
/** Units from the largest to the smallest, in seconds. */
const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The time of this machine's clock minus the API's time, at the API's newest response. */
let newestErrorMs: number | undefined;

/** @param apiTimeMs time of a response that has just arrived, Unix time in ms */
export function recordApiTime(apiTimeMs: number): void {
  newestErrorMs = Date.now() - apiTimeMs;
}

/**
 * A sentence about the clock of this machine. Undefined if the clock is right, or if the API has not responded to this
 * process yet.
 */
export function describeClockError(errorMs = newestErrorMs): string | undefined {
  if (errorMs === undefined || Math.abs(errorMs) < MIN_ERROR_MS) return undefined;
  const side = errorMs > 0 ? 'ahead of' : 'behind';
  return `The clock of this machine is ${formatDuration(errorMs)} ${side} the server's (header Date): set it to the right time`;
}

/**
 * Explains a certificate that is not valid at the present time: by the clock of this machine if it is wrong. Undefined
 * for any other error, or if the server does not respond.
 */
export async function explainCertificateError(url: string, cause: unknown): Promise<string | undefined> {
  if (!TIME_CODES.includes(findCode(cause)) || !url.startsWith('https:')) return undefined;
  const serverTime = await readServerTime(url);
  if (serverTime === undefined) return 'Is the clock of this machine right?';
  return (
    describeClockError(Date.now() - serverTime) ??
    'The clock of this machine is right, so the server needs a new certificate'
  );
}

/** The largest unit that is not 0 and the next one, as in `2 hours 5 minutes`. */
function formatDuration(milliseconds: number): string {
  let rest = Math.round(Math.abs(milliseconds) / 1000);
  const counts = UNITS.map(([unit, seconds]) => {
    const count = Math.floor(rest / seconds);
    rest -= count * seconds;
    return { count, text: `${count} ${unit}${count === 1 ? '' : 's'}` };
  });
  const largest = counts.findIndex(({ count }) => count > 0);
  return counts
    .slice(largest, largest + 2)
    .flatMap(({ count, text }) => (count > 0 ? [text] : []))
    .join(' ');
}

/** The code of an error of `fetch` is that of its cause. */
function findCode(error: unknown): unknown {
  if (!(error instanceof Error)) return undefined;
  return 'code' in error ? error.code : findCode(error.cause);
}

/**
 * The header `Date` of the server. The request contains no credentials, and the response is only used for the text of
 * an error. Therefore it accepts the certificate, whose validity cannot be checked with a wrong clock.
 */
function readServerTime(url: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const { origin } = new URL(url);
    const options = { method: 'HEAD', rejectUnauthorized: false, timeout: PROBE_TIMEOUT_MS, agent: false } as const;
    const probe = request(origin, options, ({ headers }) => {
      const time = Date.parse(String(headers.date));
      resolve(Number.isNaN(time) ? undefined : time);
      probe.destroy();
    });
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(undefined));
    probe.on('close', () => resolve(undefined));
    probe.end();
  });
}
