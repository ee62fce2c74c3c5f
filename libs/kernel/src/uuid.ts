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

/** The smallest UUID of version 7 with this time or a later one: a limit for ids that are ordered by time. */
export function firstUuidAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** The time in a UUID of version 7; undefined for another id. */
export function findUuidTime(id: string): Date | undefined {
  if (!isUuid(id) || id[14] !== '7') return undefined;
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
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
