import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Clock } from './clock.js';

/** A UUID of version 7 with the time of the clock. Such ids sort by creation time, so that indexes stay compact. */
export function newUuid(clock: Clock): string {
  return newUuidAt(clock.now());
}

/**
 * A UUID of version 7 with the given time. Use it for a row that also stores this time, so that the id and the time
 * contain the same millisecond.
 */
export function newUuidAt(time: Date): string {
  return v7({ msecs: time.getTime() });
}

/**
 * The UUID of version 7 for a time and a text. Its random bits are a hash of the text, so that several services derive
 * the same id. The id is not a secret, because it can be computed from the text.
 */
export function derivedUuid(at: Date, text: string): string {
  return v7({ msecs: at.getTime(), random: createHash('sha256').update(text).digest().subarray(0, 16) });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The form in which ids are compared and looked up. A UUID is converted to lower case, because some platforms write
 * UUIDs in capitals. Any other id is unchanged, because its case may matter.
 */
export function canonicalId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && UUID.test(text);
}
