import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Clock } from './clock.js';

/** A UUID of version 7 at the injected time: sorts by creation, which keeps indexes compact. */
export function newUuid(clock: Clock): string {
  return newUuidAt(clock.now());
}

/** As {@link newUuid}, at the time that a row stores beside it, so that both have the same millisecond. */
export function newUuidAt(time: Date): string {
  return v7({ msecs: time.getTime() });
}

/**
 * A UUID of version 7 derived from a time and a text: its random part is a hash of the text, so that two services which know both
 * get the same id. The id is no secret to anyone who knows the text.
 */
export function derivedUuid(at: Date, text: string): string {
  return v7({ msecs: at.getTime(), random: createHash('sha256').update(text).digest().subarray(0, 16) });
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * The form in which ids are compared and looked up: a UUID in lower case, because some platforms write UUIDs in capitals; any other
 * id unchanged, because its case may matter.
 */
export function canonicalId(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id;
}

export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && UUID.test(text);
}
