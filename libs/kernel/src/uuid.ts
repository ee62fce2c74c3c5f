import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Clock } from './clock.js';

/** A UUID of version 7 at the injected time: sorts by creation, which keeps indexes compact. */
export function newUuid(clock: Clock): string {
  return newUuidAt(clock.now());
}

/** As {@link newUuid}, at a time that is stored in the same row, so that both contain the same millisecond. */
export function newUuidAt(time: Date): string {
  return v7({ msecs: time.getTime() });
}

/**
 * The UUID of version 7 for a time and a text. Its random part is a hash of the text, so that services derive the same id without
 * communication. The id is no secret: it can be computed from the text.
 */
export function derivedUuid(at: Date, text: string): string {
  return v7({ msecs: at.getTime(), random: createHash('sha256').update(text).digest().subarray(0, 16) });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The form in which ids are compared and looked up: a UUID in lower case, because some platforms write UUIDs in capitals;
 * any other id unchanged, because its case may matter.
 */
export function canonicalId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && UUID.test(text);
}
